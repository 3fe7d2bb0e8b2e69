// Arithmetic of the timeline: how many threads were in which state, on average, in each bucket.
import type {Metric, TimelineData} from '../data/index_types.ts';

export type ThreadStateName = 'running' | 'gc' | 'gil' | 'waiting' | 'idle' | 'stopped' | 'unknown';

// From the bottom of the chart up. Idle threads are not drawn: hundreds of them would press the rest flat.
export const STATES: ReadonlyArray<{id: ThreadStateName; name: string}> = [
  {id: 'running', name: 'running'},
  {id: 'gc', name: 'collecting garbage'},
  {id: 'gil', name: 'waiting for the GIL'},
  {id: 'waiting', name: 'waiting'},
  {id: 'stopped', name: 'stopped'},
  {id: 'unknown', name: 'state unknown'},
];

// Threads in a state at a time, on average over bucket `i`; NaN: unavailable.
export function threadsIn(data: TimelineData, state: ThreadStateName, i: number): number {
  const value: Metric = data[state][i];
  const width = data.end[i] - data.start[i];
  return value === null || width <= 0 ? NaN : value / width;
}

export function stackHeight(data: TimelineData, i: number): number {
  return STATES.reduce((sum, {id}) => sum + (threadsIn(data, id, i) || 0), 0);
}

// Joins each `size` neighbouring buckets, for a chart with fewer pixels than buckets.
export function joinBuckets(data: TimelineData, size: number): TimelineData {
  if (size <= 1) return data;
  const groups = Array.from({length: Math.ceil(data.start.length / size)}, (_, i) => i * size);
  const sum = (values: readonly Metric[]) => groups.map((from) => {
    const known = values.slice(from, from + size).filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
  });
  const first = <T>(values: readonly T[]): T[] => groups.map((from) => values[from]);
  return {
    start: first(data.start),
    end: groups.map((from) => data.end[Math.min(from + size, data.end.length) - 1]),
    running: sum(data.running),
    gc: sum(data.gc),
    gil: sum(data.gil),
    waiting: sum(data.waiting),
    idle: sum(data.idle),
    stopped: sum(data.stopped),
    unknown: sum(data.unknown),
    samples: sum(data.samples).map((value) => value ?? 0),
    file: first(data.file),
    line: first(data.line),
  };
}

// States that occur at all.
export function statesPresent(data: TimelineData): ThreadStateName[] {
  return STATES.map(({id}) => id).filter((id) => data[id].some((value) => (value ?? 0) > 0));
}

// Distance of axis marks: 1, 2 or 5 times a power of ten, at most `count` of them over `span`.
export function niceStep(span: number, count: number): number {
  const raw = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = [1, 2, 5, 10].find((each) => each * power >= raw * 0.999) ?? 10;
  return factor * power;
}

// Bucket that holds time `at`, or the nearest one.
export function bucketAt(data: TimelineData, at: number): number {
  let low = 0;
  let high = data.start.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (data.start[middle] <= at) low = middle;
    else high = middle - 1;
  }
  const next = low + 1;
  const inGap = at > data.end[low] && next < data.start.length;
  return inGap && data.start[next] - at < at - data.end[low] ? next : low;
}

export function busiestBucket(data: TimelineData): number {
  let best = 0;
  for (let i = 1; i < data.start.length; i++) {
    if ((threadsIn(data, 'running', i) || 0) > (threadsIn(data, 'running', best) || 0)) best = i;
  }
  return best;
}
