// The timeline and its lanes as pictures.
import type {TimelineData} from '../data/index_types.ts';
import type {StackData} from '../data/stacks.ts';
import {formatMoment} from '../lib/format.ts';
import type {Lane} from '../lib/lanes.ts';
import {bucketEnd, LANE_STATES} from '../lib/lanes.ts';
import type {Span} from '../lib/span.ts';
import {joinBuckets, niceStep, stackHeight, STATES, threadsIn} from '../lib/timeline.ts';

export const HEIGHT = 136;
export const LANE_HEIGHT = 14;
export const LEFT = 40;
export const RIGHT = 12;
const TOP = 12;
const BOTTOM = 24;
// Narrowest bar, in pixels.
const MIN_BAR = 1;
// What is not selected steps back.
const DIMMED = 0.28;

export interface Scale {
  x: (time: number) => number;
  y: (threads: number) => number;
  width: number;
  span: Span;
  top: number;
}

export function scaleFor(data: TimelineData, outer: number, span: Span): Scale {
  const width = Math.max(1, outer - LEFT - RIGHT);
  let highest = 0;
  for (let i = 0; i < data.start.length; i++) highest = Math.max(highest, stackHeight(data, i));
  const top = Math.max(highest * 1.02, 1e-9);
  const space = HEIGHT - TOP - BOTTOM;
  return {
    width, top, span,
    x: (time) => LEFT + width * (time - span.begin) / Math.max(1, span.end - span.begin),
    y: (threads) => TOP + space * (1 - threads / top),
  };
}

interface Pen {
  context: CanvasRenderingContext2D;
  color: (name: string) => string;
  // Edges on whole device pixels, or neighbouring bars would leave seams.
  snap: (x: number) => number;
  pixel: number;
}

function penFor(canvas: HTMLCanvasElement, width: number, height: number): Pen | null {
  const context = canvas.getContext('2d');
  if (context === null) return null;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  context.font = `11px ${style.fontFamily}`;
  return {
    context, pixel: 1 / ratio,
    color: (name) => style.getPropertyValue(name).trim(),
    snap: (x) => Math.round(x * ratio) / ratio,
  };
}

export function drawTimeline(canvas: HTMLCanvasElement, data: TimelineData, scale: Scale, at: number | null,
                             selected: readonly [number, number] | null): void {
  const pen = penFor(canvas, scale.width + LEFT + RIGHT, HEIGHT);
  if (pen === null) return;
  const {context, color} = pen;
  drawAxes(context, scale, color('--line'), color('--muted'));
  context.save();
  context.beginPath();
  context.rect(LEFT, 0, scale.width, HEIGHT);
  context.clip();
  if (selected !== null) drawBand(pen, scale, selected);
  drawBars(pen, data, scale, selected);
  if (at !== null) drawGuide(context, data, scale, at, color('--ink'), color('--panel'));
  context.restore();
}

function drawBars(pen: Pen, data: TimelineData, scale: Scale,
                  selected: readonly [number, number] | null): void {
  const {context, color, snap, pixel} = pen;
  const inSight = data.start.filter((start, i) => data.end[i] > scale.span.begin && start < scale.span.end).length;
  const shown = joinBuckets(data, Math.ceil(inSight * MIN_BAR / scale.width));
  const below = new Float64Array(shown.start.length);
  for (const {id} of STATES) {
    context.fillStyle = color(`--state-${id}`);
    for (let i = 0; i < shown.start.length; i++) {
      const value = threadsIn(shown, id, i);
      if (!(value > 0)) continue;
      const left = snap(scale.x(shown.start[i]));
      const right = Math.max(snap(scale.x(shown.end[i])), left + pixel);
      const top = scale.y(below[i] + value);
      context.globalAlpha = isSelected(shown.start[i], shown.end[i], selected) ? 1 : DIMMED;
      context.fillRect(left, top, right - left, scale.y(below[i]) - top);
      below[i] += value;
    }
  }
  context.globalAlpha = 1;
}

function isSelected(start: number, end: number, selected: readonly [number, number] | null): boolean {
  return selected === null || (end > selected[0] && start < selected[1]);
}

function drawBand({context, color, snap}: Pen, scale: Scale, [from, to]: readonly [number, number]): void {
  const [left, right] = [snap(scale.x(from)), snap(scale.x(to))];
  context.fillStyle = color('--soft');
  context.fillRect(left, TOP - 6, right - left, HEIGHT - BOTTOM - TOP + 6);
  context.fillStyle = color('--accent');
  context.fillRect(left - 1, TOP - 6, 2, HEIGHT - BOTTOM - TOP + 6);
  context.fillRect(right - 1, TOP - 6, 2, HEIGHT - BOTTOM - TOP + 6);
}

export interface LanePicture {
  data: StackData;
  lane: Lane;
  // Threads that it stands for.
  threads: number;
  // When they were there.
  life: readonly [number, number];
  elapsed: number;
  span: Span;
  // Pixels of the whole picture, and those kept free at its sides.
  width: number;
  left: number;
  right: number;
  at: number | null;
  selected: readonly [number, number] | null;
}

