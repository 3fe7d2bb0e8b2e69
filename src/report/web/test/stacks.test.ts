import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Container} from '../src/data/container.ts';
import {moduleOf, placeOf} from '../src/data/modules.ts';
import type {Filter} from '../src/data/stacks.ts';
import {decodeStacks, EVERYTHING, forEachCell, snapRange, weigh} from '../src/data/stacks.ts';
import {container} from './make_container.ts';
import type {Made, PlainCell} from './make_stacks.ts';
import {encodeCells, makeStacks, STATES, varints, WIDTH} from './make_stacks.ts';

const decoded = (made: Made) => decodeStacks(made.index, made.calls, made.samples);

test('what was encoded comes back', () => {
  const made = makeStacks(1, {nodes: 80, cells: 500});
  const {cells, frames, tree, buckets} = decoded(made);
  assert.equal(cells.count, 500);
  assert.equal(tree.count, 80);
  for (let cell = 0; cell < cells.count; cell++) {
    const plain = made.cells[cell];
    assert.deepEqual(
        [cells.thread[cell], cells.node[cell], cells.state[cell], cells.samples[cell], cells.wall[cell],
         cells.cpu[cell]],
        [plain.thread, plain.node, plain.state, plain.count, plain.wall, plain.cpu]);
    const stack = [];
    for (let node = cells.node[cell]; node >= 0; node = tree.parent[node]) {
      const frame = tree.frame[node];
      stack.unshift({name: frames.name(frame), line: frames.line[frame], file: frames.file[frame]});
    }
    assert.deepEqual(stack, (plain.stack ?? []).map(({fn, line}) => (
        {name: `f${fn}`, line, file: made.functions[fn].file})));
  }
  for (let bucket = 0; bucket < buckets.count; bucket++) {
    for (let cell = buckets.start[bucket]; cell < buckets.start[bucket + 1]; cell++) {
      assert.equal(buckets.begin[bucket], made.cells[cell].bucket * WIDTH);
    }
  }
});

test('a subtree is the nodes that have its root among their callers', () => {
  const {tree} = decoded(makeStacks(2, {nodes: 300, cells: 10}));
  for (let node = 0; node < tree.count; node++) {
    for (let other = 0; other < tree.count; other++) {
      let at = other;
      while (at > node) at = tree.parent[at];
      assert.equal(at === node, other >= node && other < tree.end[node]);
    }
    assert.equal(tree.depth[node], tree.parent[node] < 0 ? 0 : tree.depth[tree.parent[node]] + 1);
  }
});

test('paths are shown as the project, a library or a module', () => {
  const {frames} = decoded(makeStacks(3, {nodes: 60, cells: 10}));
  for (let frame = 0; frame < frames.count; frame++) {
    const line = frames.line[frame];
    if (frames.file[frame] >= 0) {
      assert.equal(frames.place(frame), `m${frames.file[frame]}.py:${line}`);
      assert.equal(frames.module(frame), `pkg/m${frames.file[frame]}.py`);
    } else {
      assert.equal(frames.place(frame), `${frames.name(frame)}.py:${line}`);
      assert.equal(frames.module(frame), frames.name(frame));
    }
  }
  const cases: Array<[string, string]> = [
    ['/usr/lib/python3.11/json/decoder.py', 'json'],
    ['/usr/lib/python3.11/socket.py', 'socket'],
    ['/usr/lib/python3.11/lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so', '_ssl'],
    ['/venv/lib/python3.13t/site-packages/numpy/core/_m.py', 'numpy'],
    ['/usr/lib/python3/dist-packages/six.py', 'six'],
    ['<frozen importlib._bootstrap>', 'importlib'], ['<string>', '<string>'],
    ['/lib/x86_64-linux-gnu/libc.so.6', 'libc'], ['C:\\x\\y.py', 'y'], ['', 'unknown'],
  ];
  for (const [path, module] of cases) assert.equal(moduleOf(path), module, path);
  assert.equal(placeOf('/lib/libc.so.6', 0), 'libc.so.6');
});

