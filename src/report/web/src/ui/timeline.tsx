// The run over time: threads by what they did, stacked, on a canvas. A slider for the keyboard and
// for screen readers; the reading stands above the chart, so that nothing hides the line. A range
// that is dragged, or stepped with Shift, becomes what the whole report shows.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';

import type {ReportIndex, StateGroup, TimelineData} from '../data/index_types.ts';
import {snapRange} from '../data/stacks.ts';
import {formatCount, formatMoment} from '../lib/format.ts';
import {timelineOf} from '../lib/lanes.ts';
import type {Span} from '../lib/span.ts';
import {isWhole, withInSight, zoomed} from '../lib/span.ts';
import {bucketAt, busiestBucket, STATES, statesPresent, threadsIn} from '../lib/timeline.ts';
import {visible} from '../lib/visible.ts';
import {filter} from '../state/filter.ts';
import {navigate, setFilter} from '../state/navigation.ts';
import {stackData} from '../state/numbers.ts';
import {sourceHref} from '../state/route.ts';
import {shownTheme} from '../state/theme.ts';
import {announce} from './announce.tsx';
import {useWidth} from './lane_strip.tsx';
import {Lanes} from './lanes.tsx';
import {drawTimeline, HEIGHT, LEFT, scaleFor} from './timeline_draw.ts';

const ZOOM_STEP = 0.5;
// Fewest buckets in sight.
const LEAST_BUCKETS = 4;
// A press that moves less is a click.
const DRAG_PIXELS = 4;

