// The run over time: threads by what they did, stacked, on a canvas. A slider for the keyboard and
// for screen readers; the reading stands above the chart, so that nothing hides the line.
import {useEffect, useRef, useState} from 'preact/hooks';

import type {ReportIndex, TimelineData} from '../data/index_types.ts';
import {formatCount, formatMoment} from '../lib/format.ts';
import {
  bucketAt, busiestBucket, joinBuckets, niceStep, stackHeight, STATES, statesPresent, threadsIn,
} from '../lib/timeline.ts';
import {visible} from '../lib/visible.ts';
import {navigate} from '../state/navigation.ts';
import {sourceHref} from '../state/route.ts';
import {shownTheme} from '../state/theme.ts';

const HEIGHT = 136;
const LEFT = 40;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 24;
// Narrowest bar, in pixels.
const MIN_BAR = 1;

interface Scale {
  x: (time: number) => number;
  y: (threads: number) => number;
  width: number;
  begin: number;
  end: number;
  top: number;
}

export function Timeline({index, data}: {index: ReportIndex; data: TimelineData}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [at, setAt] = useState<number | null>(null);
  const count = data.start.length;
  const scale = scaleFor(data, width);
  const states = statesPresent(data);
  const themeNow = shownTheme.value;

  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    if (canvas.current !== null && width > 0) draw(canvas.current, data, scale, at);
  }, [data, width, at, themeNow]);

  const open = () => {
    const file = at === null ? null : data.file[at];
    const line = at === null ? null : data.line[at];
    if (file !== null) navigate({view: 'source', file, line});
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const by = event.shiftKey ? 10 : 1;
    const tenth = Math.max(1, Math.round(count / 10));
    const now = at ?? -1;
    const targets: Record<string, number> = {
      ArrowRight: now + by, ArrowUp: now + by, ArrowLeft: now - by, ArrowDown: now - by,
      PageUp: now + tenth, PageDown: now - tenth, Home: 0, End: count - 1,
      p: busiestBucket(data), P: busiestBucket(data),
    };
    const target = targets[event.key];
    if (target !== undefined) setAt(Math.min(count - 1, Math.max(0, target)));
    else if (event.key === 'Enter') open();
    else if (event.key === 'Escape') setAt(null);
    else return;
    event.preventDefault();
  };

  const onPointer = (event: PointerEvent) => {
    const box = frame.current?.getBoundingClientRect();
    if (box === undefined) return;
    const part = (event.clientX - box.left - LEFT) / Math.max(1, scale.width);
    const time = scale.begin + Math.min(1, Math.max(0, part)) * (scale.end - scale.begin);
    setAt(bucketAt(data, time));
  };

  return (
    <div class="timeline">
      <div class="timeline-head">
        <ul class="keys-of-chart" aria-label="Colours of the timeline">
          {STATES.filter(({id}) => states.includes(id)).map(({id, name}) => (
            <li key={id}><span class={`swatch state-${id}`} />{name}</li>
          ))}
        </ul>
        <Reading index={index} data={data} at={at} />
      </div>
      <div class="chart" ref={frame} role="slider" tabIndex={0}
           aria-label="Timeline of the run" aria-valuemin={0} aria-valuemax={count - 1}
           aria-valuenow={at ?? 0} aria-valuetext={readingText(index, data, at)}
           onKeyDown={onKeyDown} onPointerMove={onPointer} onPointerDown={onPointer} onDblClick={open}>
        <canvas ref={canvas} aria-hidden="true" style={{height: `${HEIGHT}px`}} />
      </div>
    </div>
  );
}

function Reading({index, data, at}: {index: ReportIndex; data: TimelineData; at: number | null}) {
  if (at === null) {
    return (
      <p class="reading hint">
        <span class="pointer-hint">
          Point at the chart, or focus it and use <kbd>←</kbd> <kbd>→</kbd> · <kbd>P</kbd> busiest ·{' '}
          <kbd>Enter</kbd> open line
        </span>
      </p>
    );
  }
  const file = data.file[at];
  const line = data.line[at];
  return (
    <p class="reading">
      <strong>{momentOf(data, at)}</strong>
      {STATES.filter(({id}) => (data[id][at] ?? 0) > 0).map(({id, name}) => (
        <span key={id} class="part"><span class={`swatch state-${id}`} />
          {formatThreads(threadsIn(data, id, at))} {name}</span>
      ))}
      {file !== null && line !== null &&
        <a href={sourceHref(file, line)}>{visible(lineLabel(index, file, line))}</a>}
    </p>
  );
}

function readingText(index: ReportIndex, data: TimelineData, at: number | null): string {
  if (at === null) return 'No moment selected';
  const states = STATES.filter(({id}) => (data[id][at] ?? 0) > 0)
                     .map(({id, name}) => `${formatThreads(threadsIn(data, id, at))} ${name}`);
  const file = data.file[at];
  const line = data.line[at];
  const most = file !== null && line !== null ? [`most time in ${lineLabel(index, file, line)}`] : [];
  return [momentOf(data, at), ...states, `${formatCount(data.samples[at])} samples`, ...most].join(', ');
}

function momentOf(data: TimelineData, at: number): string {
  return formatMoment(data.start[at], data.end[at] - data.start[at]);
}

function formatThreads(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(2);
}

function lineLabel(index: ReportIndex, file: number, line: number): string {
  return `${index.files.label[file]}:${line}`;
}

function scaleFor(data: TimelineData, outer: number): Scale {
  const width = Math.max(1, outer - LEFT - RIGHT);
  const begin = 0;
  const end = data.end[data.end.length - 1];
  let highest = 0;
  for (let i = 0; i < data.start.length; i++) highest = Math.max(highest, stackHeight(data, i));
  const top = Math.max(highest * 1.02, 1e-9);
  const space = HEIGHT - TOP - BOTTOM;
  return {
    width, begin, end, top,
    x: (time) => LEFT + width * (time - begin) / Math.max(1, end - begin),
    y: (threads) => TOP + space * (1 - threads / top),
  };
}

function draw(canvas: HTMLCanvasElement, data: TimelineData, scale: Scale, at: number | null): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const ratio = window.devicePixelRatio || 1;
  const outer = scale.width + LEFT + RIGHT;
  canvas.width = Math.round(outer * ratio);
  canvas.height = Math.round(HEIGHT * ratio);
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const color = (name: string) => style.getPropertyValue(name).trim();
  context.font = `11px ${style.fontFamily}`;

  drawAxes(context, scale, color('--line'), color('--muted'));
  // Edges on whole device pixels, or neighbouring bars would leave seams.
  const snap = (x: number) => Math.round(x * ratio) / ratio;
  const shown = joinBuckets(data, Math.ceil(data.start.length * MIN_BAR / scale.width));
  const below = new Float64Array(shown.start.length);
  for (const {id} of STATES) {
    context.fillStyle = color(`--state-${id}`);
    for (let i = 0; i < shown.start.length; i++) {
      const value = threadsIn(shown, id, i);
      if (!(value > 0)) continue;
      const left = snap(scale.x(shown.start[i]));
      const right = Math.max(snap(scale.x(shown.end[i])), left + 1 / ratio);
      const top = scale.y(below[i] + value);
      context.fillRect(left, top, right - left, scale.y(below[i]) - top);
      below[i] += value;
    }
  }
  if (at !== null) drawGuide(context, data, scale, at, color('--ink'), color('--panel'));
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
  const span = scale.end - scale.begin;
  const timeStep = niceStep(span, Math.max(2, scale.width / 110));
  for (let time = scale.begin; time <= scale.end * 1.0001; time += timeStep) {
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
