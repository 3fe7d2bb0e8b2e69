// Adds a part of the run up to the numbers that the report stores for all of it, by the rules of
// DATA.md: a sample's time goes to the innermost project frame; a total counts a stack once.
import type {StateGroup} from '../data/index_types.ts';
import type {Filter, StackData} from '../data/stacks.ts';
import {cellsIn, threadsOf} from '../data/stacks.ts';

// By line, file or function. NaN: unavailable, as no sample told.
export interface Costs {
  time: Float64Array;
  samples: Float64Array;
  total: Float64Array;
}

export interface Sum {
  time: number;
  samples: number;
}

export interface Tally {
  all: Sum;
  project: Sum;
  outside: Sum;
  noPython: Sum;
  // Wall time, whether it counts or not.
  states: Record<StateGroup, number>;
  cpu: number;
  // null: no state told.
  holding: number | null;
  lines: Costs;
  files: Costs;
  functions: Costs;
}

// Lines of project files that are on any stack, by file and line.
export interface Lines {
  count: number;
  file: Uint32Array;
  line: Uint32Array;
  // By frame; -1: none of them.
  ofFrame: Int32Array;
  // First of each file, and one past the last.
  start: Uint32Array;
}

const linesOfData = new WeakMap<StackData, Lines>();

export function linesOf(data: StackData, files: number): Lines {
  let lines = linesOfData.get(data);
  if (lines === undefined) {
    lines = indexLines(data, files);
    linesOfData.set(data, lines);
  }
  return lines;
}

// Above every line number, so that file and line are one number that sorts.
const LINES_OF_A_FILE = 2 ** 32;

function indexLines({frames}: StackData, files: number): Lines {
  const {file, line} = frames;
  const keyOf = (frame: number) => file[frame] * LINES_OF_A_FILE + line[frame];
  const keys = new Float64Array(frames.count);
  let known = 0;
  for (let frame = 0; frame < frames.count; frame++) {
    if (file[frame] >= 0 && line[frame] > 0) keys[known++] = keyOf(frame);
  }
  const sorted = keys.subarray(0, known).sort();
  let count = 0;
  for (const key of sorted) {
    if (count === 0 || sorted[count - 1] !== key) sorted[count++] = key;
  }
  const places = sorted.subarray(0, count);
  const start = Uint32Array.from(
      {length: files + 1}, (_, id) => firstAtLeast(places, id * LINES_OF_A_FILE));
  return {
    count, start,
    file: Uint32Array.from(places, (key) => Math.floor(key / LINES_OF_A_FILE)),
    line: Uint32Array.from(places, (key) => key % LINES_OF_A_FILE),
    ofFrame: Int32Array.from({length: frames.count}, (_, frame) =>
      file[frame] >= 0 && line[frame] > 0 ? firstAtLeast(places, keyOf(frame)) : -1),
  };
}

