// The flame graph: a canvas that stays in sight while rows scroll below it, with pointer and keyboard.
// What is drawn has a twin for screen readers, the tree table; here the box that the keyboard is on is
// spoken through the live region.
import {useLayoutEffect, useRef} from 'preact/hooks';

import type {Window} from '../lib/flame_layout.ts';
import {boxAt, neighbour, widestChild, widestPath} from '../lib/flame_layout.ts';
import {shownTheme} from '../state/theme.ts';
import {announce} from './announce.tsx';
import type {Look} from './flame_draw.ts';
import {FlamePainter, lookOf, ROW, rowsIn} from './flame_draw.ts';
import type {FlameModel} from './flame_model.ts';

interface FlameChartProps {
  model: FlameModel;
  // Boxes.
  root: number;
  selected: number;
  heat: Float64Array | null;
  label: string;
  describe: (box: number) => string;
  onHover: (box: number) => void;
  onSelect: (box: number) => void;
  onZoom: (box: number) => void;
  onOpen: (box: number) => void;
}

// What the window can be narrowed to, of what fills it.
const CLOSEST = 1e-4;
const WHEEL_STEP = 0.0025;
const GLIDE_MS = 160;
// Pixels that a pressed pointer may move and still be a click.
const STILL = 4;
const CONTEXT_ROWS = 2;