const FILTERS: Filter[] = [
  EVERYTHING,
  {...EVERYTHING, range: [0, 300]},
  {...EVERYTHING, range: [250, 251]},
  {...EVERYTHING, range: [5 * WIDTH, 5 * WIDTH]},
  {...EVERYTHING, range: [1700, 1e12]},
  {...EVERYTHING, process: 1},
  {...EVERYTHING, thread: 2},
  {...EVERYTHING, process: 1, thread: 2},
  {...EVERYTHING, states: new Set(['running', 'gil'] as const)},
  {...EVERYTHING, states: new Set(['idle'] as const)},
  {range: [400, 1200], process: 0, thread: null, states: new Set(['waiting'] as const)},
];

// Said again in the plainest words.
export function passes(cell: PlainCell, {range, process, thread, states}: Filter): boolean {
  if (!STATES[cell.state].counts) return false;
  if (states !== null && !states.has(STATES[cell.state].group)) return false;
  if (process !== null && cell.thread % 2 !== process) return false;
  if (thread !== null && cell.thread !== thread) return false;
  const [begin, end] = [cell.bucket * WIDTH, (cell.bucket + 1) * WIDTH];
  return range === null || (end > range[0] && begin < range[1]);
}

test('nodes weigh what the cells that pass add up to', () => {
  for (const mode of ['wall', 'cpu']) {
    const made = makeStacks(4, {nodes: 50, cells: 800, mode, parts: 3});
    const data = decoded(made);
    for (const filter of FILTERS) {
      const expected = new Float64Array(made.nodes);
      const visited: number[] = [];
      made.cells.forEach((cell, i) => {
        if (!passes(cell, filter)) return;
        visited.push(i);
        if (cell.node >= 0) expected[cell.node] += mode === 'cpu' ? cell.cpu : cell.wall;
      });
      assert.deepEqual(weigh(data, filter), expected);
      const seen: number[] = [];
      forEachCell(data, filter, (cell) => { seen.push(cell); });
      assert.deepEqual(seen, visited);
    }
  }
});

test('a range grows to whole buckets, within the run', () => {
  assert.deepEqual(snapRange([120, 130], 100, 1000), [100, 200]);
  assert.deepEqual(snapRange([130, 120], 100, 1000), [100, 200]);
  assert.deepEqual(snapRange([100, 200], 100, 1000), [100, 200]);
  assert.deepEqual(snapRange([100, 100], 100, 1000), [100, 200]);
  assert.deepEqual(snapRange([900, 5000], 100, 950), [900, 950]);
  assert.deepEqual(snapRange([-50, 10], 100, 950), [0, 100]);
});

test('damage is refused in words', () => {
  const made = makeStacks(5, {nodes: 10, cells: 20, parts: 1});
  const sections = encodeCells(made.cells);
  const broken = (change: Parameters<typeof container>[0]) => () =>
      decodeStacks(made.index, made.calls, [new Container(container({...sections, ...change}))]);
  assert.doesNotThrow(broken({}));
  assert.throws(broken(varints('group_thread', Array(20).fill(9))), /groups are cut|no thread 9/);
  assert.throws(broken(varints('cell_node', Array(20).fill(99))), /no node/);
  assert.throws(broken(varints('group_cells', [1000])), /groups are cut|longer than its cells/);
  assert.throws(broken({cell_wall: ['u8', [1, 2, 3]]}), /too early/);
  assert.throws(() => decodeStacks({...made.index, calls: null}, made.calls, []), /no width/);
});

test('many cells are read and weighed in a moment', (t) => {
  const made = makeStacks(6, {nodes: 50_000, cells: 100_000, buckets: 600, threads: 8, parts: 1});
  const part = made.samples[0];
  const before = process.cpuUsage();
  const data = decodeStacks({...made.index}, made.calls, [part]);
  const decodedAt = process.cpuUsage(before);
  weigh(data, {...EVERYTHING, process: 1});
  const both = process.cpuUsage(before);
  t.diagnostic(`100,000 cells: decoded in ${decodedAt.user / 1000} ms, weighed in ` +
      `${(both.user - decodedAt.user) / 1000} ms`);
  assert.ok(both.user < 1e6);
});