export function drawLane(canvas: HTMLCanvasElement, picture: LanePicture): void {
  const {data, lane, life, elapsed, span, left: free, selected} = picture;
  const pen = penFor(canvas, picture.width, LANE_HEIGHT);
  if (pen === null) return;
  const {context, color, snap, pixel} = pen;
  const {buckets} = data;
  const inner = Math.max(1, picture.width - free - picture.right);
  const x = (time: number) => free + inner * (time - span.begin) / Math.max(1, span.end - span.begin);
  context.beginPath();
  context.rect(free, 0, inner, LANE_HEIGHT);
  context.clip();
  context.fillStyle = color('--line');
  context.fillRect(free, LANE_HEIGHT - 1, inner, 1);
  context.fillStyle = color('--state-idle');
  context.fillRect(x(life[0]), 0, Math.max(x(life[1]) - x(life[0]), 1), LANE_HEIGHT);
  const size = LANE_STATES.length;
  const colors = LANE_STATES.map((state) => color(`--state-${state}`));
  const most = mostThreads(picture);
  // Buckets of less than a pixel are added up until they fill one.
  const sums = new Float64Array(size);
  for (let bucket = 0; bucket < buckets.count;) {
    const begin = buckets.begin[bucket];
    const first = snap(x(begin));
    let end = begin;
    let watched = 0;
    sums.fill(0);
    for (; bucket < buckets.count && (watched === 0 || snap(x(bucketEnd(data, bucket, elapsed))) <= first + pixel);
         bucket++) {
      end = bucketEnd(data, bucket, elapsed);
      const width = end - buckets.begin[bucket];
      for (let state = 0; state < size; state++) sums[state] += lane[bucket * size + state] * width;
      watched += width;
    }
    if (end < span.begin || begin > span.end) continue;
    const last = Math.max(snap(x(end)), first + pixel);
    context.globalAlpha = isSelected(begin, end, selected) ? 1 : DIMMED;
    const full = Math.max(sums.reduce((sum, each) => sum + each, 0), Math.max(1, end - begin) * most);
    let below = LANE_HEIGHT;
    for (let state = 0; state < size; state++) {
      const height = LANE_HEIGHT * sums[state] / full;
      if (height <= 0) continue;
      context.fillStyle = colors[state];
      context.fillRect(first, below - height, last - first, height);
      below -= height;
    }
  }
  context.globalAlpha = 1;
  if (picture.at !== null) {
    context.fillStyle = color('--ink');
    context.fillRect(snap(x(picture.at)), 0, 1, LANE_HEIGHT);
  }
}

// Threads side by side share the height of the lane. A sample counts whole in the bucket that it ends in,
// so that one can hold a little more than its width.
function mostThreads({data, lane, threads}: LanePicture): number {
  const size = LANE_STATES.length;
  let most = 1;
  for (let bucket = 0; bucket < data.buckets.count; bucket++) {
    let sum = 0;
    for (let state = 0; state < size; state++) sum += lane[bucket * size + state];
    most = Math.max(most, sum);
  }
  return Math.min(most, Math.max(1, threads));
}

function drawAxes(context: CanvasRenderingContext2D, scale: Scale, line: string, text: string): void {
  const right = LEFT + scale.width;
  context.strokeStyle = line;
  context.fillStyle = text;
  context.lineWidth = 1;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  const threadStep = niceStep(scale.top, 3);
  for (let value = 0; value <= scale.top * 1.0001; value += threadStep) {
    const y = Math.round(scale.y(value)) + 0.5;
    context.beginPath();
    context.moveTo(LEFT, y);
    context.lineTo(right, y);
    context.stroke();
    context.fillText(String(Number(value.toPrecision(3))), LEFT - 8, y);
  }
  context.textBaseline = 'alphabetic';
  const {begin, end} = scale.span;
  const timeStep = niceStep(end - begin, Math.max(2, scale.width / 110));
  for (let time = Math.ceil(begin / timeStep) * timeStep; time <= end + timeStep * 1e-4; time += timeStep) {
    const x = scale.x(time);
    context.textAlign = x - LEFT < 20 ? 'left' : right - x < 20 ? 'right' : 'center';
    context.fillText(formatMoment(time, timeStep), x, HEIGHT - 7);
  }
}

function drawGuide(context: CanvasRenderingContext2D, data: TimelineData, scale: Scale, at: number,
                   ink: string, panel: string): void {
  const x = Math.round(scale.x((data.start[at] + data.end[at]) / 2)) + 0.5;
  const y = scale.y(stackHeight(data, at));
  context.strokeStyle = ink;
  context.globalAlpha = 0.6;
  context.beginPath();
  context.moveTo(x, TOP - 4);
  context.lineTo(x, HEIGHT - BOTTOM);
  context.stroke();
  context.globalAlpha = 1;
  context.beginPath();
  context.arc(x, y, 3.5, 0, 2 * Math.PI);
  context.fillStyle = ink;
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = panel;
  context.stroke();
}
