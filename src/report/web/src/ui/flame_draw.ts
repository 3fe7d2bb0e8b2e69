// Draws the boxes in sight on a canvas.
import {heat} from '../lib/heat.ts';
import {TONES} from '../lib/flame_frames.ts';
import type {Boxes, Window} from '../lib/flame_layout.ts';
import {Sight} from '../lib/flame_layout.ts';
import type {FlameModel, NodeKind} from './flame_model.ts';

export const ROW = 18;
const GAP = 1;
const PADDING = 5;
const LEAST_LETTERS = 2;
const HEAT_STEPS = 24;
// Most of the heat colour that text can stand on (test/contrast.test.ts).
const HEAT_MIX = 0.45;
const FADED = 0.3;
const ABOVE_ZOOM = 0.6;
const TAG_WIDTH = 3;
// Boxes that have room for neither a tag nor letters are painted as pixels: by time there are ten
// thousand of them in a frame, and each rectangle costs a microsecond.
const NARROW = 3 * TAG_WIDTH;
// Functions of one module differ a little, so that neighbours can be told apart.
const SHADES = [0, 0.16, 0.32];

export interface Look {
  font: string;
  letter: number;
  ink: string;
  panel: string;
  tag: string;
  accent: string;
  // Outline of every box with forced colours, where fills are all the same.
  edge: string;
  thin: string;
  // SHADES of each tone.
  tones: string[];
  heat: string[];
}

// The theme's colours, read once.
export function lookOf(canvas: HTMLCanvasElement): Look {
  const style = getComputedStyle(canvas);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const font = `11.5px ${style.getPropertyValue('--mono')}`;
  const context = canvas.getContext('2d');
  let letter = 7;
  if (context !== null) {
    context.font = font;
    letter = context.measureText('0123456789').width / 10;
  }
  return {
    font, letter, ink: color('ink'), panel: color('panel'), tag: color('flame-tag'), accent: color('accent'),
    edge: color('flame-edge'), thin: color('flame-thin'), 
    tones: TONES.flatMap((name) => SHADES.map((part) => mix(color('panel'), color(name), part))),
    heat: Array.from({length: HEAT_STEPS + 1}, (_, i) =>
      mix(color('heat'), color('flame-cold'), HEAT_MIX * i / HEAT_STEPS)),
  };
}

function mix(over: string, under: string, part: number): string {
  const parse = (text: string) => /^#[0-9a-f]{6}$/i.test(text) ?
    [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)) : null;
  const [top, ground] = [parse(over), parse(under)];
  if (top === null || ground === null) return under;
  return `rgb(${top.map((value, i) => Math.round(value * part + ground[i] * (1 - part))).join(' ')})`;
}

export interface Picture {
  model: FlameModel;
  window: Window;
  // Pixels from the top of the first row to the top of the canvas.
  top: number;
  height: number;
  ratio: number;
  // What boxes are coloured by, of each node of the tree; null: their module.
  heat: Float64Array | null;
  // Boxes; -1: none.
  root: number;
  selected: number;
  hovered: number;
}

// One for each chart: keeps what is costly from one frame to the next.
export class FlamePainter {
  private readonly sight = new Sight();
  private model: FlameModel | null = null;
  private labels: string[] = [];
  private tones = new Int16Array(0);
  private kinds: NodeKind[] = [];
  private heat: Float64Array | null = null;
  private hottest = 0;
  // Pixels of each box in sight.
  private readonly edges: number[] = [];
  private readonly strips = new Strips();
  private narrow = 0;

  draw(context: CanvasRenderingContext2D, look: Look, picture: Picture): void {
    const {model, window: {width}, ratio, height, top} = picture;
    this.remember(model, picture.heat);
    const {boxes} = model;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.globalAlpha = 1;
    context.fillStyle = look.panel;
    context.fillRect(0, 0, width, height);
    this.sight.look(boxes, picture.window);
    // With forced colours each box is told apart by its outline alone.
    this.narrow = look.edge === '' ? NARROW : 0;
    if (this.narrow > 0) this.drawNarrow(context, look, picture);
    else this.drawThin(context, look, picture);
    this.drawBoxes(context, look, picture);
    this.drawLabels(context, look, picture);
    const outline = (box: number, color: string, line: number) => {
      if (box < 0) return;
      const scale = width / (picture.window.to - picture.window.from);
      const left = Math.max(-4, (boxes.left[box] - picture.window.from) * scale);
      const right = Math.min(width + 4, (boxes.right[box] - picture.window.from) * scale);
      if (right < 0 || left > width) return;
      context.strokeStyle = color;
      context.lineWidth = line;
      context.strokeRect(left + line / 2, boxes.row[box] * ROW - top + line / 2 - 0.5,
                         Math.max(2, right - left - GAP - line), ROW - line);
    };
    context.globalAlpha = 1;
    outline(picture.hovered, look.ink, 1.5);
    outline(picture.selected, look.accent, 2.5);
  }

