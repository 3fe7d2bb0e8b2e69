import assert from 'node:assert/strict';
import {test} from 'node:test';

import type {Filter} from '../src/data/stacks.ts';
import {decodeStacks, EVERYTHING} from '../src/data/stacks.ts';
import {lanesOf, LANE_STATES, timelineOf} from '../src/lib/lanes.ts';
import type {Costs} from '../src/lib/tally.ts';
import {hottestLines, linesOf, tally} from '../src/lib/tally.ts';
import {sumThreads} from '../src/lib/thread_sums.ts';
import type {Made, PlainCell, PlainFrame} from './make_stacks.ts';
import {makeStacks, STATES, WIDTH} from './make_stacks.ts';

const FILES = 3;
const FUNCTIONS = 12;

const FILTERS: Filter[] = [
  EVERYTHING,
  {...EVERYTHING, range: [300, 900]},
  {...EVERYTHING, thread: 1},
  {...EVERYTHING, process: 0, states: new Set(['running', 'waiting'] as const)},
  {...EVERYTHING, states: new Set(['idle'] as const)},
  {...EVERYTHING, range: [99_000, 99_100]},
];

// The rules of DATA.md, a sample at a time.
class BruteForce {
  readonly keys = new Map<string, {time: number; samples: number; total: number; totalSamples: number}>();
  readonly sums = {all: [0, 0], project: [0, 0], outside: [0, 0], noPython: [0, 0]};
  readonly states = new Map<string, number>();

  constructor(private readonly made: Made, filter: Filter, mode: string) {
    for (const cell of made.cells) this.add(cell, filter, mode);
  }

  cost(key: string): {time: number; samples: number; total: number; totalSamples: number} {
    let cost = this.keys.get(key);
    if (cost === undefined) this.keys.set(key, cost = {time: 0, samples: 0, total: 0, totalSamples: 0});
    return cost;
  }

  keysOf({fn, line}: PlainFrame): string[] {
    const {file, row} = this.made.functions[fn];
    return [...(file < 0 ? [] : [`line ${file}:${line}`, `file ${file}`]), ...(row < 0 ? [] : [`fn ${row}`])];
  }

  private add(cell: PlainCell, {range, process, thread, states}: Filter, mode: string): void {
    const {group, counts} = STATES[cell.state];
    const [begin, end] = [cell.bucket * WIDTH, (cell.bucket + 1) * WIDTH];
    if (range !== null && (end <= range[0] || begin >= range[1])) return;
    if (process !== null && cell.thread % 2 !== process) return;
    if (thread !== null && cell.thread !== thread) return;
    if (states !== null && !states.has(group)) return;
    this.states.set(group, (this.states.get(group) ?? 0) + cell.wall);
    if (!counts) return;
    const time = mode === 'cpu' ? cell.cpu : cell.wall;
    const innermost = (cell.stack ?? []).filter(({fn}) => this.made.functions[fn].project).at(-1);
    const into = cell.stack === null ? this.sums.noPython : innermost === undefined ? this.sums.outside : this.sums.project;
    for (const sum of [this.sums.all, into]) {
      sum[0] += time;
      sum[1] += cell.count;
    }
    if (innermost !== undefined) {
      for (const key of this.keysOf(innermost)) {
        this.cost(key).time += time;
        this.cost(key).samples += cell.count;
      }
    }
    for (const key of new Set((cell.stack ?? []).flatMap((frame) => this.keysOf(frame)))) {
      this.cost(key).total += time;
      this.cost(key).totalSamples += cell.count;
    }
  }
}

function expectCost(brute: BruteForce, key: string, costs: Costs, row: number): void {
  const {time, samples, total, totalSamples} = brute.cost(key);
  assert.equal(costs.samples[row], samples, key);
  assert.equal(costs.time[row], samples === 0 ? NaN : time, key);
  assert.equal(costs.total[row], totalSamples === 0 ? NaN : total, key);
}

