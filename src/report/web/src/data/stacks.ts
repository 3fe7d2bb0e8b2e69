// The call tree and its samples over time (DATA.md sections 2.3 and 2.4), and what nodes weigh in a
// part of them.
import type {Container} from './container.ts';
import type {ReportIndex, StateGroup} from './index_types.ts';
import {moduleOf, placeOf} from './modules.ts';
import {countVarints, decodeVarints, decodeWideVarints} from './varint.ts';

// A place that was on a sampled stack: a line of a function.
export interface Frames {
  count: number;
  name(frame: number): string;
  // "file.py:12", or the library.
  place(frame: number): string;
  // Top package, or file of the project: for colours and filters.
  module(frame: number): string;
  // File id; -1: not a file of the project.
  file: Int32Array;
  // 0: unknown.
  line: Uint32Array;
  project: Uint8Array;
  kind: Uint8Array;
  // Row of the functions chunk; -1: not there.
  fn: Int32Array;
  // Number of its function, counted in the call tree: equal for all frames of one function.
  owner: Uint32Array;
}

export const KIND_PYTHON = 0;
export const KIND_NATIVE = 1;
export const KIND_TASK = 2;

// Nodes in preorder: a node's subtree is node … end[node] − 1.
export interface CallTree {
  count: number;
  // -1: a root.
  parent: Int32Array;
  end: Uint32Array;
  // 16 bits unless stacks are deeper.
  depth: Uint16Array | Uint32Array;
  frame: Uint32Array;
}

// Samples of one thread in one bucket with equal stack and state, in order of time.
export interface Cells {
  count: number;
  thread: Uint32Array;
  // -1: a thread without Python frames.
  node: Int32Array;
  // Position in index.states.
  state: Uint8Array;
  samples: Float64Array;
  wall: Float64Array;
  cpu: Float64Array;
  // What the run's mode calls time: `wall` or `cpu`.
  time: Float64Array;
}

// Buckets with samples, in order of time. Bucket b holds cells start[b] … start[b + 1] − 1.
export interface Buckets {
  count: number;
  width: number;
  begin: Float64Array;
  start: Uint32Array;
}

export interface StackData {
  frames: Frames;
  tree: CallTree;
  cells: Cells;
  buckets: Buckets;
  // By state: whether it counts as time, and what the report calls it.
  counts: readonly boolean[];
  group: readonly StateGroup[];
  // null: the state does not say.
  holdsGil: ReadonlyArray<boolean | null>;
  // Process of each thread.
  process: readonly number[];
}

// A part of the run: null is all of it. Times are nanoseconds since its start.
export interface Filter {
  range: readonly [number, number] | null;
  process: number | null;
  thread: number | null;
  states: ReadonlySet<StateGroup> | null;
}

export const EVERYTHING: Filter = {range: null, process: null, thread: null, states: null};

// Self time of each node under a filter.
export function weigh(data: StackData, filter: Filter): Float64Array {
  const {node, time} = data.cells;
  const self = new Float64Array(data.tree.count);
  forEachCell(data, filter, (cell) => {
    if (node[cell] >= 0) self[node[cell]] += time[cell];
  });
  return self;
}

// The cells that count under a filter, in order of time (within a bucket by thread and node).
export function forEachCell(data: StackData, filter: Filter, visit: (cell: number) => void): void {
  const {thread, state} = data.cells;
  const threads = threadsOf(data, filter);
  const states = Uint8Array.from(data.counts, (counts, id) =>
    counts && (filter.states === null || filter.states.has(data.group[id])) ? 1 : 0);
  const [first, end] = cellsIn(data.buckets, filter.range);
  for (let cell = first; cell < end; cell++) {
    if (states[state[cell]] !== 0 && threads[thread[cell]] !== 0) visit(cell);
  }
}

// By thread: whether the filter lets it through.
export function threadsOf({process}: StackData, filter: Filter): Uint8Array {
  return Uint8Array.from(process, (owner, id) =>
    (filter.thread === null || filter.thread === id) &&
        (filter.process === null || filter.process === owner) ? 1 : 0);
}