  private remember(model: FlameModel, values: Float64Array | null): void {
    if (this.model !== model) {
      this.model = model;
      this.labels = [];
      this.kinds = [];
      this.tones = new Int16Array(model.tree.count).fill(-1);
    }
    if (this.heat === values) return;
    this.heat = values;
    this.hottest = values === null ? 0 : values.subarray(1).reduce((most, value) => Math.max(most, value), 0);
  }

  private fillOf(node: number, look: Look): string {
    const model = this.model as FlameModel;
    if (this.heat !== null && node > 0 && node < model.tree.count && model.key(node) >= 0) {
      return look.heat[Math.round(HEAT_STEPS * heat(this.heat[node], this.hottest))];
    }
    if (node >= this.tones.length) return look.tones[SHADES.length * model.tone(node)];
    let tone = this.tones[node];
    if (tone < 0) {
      const key = model.key(node);
      this.tones[node] = tone = SHADES.length * model.tone(node) + (key < 0 ? 0 : (key * 7) % SHADES.length);
    }
    return look.tones[tone];
  }

  private alphaOf(box: number, node: number, picture: Picture): number {
    const {model: {found, boxes}, root} = picture;
    if (found !== null) return found(node) ? 1 : FADED;
    return box < root && boxes.end[box] > root && root > 0 ? ABOVE_ZOOM : 1;
  }

  private drawThin(context: CanvasRenderingContext2D, look: Look, {top}: Picture): void {
    const {thin} = this.sight;
    context.fillStyle = look.thin;
    for (let i = 0; i < thin.length; i += 3) {
      const left = thin[i + 1];
      context.fillRect(left, thin[i] * ROW - top, Math.max(0.4, thin[i + 2] - left), ROW - GAP);
    }
  }

  private drawNarrow(context: CanvasRenderingContext2D, look: Look, picture: Picture): void {
    const {model: {boxes}, window: {width, firstRow, lastRow}, ratio, top} = picture;
    const {sight, strips} = this;
    const columns = Math.round(width * ratio);
    strips.clear(columns, lastRow - firstRow + 1);
    const {thin} = sight;
    for (let i = 0; i < thin.length; i += 3) {
      const left = Math.max(0, thin[i + 1] * ratio);
      const right = Math.min(columns, thin[i + 2] * ratio);
      const cover = Math.min(1, Math.max(0.4, right - left));
      strips.fill(thin[i] - firstRow, Math.floor(left), Math.max(Math.floor(left) + 1, Math.round(right)), look.thin, cover);
    }
    const gap = Math.round(GAP * ratio);
    for (let i = 0; i < sight.count; i++) {
      const left = Math.round(Math.max(-2, sight.left[i]) * ratio);
      const right = Math.round(Math.min(width + 2, sight.right[i]) * ratio);
      if (right - left > NARROW * ratio) continue;
      const box = sight.box[i];
      const node = boxes.node[box];
      strips.fill(boxes.row[box] - firstRow, Math.max(0, left), right - left > 3 * ratio ? right - gap : Math.max(right, left + 1),
                  this.fillOf(node, look), this.alphaOf(box, node, picture));
    }
    strips.draw(context, firstRow * ROW - top, ratio);
  }

  private drawBoxes(context: CanvasRenderingContext2D, look: Look, picture: Picture): void {
    const {model, window: {width}, ratio, top} = picture;
    const {boxes} = model;
    const {sight, edges} = this;
    edges.length = 2 * sight.count;
    let alpha = 1;
    for (let i = 0; i < sight.count; i++) {
      const box = sight.box[i];
      const node = boxes.node[box];
      // On whole pixels of the device, or neighbours would blur into each other.
      const left = Math.round(Math.max(-2, sight.left[i]) * ratio) / ratio;
      const right = Math.round(Math.min(width + 2, sight.right[i]) * ratio) / ratio;
      const wide = right - left > 3 ? right - left - GAP : Math.max(right - left - 0.25, 0.5);
      edges[2 * i] = left;
      edges[2 * i + 1] = left + wide;
      if (right - left <= this.narrow) continue;
      const wanted = this.alphaOf(box, node, picture);
      if (wanted !== alpha) context.globalAlpha = alpha = wanted;
      context.fillStyle = this.fillOf(node, look);
      const y = boxes.row[box] * ROW - top;
      context.fillRect(left, y, wide, ROW - GAP);
      if (wide > 3 * TAG_WIDTH) {
        this.drawTag(context, look, this.kinds[node] ??= model.kind(node), left, y, wide);
      }
      if (look.edge !== '') {
        context.strokeStyle = look.edge;
        context.lineWidth = 1;
        context.strokeRect(left + 0.5, y + 0.5, wide - 1, ROW - GAP - 1);
      }
    }
  }

  // Told apart without colours: native code has a bar at its left, a task a bar above, a fold one below.
  private drawTag(context: CanvasRenderingContext2D, look: Look, kind: NodeKind, left: number, y: number,
                  wide: number): void {
    if (kind === 'project' || kind === 'library' || kind === 'all' || kind === 'group') return;
    context.fillStyle = look.tag;
    if (kind === 'native') context.fillRect(left, y, TAG_WIDTH, ROW - GAP);
    else if (kind === 'task') context.fillRect(left, y, wide, 2);
    else context.fillRect(left, y + ROW - GAP - 2, wide, 2);
  }