export function FlameChart(props: FlameChartProps) {
  const {model, root, selected} = props;
  const {boxes} = model;
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const state = useRef(new ChartState());
  const chart = state.current;
  chart.props = props;
  const theme = shownTheme.value;

  useLayoutEffect(() => {
    if (scroller.current === null || canvas.current === null) return;
    return chart.attach(scroller.current, canvas.current);
  }, []);
  useLayoutEffect(() => chart.restyle(), [theme]);
  const shown = useRef<FlameModel | null>(null);
  useLayoutEffect(() => {
    // What has just been laid out afresh does not glide from where it was.
    chart.show(boxes.left[root], boxes.right[root], shown.current === model);
    shown.current = model;
    chart.bringIntoView(root, CONTEXT_ROWS);
  }, [model, root]);
  useLayoutEffect(() => chart.schedule());

  const move = (box: number) => {
    if (box <= 0) return;
    chart.hover(-1);
    props.onSelect(box);
    chart.bringIntoView(box, CONTEXT_ROWS);
    announce(props.describe(box));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const at = selected > 0 ? selected : root;
    const zoom = (box: number) => {
      chart.hover(-1);
      props.onZoom(box);
      announce(`Zoomed to ${props.describe(box)}`);
    };
    const actions: Record<string, () => void> = {
      ArrowDown: () => move(selected > 0 ? widestChild(boxes, at) : widestChild(boxes, root)),
      ArrowUp: () => move(boxes.parent[at]),
      ArrowRight: () => move(neighbour(boxes, at, 1)),
      ArrowLeft: () => move(neighbour(boxes, at, -1)),
      Home: () => move(widestChild(boxes, 0)),
      End: () => move(widestPath(boxes, at)),
      Enter: () => zoom(at),
      // At the outermost it is the page's: it shows the whole run again.
      ...(root > 0 ? {Escape: () => zoom(boxes.parent[root])} : {}),
      o: () => props.onOpen(at),
      '+': () => chart.scale(0.5),
      '=': () => chart.scale(0.5),
      '-': () => chart.scale(2),
      0: () => zoom(0),
    };
    const run = actions[event.key];
    if (run === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  };

  return (
    <div class="flame-chart" ref={scroller} tabIndex={0} role="application" aria-roledescription="flame graph"
         aria-label={props.label} onKeyDown={onKeyDown} onScroll={() => chart.schedule()}>
      <div class="flame-space" style={{height: `${boxes.rows * ROW}px`}}>
        <canvas ref={canvas} aria-hidden="true" />
      </div>
    </div>
  );
}

// What changes with every frame and draws nothing but the canvas.
class ChartState {
  props!: FlameChartProps;
  private scroller: HTMLDivElement | null = null;
  private canvas: HTMLCanvasElement | null = null;
  private look: Look | null = null;
  private readonly painter = new FlamePainter();
  private from = 0;
  private to = 1;
  private hovered = -1;
  private frame = 0;
  private glide: {from: number; to: number; begin: number} | null = null;
  private goal = {from: 0, to: 1};

  attach(scroller: HTMLDivElement, canvas: HTMLCanvasElement): () => void {
    this.scroller = scroller;
    this.canvas = canvas;
    const resize = () => this.schedule();
    const observer = new ResizeObserver(() => this.draw());
    observer.observe(scroller);
    const restyle = () => this.restyle();
    const forced = window.matchMedia('(forced-colors: active)');
    forced.addEventListener('change', restyle);
    // The device's pixels change with the browser's zoom and the screen.
    window.addEventListener('resize', resize);
    // The theme has turned light for paper by then; a frame would come too late.
    const print = () => { this.look = null; this.draw(); };
    window.addEventListener('beforeprint', print);
    window.addEventListener('afterprint', restyle);
    const detachPointer = this.attachPointer(scroller);
    return () => {
      observer.disconnect();
      forced.removeEventListener('change', restyle);
      window.removeEventListener('resize', resize);
      window.removeEventListener('beforeprint', print);
      window.removeEventListener('afterprint', restyle);
      detachPointer();
      cancelAnimationFrame(this.frame);
      this.scroller = this.canvas = null;
    };
  }

  restyle(): void {
    this.look = null;
    this.schedule();
  }

  schedule(): void {
    if (this.frame !== 0 || this.canvas === null) return;
    this.frame = requestAnimationFrame((now) => {
      this.frame = 0;
      if (this.glide !== null) this.glideOn(now);
      this.draw();
    });
  }

  show(from: number, to: number, gliding: boolean): void {
    this.goal = {from, to};
    const calm = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.glide = gliding && !calm && (this.from !== from || this.to !== to) ?
      {from: this.from, to: this.to, begin: performance.now()} : null;
    if (this.glide === null) [this.from, this.to] = [from, to];
    this.schedule();
  }

  private glideOn(now: number): void {
    const {from, to, begin} = this.glide as {from: number; to: number; begin: number};
    const part = Math.min(1, Math.max(0, (now - begin) / GLIDE_MS));
    const eased = 1 - (1 - part) ** 3;
    this.from = from + (this.goal.from - from) * eased;
    this.to = to + (this.goal.to - to) * eased;
    if (part < 1) this.schedule();
    else this.glide = null;
  }

  // By `factor`, around a place or the middle.
  scale(factor: number, around = (this.from + this.to) / 2): void {
    const {boxes, root} = {boxes: this.props.model.boxes, root: this.props.root};
    const [least, most] = [boxes.left[root], boxes.right[root]];
    const width = Math.min(most - least, Math.max((most - least) * CLOSEST, (this.to - this.from) * factor));
    const part = (around - this.from) / (this.to - this.from);
    this.place(around - part * width, width);
  }

  private place(from: number, width: number): void {
    const {model: {boxes}, root} = this.props;
    this.glide = null;
    this.from = Math.min(Math.max(from, boxes.left[root]), boxes.right[root] - width);
    this.to = this.from + width;
    this.schedule();
  }

  bringIntoView(box: number, context: number): void {
    const scroller = this.scroller;
    if (scroller === null) return;
    const {boxes} = this.props.model;
    const y = boxes.row[box] * ROW;
    const above = Math.max(0, y - context * ROW);
    if (above < scroller.scrollTop) scroller.scrollTop = above;
    else if (y + ROW > scroller.scrollTop + scroller.clientHeight) {
      scroller.scrollTop = y + (1 + context) * ROW - scroller.clientHeight;
    }
    const [left, right] = [boxes.left[box], boxes.right[box]];
    if (this.glide === null && (right <= this.from || left >= this.to)) {
      this.place((left + right - this.to + this.from) / 2, this.to - this.from);
    }
  }

  draw(): void {
    const {canvas, scroller} = this;
    const context = canvas?.getContext('2d', {alpha: false});
    if (canvas === null || scroller === null || context === null || context === undefined) return;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [scroller.clientWidth, scroller.clientHeight];
    const [columns, lines] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== columns || canvas.height !== lines) {
      canvas.width = columns;
      canvas.height = lines;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    this.look ??= lookOf(canvas);
    const {model, root, selected, heat} = this.props;
    const window_: Window = {
      from: this.from, to: this.to, width, ...rowsIn(model.boxes, scroller.scrollTop, height),
    };
    this.painter.draw(context, this.look, {
      model, window: window_, top: scroller.scrollTop, height, ratio, heat, root, selected,
      hovered: this.hovered < model.boxes.count ? this.hovered : -1,
    });
  }

  private boxUnder(event: MouseEvent): number {
    const scroller = this.scroller as HTMLDivElement;
    const area = scroller.getBoundingClientRect();
    const x = event.clientX - area.left - scroller.clientLeft;
    const y = event.clientY - area.top - scroller.clientTop + scroller.scrollTop;
    if (x < 0 || x >= scroller.clientWidth) return -1;
    return boxAt(this.props.model.boxes, this.from + (this.to - this.from) * x / scroller.clientWidth, Math.floor(y / ROW));
  }

  hover(box: number): void {
    if (box === this.hovered) return;
    this.hovered = box;
    if (this.scroller !== null) this.scroller.style.cursor = box > 0 ? 'pointer' : '';
    this.props.onHover(box);
    this.schedule();
  }

  private attachPointer(scroller: HTMLDivElement): () => void {
    let pressed: {x: number; y: number; from: number; box: number; dragged: boolean} | null = null;
    let clicked = -1;
    let steps = 0;
    const listeners: Array<[string, (event: never) => void]> = [
      ['pointerdown', (event: PointerEvent) => {
        if (event.button !== 0 || event.offsetX > scroller.clientWidth) return;
        pressed = {x: event.clientX, y: event.clientY, from: this.from, box: this.boxUnder(event), dragged: false};
      }],
      ['pointermove', (event: PointerEvent) => {
        if (pressed !== null && event.pointerType === 'mouse' && event.buttons === 1) {
          const by = event.clientX - pressed.x;
          if (Math.abs(by) > STILL && !pressed.dragged) {
            pressed.dragged = true;
            scroller.setPointerCapture(event.pointerId);
          }
          if (pressed.dragged) {
            const width = this.to - this.from;
            this.place(pressed.from - by / scroller.clientWidth * width, width);
          }
          return;
        }
        if (event.pointerType === 'mouse') this.hover(this.boxUnder(event));
      }],
      ['pointerleave', () => this.hover(-1)],
      ['click', (event: MouseEvent) => {
        const press = pressed;
        pressed = null;
        if (press === null || press.dragged || press.box < 0) return;
        // The second click of two is one on what the first was on, wherever it is by now.
        if (event.detail > 1) return;
        clicked = press.box;
        steps = boxDepth(this.props.model, clicked);
        // What the pointer is on moves away below it.
        this.hover(-1);
        this.props.onSelect(press.box);
        this.props.onZoom(press.box);
      }],
      ['dblclick', () => {
        const {root} = this.props;
        // By time zooming lays out afresh: then what was clicked is the root.
        if (clicked >= 0) this.props.onOpen(boxDepth(this.props.model, root) === steps ? root : clicked);
      }],
      ['wheel', (event: WheelEvent) => {
        if (event.ctrlKey || event.metaKey) {
          event.preventDefault();
          const area = scroller.getBoundingClientRect();
          const part = (event.clientX - area.left) / scroller.clientWidth;
          this.scale(Math.exp(event.deltaY * WHEEL_STEP), this.from + part * (this.to - this.from));
        } else {
          const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
          if (sideways === 0) return;
          event.preventDefault();
          const width = this.to - this.from;
          this.place(this.from + sideways / scroller.clientWidth * width, width);
        }
      }],
    ];
    for (const [name, listener] of listeners) {
      scroller.addEventListener(name, listener as EventListener, {passive: false});
    }
    return () => {
      for (const [name, listener] of listeners) scroller.removeEventListener(name, listener as EventListener);
    };
  }
}

function boxDepth({boxes}: FlameModel, box: number): number {
  let depth = 0;
  for (let each = box; each > 0; each = boxes.parent[each]) depth++;
  return depth;
}