export function Timeline({index, data: whole}: {index: ReportIndex; data: TimelineData}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const data = useSelectedTimeline(index, whole);
  const [moment, setAt] = useState<number | null>(null);
  const count = data.start.length;
  const at = moment === null ? null : Math.min(moment, count - 1);
  // Where a selection that is not made yet began.
  const [anchor, setAnchor] = useState<number | null>(null);
  const run = useMemo(() => ({begin: 0, end: whole.end[whole.end.length - 1]}), [whole]);
  const [span, setSpan] = useState<Span>(run);
  const {range} = filter.value;
  const pending = at === null || anchor === null ? null : rangeOf(data, anchor, at);
  const selected = pending ?? range;
  const scale = scaleFor(data, width, span);
  const themeNow = shownTheme.value;
  // Without samples in the report there is nothing to select from.
  const canSelect = index.calls !== null && index.calls !== undefined;

  useEffect(() => {
    if (canvas.current !== null && width > 0) drawTimeline(canvas.current, data, scale, at, selected);
  }, [data, width, span, at, selected?.[0], selected?.[1], themeNow]);

  const open = () => {
    const file = at === null ? null : data.file[at];
    const line = at === null ? null : data.line[at];
    if (file !== null) navigate({view: 'source', file, line});
  };
  const goTo = (bucket: number) => {
    const next = Math.min(count - 1, Math.max(0, bucket));
    setAt(next);
    setSpan((old) => withInSight(old, (data.start[next] + data.end[next]) / 2, run));
  };
  const select = (from: number, to: number) => {
    const {bucket_width: step = 1} = index.calls ?? {};
    const chosen = snapRange(rangeOf(data, from, to), step, index.run.elapsed ?? 0);
    setAnchor(null);
    setFilter({...filter.peek(), range: chosen});
    announce(`Showing ${formatMoment(chosen[0], step)} to ${formatMoment(chosen[1], step)}`);
  };
  const zoom = (factor: number, around?: number) => {
    const least = LEAST_BUCKETS * (data.end[0] - data.start[0]);
    const center = around ?? (at === null ? (span.begin + span.end) / 2 : data.start[at]);
    setSpan((old) => zoomed(old, factor, center, run, least));
  };
  const zoomOut = () => setSpan(run);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const tenth = Math.max(1, Math.round(count / 10));
    const now = at ?? -1;
    const targets: Record<string, number> = {
      ArrowRight: now + 1, ArrowUp: now + 1, ArrowLeft: now - 1, ArrowDown: now - 1,
      PageUp: now + tenth, PageDown: now - tenth, Home: 0, End: count - 1,
      p: busiestBucket(data), P: busiestBucket(data),
    };
    const target = targets[event.key];
    if (target !== undefined) {
      if (event.shiftKey && canSelect && event.key !== 'P') setAnchor(anchor ?? Math.max(0, now));
      else setAnchor(null);
      goTo(target);
    } else if (event.key === 'Enter') {
      if (at !== null && anchor !== null) select(anchor, at);
      else open();
    } else if (event.key === 'Escape' && at !== null) {
      if (anchor !== null) setAnchor(null);
      else setAt(null);
    } else if (event.key === '+' || event.key === '=') {
      zoom(ZOOM_STEP);
    } else if (event.key === '-') {
      zoom(1 / ZOOM_STEP);
    } else if (event.key === '0') {
      zoomOut();
    } else {
      return;
    }
    event.preventDefault();
  };

  const timeAt = (clientX: number): number => {
    const left = frame.current?.getBoundingClientRect().left ?? 0;
    const part = Math.min(1, Math.max(0, (clientX - left - LEFT) / Math.max(1, scale.width)));
    return span.begin + part * (span.end - span.begin);
  };
  const pressed = useRef<{x: number; bucket: number} | null>(null);
  const onPointerDown = (event: PointerEvent) => {
    const bucket = bucketAt(data, timeAt(event.clientX));
    setAt(bucket);
    setAnchor(null);
    if (event.button !== 0 || !canSelect) return;
    pressed.current = {x: event.clientX, bucket};
    frame.current?.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent) => {
    const from = pressed.current;
    const drags = from !== null && (anchor !== null || Math.abs(event.clientX - from.x) >= DRAG_PIXELS);
    // A selection by keyboard is not lost to a mouse that moves.
    if (anchor !== null && !drags) return;
    setAt(bucketAt(data, timeAt(event.clientX)));
    if (drags) setAnchor(from.bucket);
  };
  const onPointerUp = () => {
    if (pressed.current !== null && anchor !== null && at !== null) select(anchor, at);
    pressed.current = null;
  };
  const onPointerCancel = () => {
    if (pressed.current !== null) setAnchor(null);
    pressed.current = null;
  };
  useWheel(frame, (event) => {
    if (event.ctrlKey || event.metaKey) {
      zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event.clientX));
      return true;
    }
    if (isWhole(span, run) || Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return false;
    const by = event.deltaX / Math.max(1, scale.width) * (span.end - span.begin);
    const begin = Math.min(Math.max(run.begin, span.begin + by), run.end - (span.end - span.begin));
    setSpan({begin, end: begin + span.end - span.begin});
    return true;
  });

  return (
    <div class="timeline">
      <div class="timeline-head">
        <StateKeys index={index} data={whole} canSelect={canSelect} />
        <Reading index={index} data={data} at={at} pending={pending} canSelect={canSelect} />
        <Zoom out={isWhole(span, run)} zoom={zoom} reset={zoomOut} />
      </div>
      <div class="chart" ref={frame} role="slider" tabIndex={0}
           aria-label="Timeline of the run" aria-valuemin={0} aria-valuemax={count - 1}
           aria-valuenow={at ?? 0} aria-valuetext={readingText(index, data, at, selected)}
           onKeyDown={onKeyDown} onPointerMove={onPointerMove} onPointerDown={onPointerDown}
           onPointerUp={onPointerUp} onPointerCancel={onPointerCancel} onDblClick={open}>
        <canvas ref={canvas} aria-hidden="true" style={{height: `${HEIGHT}px`}} />
      </div>
      {canSelect && <Lanes index={index} width={width} span={span} selected={selected}
                           at={at === null ? null : (data.start[at] + data.end[at]) / 2} />}
    </div>
  );
}

// Of the process, thread and states that are selected. The range is shown on it, not cut out.
function useSelectedTimeline(index: ReportIndex, whole: TimelineData): TimelineData {
  const data = stackData.value;
  const {process, thread, states} = filter.value;
  return useMemo(() => {
    if (data === null || (process === null && thread === null && states === null)) return whole;
    return timelineOf(data, index, {range: null, process, thread, states});
  }, [data, whole, process, thread, states]);
}