  private drawLabels(context: CanvasRenderingContext2D, look: Look, picture: Picture): void {
    const {model: {boxes}, window: {width}, top} = picture;
    const {sight, edges} = this;
    context.font = look.font;
    context.textBaseline = 'middle';
    context.textAlign = 'left';
    context.direction = 'ltr';
    context.fillStyle = look.ink;
    let alpha = -1;
    for (let i = 0; i < sight.count; i++) {
      const left = Math.max(0, edges[2 * i]);
      const room = Math.min(width, edges[2 * i + 1]) - left - 2 * PADDING;
      if (room < LEAST_LETTERS * look.letter) continue;
      const box = sight.box[i];
      const node = boxes.node[box];
      const text = this.clip(context, node, room, look.letter);
      if (text === '') continue;
      const wanted = Math.max(0.6, this.alphaOf(box, node, picture));
      if (wanted !== alpha) context.globalAlpha = alpha = wanted;
      context.fillText(text, left + PADDING, boxes.row[box] * ROW - top + ROW / 2);
    }
  }

  // As much of the label as fits: all of it, the function's own name, or its beginning.
  private clip(context: CanvasRenderingContext2D, node: number, room: number, letter: number): string {
    const label = this.labels[node] ??= (this.model as FlameModel).label(node);
    const fits = Math.floor(room / letter);
    if (/^[\x20-\x7e]*$/.test(label)) {
      if (label.length <= fits) return label;
      const own = ownName(label);
      if (own.length <= fits) return own;
      return fits < LEAST_LETTERS ? '' : `${own.slice(0, fits - 1)}…`;
    }
    const letters = [...label];
    if (context.measureText(label).width <= room) return label;
    let count = Math.min(letters.length, fits);
    while (count > 0 && context.measureText(`${letters.slice(0, count).join('')}…`).width > room) count--;
    return count < LEAST_LETTERS ? '' : `${letters.slice(0, count).join('')}…`;
  }
}

// A picture with one line of pixels for each row, which is drawn as high as rows are.
class Strips {
  private readonly canvas = document.createElement('canvas');
  private image: ImageData | null = null;
  private pixels = new Uint32Array(0);
  private used = new Uint8Array(0);
  private readonly known = new Map<string, number>();

  clear(columns: number, rows: number): void {
    const {canvas} = this;
    if (this.image === null || canvas.width !== columns || canvas.height !== rows) {
      canvas.width = columns;
      canvas.height = rows;
      this.image = columns > 0 && rows > 0 ? new ImageData(columns, rows) : null;
      this.pixels = this.image === null ? new Uint32Array(0) : new Uint32Array(this.image.data.buffer);
      this.used = new Uint8Array(rows);
    }
    this.pixels.fill(0);
    this.used.fill(0);
  }

  fill(row: number, from: number, to: number, color: string, alpha: number): void {
    const {width} = this.canvas;
    if (from >= width || to <= from) return;
    let pixel = this.known.get(color);
    if (pixel === undefined) this.known.set(color, pixel = pixelOf(color));
    this.used[row] = 1;
    const line = row * width;
    // The highest byte is the opacity: memory has red, green, blue, alpha.
    this.pixels.fill(pixel + Math.round(255 * alpha) * 2 ** 24, line + from, line + Math.min(to, width));
  }

  draw(context: CanvasRenderingContext2D, top: number, ratio: number): void {
    const {canvas, image, used} = this;
    const own = canvas.getContext('2d');
    if (image === null || own === null) return;
    own.putImageData(image, 0, 0);
    context.globalAlpha = 1;
    context.imageSmoothingEnabled = false;
    used.forEach((any, row) => {
      if (any) context.drawImage(canvas, 0, row, canvas.width, 1, 0, top + row * ROW, canvas.width / ratio, ROW - GAP);
    });
  }
}

// "#rrggbb" or "rgb(r g b)", without opacity.
function pixelOf(color: string): number {
  const parts = color.startsWith('#') ? [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)) :
    (color.match(/\d+/g) ?? []).map(Number);
  const [red = 0, green = 0, blue = 0] = parts;
  return red + green * 2 ** 8 + blue * 2 ** 16;
}

// "Reader.read" and "outer.<locals>.inner" without what they are nested in.
export function ownName(label: string): string {
  const cut = label.lastIndexOf('.') + 1;
  return cut > 0 && cut < label.length && !label.includes(' ') ? label.slice(cut) : label;
}

export function rowsIn(boxes: Boxes, top: number, height: number): {firstRow: number; lastRow: number} {
  return {
    firstRow: Math.max(0, Math.floor(top / ROW)),
    lastRow: Math.min(boxes.rows - 1, Math.ceil((top + height) / ROW)),
  };
}
