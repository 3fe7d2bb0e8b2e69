// A report's index, call tree and cells made up at random, encoded as DATA.md says, and kept as plain
// stacks beside it to compare with.
import type {ReportIndex, StateFacts} from '../src/data/index_types.ts';
import {Container} from '../src/data/container.ts';
import type {Sections} from './make_container.ts';
import {container} from './make_container.ts';

export interface PlainFrame {
  fn: number;
  line: number;
}

export interface PlainCell {
  bucket: number;
  thread: number;
  // Root first; null: no Python frames.
  stack: PlainFrame[] | null;
  node: number;
  state: number;
  count: number;
  wall: number;
  cpu: number;
}

export interface PlainFunction {
  name: string;
  file: number;
  row: number;
  project: boolean;
}

export interface Made {
  index: ReportIndex;
  calls: Container;
  samples: Container[];
  functions: PlainFunction[];
  cells: PlainCell[];
  nodes: number;
}

export const WIDTH = 100;

export const STATES: StateFacts[] = [
  {name: 'unknown', group: 'unknown', holds_gil: null, counts: true},
  {name: 'running', group: 'running', holds_gil: true, counts: true},
  {name: 'waiting', group: 'waiting', holds_gil: false, counts: true},
  {name: 'gil wait', group: 'gil', holds_gil: false, counts: true},
  {name: 'idle', group: 'idle', holds_gil: false, counts: false},
];

// The same numbers in every run.
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

export interface Sizes {
  nodes: number;
  cells: number;
  buckets?: number;
  threads?: number;
  files?: number;
  functions?: number;
  mode?: string;
  parts?: number;
}

export function makeStacks(seed: number, sizes: Sizes): Made {
  const {nodes, cells: cellCount, buckets = 20, threads = 4, files = 3, functions: functionCount = 12,
         mode = 'wall', parts = 2} = sizes;
  const random = randomNumbers(seed);
  const functions: PlainFunction[] = Array.from({length: functionCount}, (_, id) => {
    const project = random(3) > 0;
    return {name: `f${id}`, project, file: project ? random(files) : -1, row: project ? id : -1};
  });

  // A node follows another in preorder when its parent is that one or a caller of it.
  const tree: Array<{depth: number; fn: number; line: number}> = [];
  const stacks: PlainFrame[][] = [];
  for (let node = 0; node < nodes; node++) {
    const before = node === 0 ? [] : stacks[node - 1];
    const depth = random(4) === 0 ? random(before.length + 1) : Math.min(before.length, 30);
    const frame = {fn: random(functionCount), line: 1 + random(9)};
    tree.push({depth, ...frame});
    stacks.push([...before.slice(0, depth), frame]);
  }

  const cells: PlainCell[] = [];
  const taken = new Set<string>();
  while (cells.length < cellCount) {
    const node = random(20) === 0 ? -1 : random(nodes);
    const cell = {
      bucket: random(buckets), thread: random(threads), node, stack: node < 0 ? null : stacks[node],
      state: random(STATES.length), count: 1 + random(300), wall: 1 + random(5e6), cpu: 0,
    };
    if (cell.state === 1) cell.cpu = Math.max(0, cell.wall + random(2000) - 1000);
    const key = `${cell.bucket} ${cell.thread} ${cell.node} ${cell.state}`;
    if (!taken.has(key)) cells.push(cell);
    taken.add(key);
  }
  cells.sort((a, b) => a.bucket - b.bucket || a.thread - b.thread || a.node - b.node || a.state - b.state);

  const index = {
    run: {mode}, states: STATES, functions: functionCount,
    files: {label: Array.from({length: files}, (_, id) => `pkg/m${id}.py`),
            path: Array.from({length: files}, (_, id) => `/p/pkg/m${id}.py`)},
    threads: Array.from({length: threads}, (_, id) => ({process: id % 2})),
    calls: {nodes, cells: cellCount, bucket_width: WIDTH, joined_buckets: 1, time_unit: 1},
  } as unknown as ReportIndex;
  return {
    index, functions, cells, nodes,
    calls: new Container(container(encodeTree(tree, functions))),
    samples: cut(cells, parts).map((part) => new Container(container(encodeCells(part)))),
  };
}

function cut<T>(list: T[], parts: number): T[][] {
  const size = Math.ceil(list.length / parts);
  return Array.from({length: parts}, (_, i) => list.slice(i * size, (i + 1) * size));
}

function encodeTree(tree: Array<{depth: number; fn: number; line: number}>,
                    functions: PlainFunction[]): Sections {
  const frames = new Map<string, number>();
  const frameFunction: number[] = [];
  const frameLine: number[] = [];
  const nodeFrame = tree.map(({fn, line}) => {
    const key = `${fn} ${line}`;
    if (!frames.has(key)) {
      frames.set(key, frames.size);
      frameFunction.push(fn);
      frameLine.push(line);
    }
    return frames.get(key)!;
  });
  const up = tree.map(({depth}, node) => node === 0 ? 0 : tree[node - 1].depth + 1 - depth);
  return {
    ...strings('function_name', functions.map(({name}) => name)),
    ...strings('function_path', functions.map(({file, name}) => file < 0 ? `/lib/${name}.py` : '')),
    function_file: ['u32', functions.map(({file}) => file >>> 0)],
    function_row: ['u32', functions.map(({row}) => row >>> 0)],
    function_flags: ['u8', functions.map(({project}) => project ? 4 : 0)],
    ...varints('frame_function', frameFunction), ...varints('frame_line', frameLine),
    ...varints('node_up', up), ...varints('node_frame', nodeFrame),
  };
}

export function encodeCells(cells: PlainCell[]): Sections {
  const bucketStep: number[] = [];
  const thread: number[] = [];
  const groupCells: number[] = [];
  const nodeStep: number[] = [];
  let last: PlainCell | null = null;
  for (const cell of cells) {
    const same: boolean = last !== null && last.bucket === cell.bucket && last.thread === cell.thread;
    if (!same) {
      bucketStep.push(cell.bucket - (last?.bucket ?? 0));
      thread.push(cell.thread);
      groupCells.push(0);
    }
    groupCells[groupCells.length - 1]++;
    nodeStep.push(cell.node + 1 - (same ? last!.node + 1 : 0));
    last = cell;
  }
  const cpu = cells.map(({cpu, wall}) => {
    const more = cpu - wall;
    return cpu === 0 ? 0 : (more < 0 ? -2 * more - 1 : 2 * more) + 1;
  });
  return {
    ...varints('group_bucket', bucketStep), ...varints('group_thread', thread),
    ...varints('group_cells', groupCells), ...varints('cell_node', nodeStep),
    cell_state: ['u8', cells.map(({state}) => state)],
    ...varints('cell_count', cells.map(({count}) => count)),
    ...varints('cell_wall', cells.map(({wall}) => wall)), ...varints('cell_cpu', cpu),
  };
}

export function varints(name: string, values: number[]): Sections {
  const bytes: number[] = [];
  for (let value of values) {
    for (; value >= 128; value = Math.floor(value / 128)) bytes.push(value % 128 + 128);
    bytes.push(value);
  }
  return {[name]: ['u8', bytes], [`${name}_start`]: ['u32', [0, bytes.length]]};
}

function strings(name: string, values: string[]): Sections {
  const starts = [0];
  const bytes: number[] = [];
  for (const value of values) {
    bytes.push(...new TextEncoder().encode(value));
    starts.push(bytes.length);
  }
  return {[name]: ['u8', bytes], [`${name}_start`]: ['u32', starts]};
}