// First cell and cell past the last of a range. A bucket is in it when any of it is: samples of one
// bucket cannot be told apart.
export function cellsIn(buckets: Buckets, range: Filter['range']): [number, number] {
  if (range === null) return [0, buckets.start[buckets.count]];
  const first = bucketAfter(buckets, range[0] - buckets.width);
  const end = Math.max(first, bucketFrom(buckets, range[1]));
  return [buckets.start[first], buckets.start[end]];
}

// The range of whole buckets that holds `range`, within the run.
export function snapRange([from, to]: readonly [number, number], width: number,
                          elapsed: number): [number, number] {
  const begin = Math.floor(Math.min(from, to) / width) * width;
  const end = Math.max(Math.ceil(Math.max(from, to) / width) * width, begin + width);
  return [Math.max(0, begin), Math.min(end, Math.max(elapsed, begin))];
}

// First bucket that begins after `time`, or at or after it.
function bucketAfter({begin, count}: Buckets, time: number): number {
  return firstBucket(count, (bucket) => begin[bucket] > time);
}

function bucketFrom({begin, count}: Buckets, time: number): number {
  return firstBucket(count, (bucket) => begin[bucket] >= time);
}

function firstBucket(count: number, is: (bucket: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (is(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function decodeStacks(index: ReportIndex, calls: Container,
                             samples: readonly Container[]): StackData {
  const width = index.calls?.bucket_width ?? 0;
  if (!(width > 0)) throw new RangeError('its buckets have no width');
  const frames = decodeFrames(index, calls);
  const tree = decodeTree(calls, frames.count);
  const {cells, buckets} = decodeCells(index, samples, tree.count, width);
  return {
    frames, tree, cells, buckets,
    counts: index.states.map(({counts}) => counts),
    group: index.states.map(({group}) => group),
    holdsGil: index.states.map(({holds_gil}) => holds_gil),
    process: index.threads.map(({process}) => process),
  };
}

const IN_PROJECT = 4;
const KIND_BITS = 3;

function decodeFrames(index: ReportIndex, chunk: Container): Frames {
  const names = chunk.strings('function_name');
  const paths = chunk.strings('function_path');
  const fileOf = signed(chunk.u32('function_file'));
  const rowOf = signed(chunk.u32('function_row'));
  const flags = chunk.u8('function_flags');
  const owner = varints(chunk, 'frame_function');
  const line = varints(chunk, 'frame_line');
  const count = owner.length;
  if (line.length !== count || paths.length !== names.length || fileOf.length !== names.length ||
      rowOf.length !== names.length || flags.length !== names.length) {
    throw new RangeError('its frames are cut');
  }
  expectBelow(owner, names.length, 'function');
  expectBelow(fileOf, index.files.path.length, 'file');
  expectBelow(rowOf, index.functions, 'function');
  const at = <T extends Int32Array | Uint8Array>(out: T, value: (fn: number) => number): T => {
    for (let frame = 0; frame < count; frame++) out[frame] = value(owner[frame]);
    return out;
  };
  const file = at(new Int32Array(count), (fn) => fileOf[fn]);
  const kind = at(new Uint8Array(count), (fn) => flags[fn] & KIND_BITS);
  const pathOf = (frame: number) => paths[owner[frame]];
  return {
    count, file, line, kind, owner,
    project: at(new Uint8Array(count), (fn) => flags[fn] & IN_PROJECT ? 1 : 0),
    fn: at(new Int32Array(count), (fn) => rowOf[fn]),
    name: (frame) => names[owner[frame]],
    place: (frame) => file[frame] >= 0 ? placeOf(index.files.label[file[frame]], line[frame]) :
      kind[frame] === KIND_TASK ? 'task' : placeOf(pathOf(frame), line[frame]),
    module: (frame) => file[frame] >= 0 ? index.files.label[file[frame]] :
      kind[frame] === KIND_TASK ? 'tasks' : moduleOf(pathOf(frame)),
  };
}

function decodeTree(chunk: Container, frameCount: number): CallTree {
  const up = varints(chunk, 'node_up');
  const frame = varints(chunk, 'node_frame');
  const count = up.length;
  if (frame.length !== count) throw new RangeError('its nodes are cut');
  expectBelow(frame, frameCount, 'frame');
  const parent = new Int32Array(count);
  const end = new Uint32Array(count);
  const depths = new Uint32Array(count);
  // The node before and its callers, root first.
  const path: number[] = [];
  let deepest = 0;
  for (let node = 0; node < count; node++) {
    const depth = path.length - up[node];
    if (depth < 0) throw new RangeError('a node is above the root');
    for (let i = depth; i < path.length; i++) end[path[i]] = node;
    path.length = depth;
    parent[node] = depth === 0 ? -1 : path[depth - 1];
    depths[node] = depth;
    deepest = Math.max(deepest, depth);
    path.push(node);
  }
  for (const node of path) end[node] = count;
  return {count, parent, end, frame, depth: deepest < 2 ** 16 ? Uint16Array.from(depths) : depths};
}

function decodeCells(index: ReportIndex, chunks: readonly Container[], nodes: number,
                     width: number): {cells: Cells; buckets: Buckets} {
  const count = chunks.reduce((sum, chunk) => sum + chunk.u8('cell_state').length, 0);
  const unit = index.calls?.time_unit ?? 1;
  const cells = {
    count,
    thread: new Uint32Array(count),
    node: new Int32Array(count),
    state: new Uint8Array(count),
    samples: new Float64Array(count),
    wall: new Float64Array(count),
    cpu: new Float64Array(count),
  };
  const bucketBegin: number[] = [];
  const bucketStart: number[] = [];
  let at = 0;
  let lastBucket = -1;
  for (const chunk of chunks) {
    const size = chunk.u8('cell_state').length;
    decodeColumns(chunk, cells, at, size, unit, index.states.length);
    const groups = varints(chunk, 'group_cells');
    const bucketStep = varints(chunk, 'group_bucket');
    const thread = varints(chunk, 'group_thread');
    const nodeStep = varints(chunk, 'cell_node');
    if (bucketStep.length !== groups.length || thread.length !== groups.length ||
        nodeStep.length !== size) {
      throw new RangeError('its groups are cut');
    }
    expectBelow(thread, index.threads.length, 'thread');
    let bucket = 0;
    let read = 0;
    for (let group = 0; group < groups.length; group++) {
      bucket += bucketStep[group];
      if (bucket < lastBucket) throw new RangeError('its buckets are out of order');
      if (bucket > lastBucket) {
        bucketBegin.push(bucket * width);
        bucketStart.push(at + read);
        lastBucket = bucket;
      }
      const end = read + groups[group];
      if (end > size) throw new RangeError('its groups are longer than its cells');
      let node = -1;
      for (; read < end; read++) {
        node += nodeStep[read];
        if (node >= nodes) throw new RangeError(`there is no node ${node}`);
        cells.thread[at + read] = thread[group];
        cells.node[at + read] = node;
      }
    }
    if (read !== size) throw new RangeError('its groups are shorter than its cells');
    at += size;
  }
  bucketStart.push(count);
  return {
    cells: {...cells, time: index.run.mode === 'cpu' ? cells.cpu : cells.wall},
    buckets: {
      count: bucketBegin.length, width,
      begin: Float64Array.from(bucketBegin), start: Uint32Array.from(bucketStart),
    },
  };
}

type Columns = Pick<Cells, 'state' | 'samples' | 'wall' | 'cpu'>;

function decodeColumns(chunk: Container, cells: Columns, at: number, size: number, unit: number,
                       states: number): void {
  const state = chunk.u8('cell_state');
  expectBelow(state, states, 'state');
  cells.state.set(state, at);
  cells.samples.set(decodeWideVarints(chunk.u8('cell_count'), size), at);
  const wall = decodeWideVarints(chunk.u8('cell_wall'), size);
  const cpu = decodeWideVarints(chunk.u8('cell_cpu'), size);
  for (let i = 0; i < size; i++) {
    cells.wall[at + i] = wall[i] * unit;
    cells.cpu[at + i] = cpu[i] === 0 ? 0 : (wall[i] + unzigzag(cpu[i] - 1)) * unit;
  }
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

function varints(chunk: Container, name: string): Uint32Array {
  const bytes = chunk.u8(name);
  return decodeVarints(bytes, countVarints(bytes));
}

// 2^32 − 1 stands for none, which is −1.
function signed(values: Uint32Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length);
}

function expectBelow(ids: Uint32Array | Int32Array | Uint8Array, limit: number, what: string): void {
  for (let i = 0; i < ids.length; i++) {
    if (ids[i] >= limit) throw new RangeError(`there is no ${what} ${ids[i]}`);
  }
}