test('lines, files, functions and totals are what the samples add up to', () => {
  for (const mode of ['wall', 'cpu']) {
    for (const seed of [11, 12, 13]) {
      const made = makeStacks(seed, {nodes: 120, cells: 900, mode, files: FILES, functions: FUNCTIONS});
      const data = decodeStacks(made.index, made.calls, made.samples);
      const lines = linesOf(data, FILES);
      for (const filter of FILTERS) {
        const brute = new BruteForce(made, filter, mode);
        const sums = tally(data, filter, FILES, FUNCTIONS);
        const {all, project, outside, noPython} = sums;
        assert.deepEqual(
            [all, project, outside, noPython].map(({time, samples}) => [time, samples]),
            Object.values(brute.sums));
        for (let row = 0; row < lines.count; row++) {
          expectCost(brute, `line ${lines.file[row]}:${lines.line[row]}`, sums.lines, row);
        }
        for (let file = 0; file < FILES; file++) expectCost(brute, `file ${file}`, sums.files, file);
        for (let row = 0; row < FUNCTIONS; row++) expectCost(brute, `fn ${row}`, sums.functions, row);
        for (const {group} of STATES) assert.equal(sums.states[group], brute.states.get(group) ?? 0);
        const hot = hottestLines(sums, 5);
        const times = [...sums.lines.time].filter((time) => time > 0).sort((a, b) => b - a);
        assert.deepEqual(hot.map((row) => sums.lines.time[row]), times.slice(0, 5));
      }
    }
  }
});

test('every line that is in a stack has a place, in order of file and line', () => {
  const made = makeStacks(14, {nodes: 200, cells: 10, files: FILES});
  const data = decodeStacks(made.index, made.calls, made.samples);
  const lines = linesOf(data, FILES);
  for (let row = 1; row < lines.count; row++) {
    assert.ok(lines.file[row] > lines.file[row - 1] || lines.line[row] > lines.line[row - 1]);
  }
  for (let file = 0; file < FILES; file++) {
    for (let row = lines.start[file]; row < lines.start[file + 1]; row++) assert.equal(lines.file[row], file);
  }
  assert.equal(lines.start[FILES], lines.count);
});

function threadSum(made: Made, thread: number, filter: Filter): number {
  let time = 0;
  for (const cell of made.cells) {
    const {group, counts} = STATES[cell.state];
    const inRange = filter.range === null ||
        ((cell.bucket + 1) * WIDTH > filter.range[0] && cell.bucket * WIDTH < filter.range[1]);
    if (cell.thread === thread && inRange && counts && (filter.states?.has(group) ?? true)) time += cell.wall;
  }
  return time;
}

test('threads have their own sums, whichever is selected', () => {
  const made = makeStacks(15, {nodes: 40, cells: 700});
  const data = decodeStacks(made.index, made.calls, made.samples);
  for (const filter of FILTERS) {
    const sums = sumThreads(data, filter);
    for (let thread = 0; thread < 4; thread++) {
      assert.equal(sums[thread].time, threadSum(made, thread, filter));
    }
  }
});

test('the timeline of a part, and lanes, hold all of its wall time', () => {
  const made = makeStacks(16, {nodes: 40, cells: 700});
  const data = decodeStacks(made.index, made.calls, made.samples);
  const elapsed = 19.5 * WIDTH;
  const index = {...made.index, run: {...made.index.run, elapsed}};
  const timeline = timelineOf(data, index, {...EVERYTHING, thread: 2});
  const wall = (group: string) => made.cells.filter(({thread, state}) => thread === 2 && STATES[state].group === group)
      .reduce((sum, cell) => sum + cell.wall, 0);
  for (const group of ['running', 'waiting', 'gil', 'idle', 'unknown'] as const) {
    assert.equal(timeline[group].reduce((sum: number, value) => sum + (value ?? 0), 0), wall(group));
  }
  assert.equal(timeline.end.at(-1), elapsed);
  const [both] = lanesOf(data, elapsed, [[1, 2]]);
  for (let bucket = 0; bucket < data.buckets.count; bucket++) {
    const begin = data.buckets.begin[bucket];
    LANE_STATES.forEach((group, i) => {
      const expected = made.cells.filter(
          (cell) => cell.bucket * WIDTH === begin && (cell.thread === 1 || cell.thread === 2) && STATES[cell.state].group === group)
          .reduce((sum, cell) => sum + cell.wall, 0) / (timeline.end[bucket] - begin);
      const shown = both[bucket * LANE_STATES.length + i];
      assert.ok(Math.abs(shown - expected) <= 1e-6 * expected, `${group} in ${bucket}`);
    });
  }
});

test('many cells are added up in a moment', (t) => {
  const made = makeStacks(17, {nodes: 50_000, cells: 100_000, buckets: 600, threads: 8, parts: 1, functions: 500});
  const data = decodeStacks(made.index, made.calls, made.samples);
  linesOf(data, FILES);
  const before = process.cpuUsage();
  tally(data, {...EVERYTHING, process: 1}, FILES, 500);
  const {user} = process.cpuUsage(before);
  t.diagnostic(`100,000 cells of 50,000 nodes: ${user / 1000} ms`);
  assert.ok(user < 1e6);
});