function firstAtLeast(sorted: Float64Array, key: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function tally(data: StackData, filter: Filter, files: number, functions: number): Tally {
  const sums = addCells(data, filter);
  const {self, selfSamples, noPython} = sums;
  const {tree, frames} = data;
  const lines = linesOf(data, files);
  const out: Tally = {
    all: {...noPython}, project: {time: 0, samples: 0}, outside: {time: 0, samples: 0}, noPython,
    states: sums.states, cpu: sums.cpu, holding: sums.holding,
    lines: noCosts(lines.count), files: noCosts(files), functions: noCosts(functions),
  };

  const innermost = new Int32Array(tree.count);
  for (let node = 0; node < tree.count; node++) {
    const frame = tree.frame[node];
    const parent = tree.parent[node];
    innermost[node] = frames.project[frame] !== 0 ? node : parent < 0 ? -1 : innermost[parent];
    const samples = selfSamples[node];
    // Of a sample that stands for several buckets, each has a part of the time, and one the sample.
    if (samples === 0 && self[node] === 0) continue;
    const place = innermost[node] < 0 ? -1 : tree.frame[innermost[node]];
    add(out.all, self[node], samples);
    add(place < 0 ? out.outside : out.project, self[node], samples);
    if (place < 0) continue;
    addTo(out.lines, lines.ofFrame[place], self[node], samples);
    addTo(out.files, frames.file[place], self[node], samples);
    addTo(out.functions, frames.fn[place], self[node], samples);
  }

  // A parent comes before its children.
  for (let node = tree.count - 1; node >= 0; node--) {
    const parent = tree.parent[node];
    if (parent < 0) continue;
    self[parent] += self[node];
    selfSamples[parent] += selfSamples[node];
  }
  addTotals(data, self, selfSamples, lines.ofFrame, out.lines);
  addTotals(data, self, selfSamples, frames.file, out.files);
  addTotals(data, self, selfSamples, frames.fn, out.functions);
  return out;
}

interface CellSums {
  self: Float64Array;
  selfSamples: Float64Array;
  noPython: Sum;
  states: Record<StateGroup, number>;
  cpu: number;
  holding: number | null;
}

function addCells(data: StackData, filter: Filter): CellSums {
  const {thread, node, state, samples, wall, cpu, time} = data.cells;
  const threads = threadsOf(data, filter);
  const wanted = data.group.map((group) => filter.states === null || filter.states.has(group));
  const counts = Uint8Array.from(data.counts, (counts, id) => counts && wanted[id] ? 1 : 0);
  const wallOf = new Float64Array(data.counts.length);
  // Threads without Python frames come first.
  const self = new Float64Array(data.tree.count + 1);
  const selfSamples = new Float64Array(data.tree.count + 1);
  let cpuTime = 0;
  const [first, end] = cellsIn(data.buckets, filter.range);
  for (let cell = first; cell < end; cell++) {
    if (threads[thread[cell]] === 0) continue;
    const id = state[cell];
    wallOf[id] += wall[cell];
    if (wanted[id]) cpuTime += cpu[cell];
    if (counts[id] === 0) continue;
    self[node[cell] + 1] += time[cell];
    selfSamples[node[cell] + 1] += samples[cell];
  }
  const states: Record<StateGroup, number> =
      {running: 0, gc: 0, gil: 0, waiting: 0, idle: 0, stopped: 0, unknown: 0};
  let holding: number | null = null;
  data.group.forEach((group, id) => {
    if (!wanted[id] || wallOf[id] === 0) return;
    states[group] += wallOf[id];
    const holds = data.holdsGil[id];
    if (holds !== null) holding = (holding ?? 0) + (holds ? wallOf[id] : 0);
  });
  return {
    self: self.subarray(1), selfSamples: selfSamples.subarray(1),
    noPython: {time: self[0], samples: selfSamples[0]}, states, cpu: cpuTime, holding,
  };
}

// Adds subtrees to a key where a stack meets it first, seen from the root.
function addTotals({tree}: StackData, subtree: Float64Array, samples: Float64Array,
                   keyOfFrame: Int32Array, costs: Costs): void {
  const openUntil = new Uint32Array(costs.total.length);
  for (let node = 0; node < tree.count; node++) {
    const key = keyOfFrame[tree.frame[node]];
    if (key < 0 || (samples[node] === 0 && subtree[node] === 0) || node < openUntil[key]) continue;
    openUntil[key] = tree.end[node];
    costs.total[key] = (costs.total[key] || 0) + subtree[node];
  }
}

function noCosts(count: number): Costs {
  return {
    time: new Float64Array(count).fill(NaN), samples: new Float64Array(count),
    total: new Float64Array(count).fill(NaN),
  };
}

function add(sum: Sum, time: number, samples: number): void {
  sum.time += time;
  sum.samples += samples;
}

function addTo(costs: Costs, key: number, time: number, samples: number): void {
  if (key < 0) return;
  costs.time[key] = (costs.time[key] || 0) + time;
  costs.samples[key] += samples;
}

// Largest known value; null: there is none.
export function largest(values: Float64Array): number | null {
  let most: number | null = null;
  for (const value of values) {
    if (!Number.isNaN(value) && (most === null || value > most)) most = value;
  }
  return most;
}

// Lines by falling time, then samples, then place, as the stored list; without those without time.
export function hottestLines({lines}: Tally, limit: number): number[] {
  const rows: number[] = [];
  for (let row = 0; row < lines.time.length; row++) {
    if (lines.time[row] > 0) rows.push(row);
  }
  rows.sort((a, b) => lines.time[b] - lines.time[a] || lines.samples[b] - lines.samples[a] || a - b);
  return rows.slice(0, limit);
}