// Wheel events that may be kept from scrolling the page: those that `use` has used.
function useWheel(element: {current: HTMLElement | null}, use: (event: WheelEvent) => boolean): void {
  const latest = useRef(use);
  latest.current = use;
  useEffect(() => {
    const onWheel = (event: WheelEvent) => { if (latest.current(event)) event.preventDefault(); };
    const target = element.current;
    target?.addEventListener('wheel', onWheel, {passive: false});
    return () => target?.removeEventListener('wheel', onWheel);
  }, []);
}

interface KeysProps {
  index: ReportIndex;
  data: TimelineData;
  canSelect: boolean;
}

// The colours, each a button that shows the samples in this state only.
function StateKeys({index, data, canSelect}: KeysProps) {
  const states = statesPresent(data);
  const now = filter.value;
  const toggle = (id: StateGroup) => {
    const next = new Set(now.states ?? []);
    if (!next.delete(id)) next.add(id);
    setFilter({...now, states: next.size === 0 ? null : next});
  };
  return (
    <ul class="keys-of-chart" aria-label="Colours of the timeline">
      {STATES.filter(({id}) => states.includes(id)).map(({id, name}) => {
        const counts = canSelect && index.states.some(({group, counts}) => counts && group === id);
        const content = <><span class={`swatch state-${id}`} />{name}</>;
        return (
          <li key={id}>
            {counts ?
              <button type="button" aria-pressed={now.states?.has(id) ?? false}
                      title={`Show samples in this state only: ${name}`} onClick={() => toggle(id)}>{content}</button> :
              content}
          </li>
        );
      })}
    </ul>
  );
}

function Zoom({out, zoom, reset}: {out: boolean; zoom: (factor: number) => void; reset: () => void}) {
  return (
    <div class="zoom" role="group" aria-label="Zoom of the timeline">
      <button type="button" class="button square" aria-label="Zoom in" title="Zoom in (+)"
              onClick={() => zoom(ZOOM_STEP)}>+</button>
      <button type="button" class="button square" aria-label="Zoom out" title="Zoom out (−)" disabled={out}
              onClick={() => zoom(1 / ZOOM_STEP)}>−</button>
      {!out && <button type="button" class="button" title="The whole run (0)" onClick={reset}>Whole run</button>}
    </div>
  );
}

interface ReadingProps {
  index: ReportIndex;
  data: TimelineData;
  at: number | null;
  pending: readonly [number, number] | null;
  canSelect: boolean;
}

function Reading({index, data, at, pending, canSelect}: ReadingProps) {
  if (at === null) {
    return (
      <p class="reading hint">
        <span class="pointer-hint">
          {canSelect ? <>Drag to select a range<span class="keys-hint">, or <kbd>Shift</kbd> <kbd>←</kbd> <kbd>→</kbd></span></> :
            <>Point at the chart, or use <kbd>←</kbd> <kbd>→</kbd></>}
          <span class="keys-hint"> · <kbd>P</kbd> busiest</span>
        </span>
      </p>
    );
  }
  if (pending !== null) {
    return (
      <p class="reading">
        <strong>{rangeText(data, pending)}</strong> <span class="quiet"><kbd>Enter</kbd> shows only this</span>
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

function readingText(index: ReportIndex, data: TimelineData, at: number | null,
                     selected: readonly [number, number] | null): string {
  const range = selected === null ? [] : [`selected ${rangeText(data, selected)}`];
  if (at === null) return range[0] ?? 'No moment selected';
  const states = STATES.filter(({id}) => (data[id][at] ?? 0) > 0)
                     .map(({id, name}) => `${formatThreads(threadsIn(data, id, at))} ${name}`);
  const file = data.file[at];
  const line = data.line[at];
  const most = file !== null && line !== null ? [`most time in ${lineLabel(index, file, line)}`] : [];
  return [momentOf(data, at), ...states, `${formatCount(data.samples[at])} samples`, ...most, ...range].join(', ');
}

function rangeOf(data: TimelineData, from: number, to: number): [number, number] {
  return [data.start[Math.min(from, to)], data.end[Math.max(from, to)]];
}

function rangeText(data: TimelineData, [from, to]: readonly [number, number]): string {
  const step = data.end[0] - data.start[0];
  return `${formatMoment(from, step)} to ${formatMoment(to, step)}`;
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
