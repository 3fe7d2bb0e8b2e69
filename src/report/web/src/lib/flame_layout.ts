// Where the boxes of a flame graph stand: by weight, the heaviest first, or by time, a lane for each
// thread. Widths are nanoseconds; the view decides how many pixels they are.
import type {FlameTree} from './flame_tree.ts';

// In preorder, as trees are. A box lies inside its parent, one row below it.
export interface Boxes {
  count: number;
  parent: Int32Array;
  end: Uint32Array;
  row: Uint32Array;
  left: Float64Array;
  right: Float64Array;
  // What the box shows: a node of the tree. By time many boxes show the same one.
  node: Uint32Array;
  // What was measured in it. By time this may be less than its width.
  value: Float64Array;
  rows: number;
  from: number;
  to: number;
}

// Narrower boxes are not drawn, nor what is in them.
export const MIN_PIXELS = 0.6;

export function weightLayout(tree: FlameTree): Boxes {
  const {count, parent, total} = tree;
  const left = new Float64Array(count);
  const right = new Float64Array(count);
  // Where the next child of a node begins.
  const free = new Float64Array(count);
  let rows = 0;
  for (let node = 0; node < count; node++) {
    const above = parent[node];
    if (above >= 0) {
      // The children of one node add up to it, but for the last bits.
      left[node] = Math.min(free[above], right[above]);
      right[node] = Math.min(left[node] + total[node], right[above]);
      free[above] = right[node];
    } else {
      right[node] = total[node];
    }
    free[node] = left[node];
    rows = Math.max(rows, tree.depth[node] + 1);
  }
  return {
    count, parent, end: tree.end, row: tree.depth, left, right,
    node: Uint32Array.from({length: count}, (_, i) => i), value: total, rows, from: 0, to: total[0],
  };
}

// Samples added up in buckets of time, in the order of the buckets.
export interface Cells {
  count: number;
  bucket: Uint32Array;
  lane: Uint32Array;
  // Node of the tree; -1: in none.
  node: Int32Array;
  time: Float64Array;
}

export interface Lane {
  start: number;
  end: number;
}

export interface Span {
  from: number;
  to: number;
}

// A gap of less than this part of a bucket is one of measuring, not of the program.
const BRIDGED = 0.5;
// Rows between one lane's deepest box and the next lane.
const LANE_GAP = 2;

// The order within a bucket is not known: stacks follow each other as in the tree, forth or back, so
// that what goes on from one bucket into the next stays one box. What is not in `span` and boxes
// narrower than `narrowest` are left out. A lane has a box of its own, whose node is the number of the
// tree's nodes + the lane.
export function timeLayout(tree: FlameTree, lanes: readonly Lane[], cells: Cells, bucketWidth: number,
                           span: Span, narrowest: number): Boxes {
  const out = new BoxBuilder(narrowest);
  const all = out.open(-1, 0, 0, span.from);
  const ofLane = cellsByLane(cells, lanes.length);
  let row = 1;
  lanes.forEach((lane, id) => {
    if (ofLane[id].length === 0 || lane.start >= span.to || lane.end <= span.from) return;
    row = layLane(out, {tree, lane, cells, bucketWidth, span, row, node: tree.count + id},
                  ofLane[id]) + LANE_GAP;
  });
  out.close(all, span.to);
  return out.finish(span);
}

interface LaneSetting {
  tree: FlameTree;
  lane: Lane;
  cells: Cells;
  bucketWidth: number;
  span: Span;
  row: number;
  node: number;
}

// Returns the lane's last row.
function layLane(out: BoxBuilder, setting: LaneSetting, mine: Uint32Array): number {
  const {tree, lane, cells, bucketWidth, span, row} = setting;
  const begin = Math.max(lane.start, span.from);
  const stop = Math.min(lane.end, span.to);
  const header = out.open(0, row, setting.node, begin);
  // The open boxes, and the node that each shows, by depth: the tree's root is the lane's own box.
  const boxes = [header];
  const path = [0];
  let deepest = row;
  let cursor = begin;
  const closeTo = (depth: number, at: number) => {
    for (; path.length > depth; path.pop()) out.close(boxes.pop() as number, at);
  };
  const place = (node: number, from: number, to: number, time: number) => {
    const missing: number[] = [];
    for (let each = node; each > 0 && path[tree.depth[each]] !== each; each = tree.parent[each]) {
      missing.push(each);
    }
    closeTo(tree.depth[node] - missing.length + 1, from);
    for (const each of missing.reverse()) {
      boxes.push(out.open(boxes[boxes.length - 1], row + tree.depth[each], each, from));
      path.push(each);
    }
    deepest = Math.max(deepest, row + tree.depth[node]);
    out.add(boxes[boxes.length - 1], time);
    cursor = to;
  };
  // How far from the root a node's stack is the one that is open.
  const shared = (node: number) => {
    let each = Math.max(0, node);
    while (path[tree.depth[each]] !== each) each = tree.parent[each];
    return tree.depth[each];
  };
  for (let i = 0; i < mine.length;) {
    const start = cells.bucket[mine[i]] * bucketWidth;
    const first = i;
    let sum = 0;
    while (i < mine.length && cells.bucket[mine[i]] === cells.bucket[mine[first]]) sum += cells.time[mine[i++]];
    if (start + bucketWidth <= begin || start >= stop || sum === 0) continue;
    if (start - cursor > BRIDGED * bucketWidth) closeTo(1, cursor);
    const order = mine.slice(first, i).sort((a, b) => cells.node[a] - cells.node[b]);
    if (shared(cells.node[order[order.length - 1]]) > shared(cells.node[order[0]])) order.reverse();
    // Tasks that wait side by side add up to more than the bucket.
    const scale = Math.min(1, bucketWidth / sum);
    let at = start;
    for (const cell of order) {
      const width = cells.time[cell] * scale;
      const from = Math.max(at, begin);
      const to = Math.min(at + width, stop);
      if (to > from && cells.node[cell] >= 0) {
        place(cells.node[cell], from, to, cells.time[cell] * (to - from) / width);
      }
      at += width;
    }
  }
  closeTo(1, cursor);
  out.close(header, stop);
  return deepest;
}

// Indices of each lane's cells, in the order of the cells.
function cellsByLane(cells: Cells, lanes: number): Uint32Array[] {
  const sizes = new Uint32Array(lanes);
  for (let i = 0; i < cells.count; i++) sizes[cells.lane[i]]++;
  const out = Array.from(sizes, (size) => new Uint32Array(size));
  const filled = new Uint32Array(lanes);
  for (let i = 0; i < cells.count; i++) out[cells.lane[i]][filled[cells.lane[i]]++] = i;
  return out;
}

// Boxes are opened and closed as brackets are.
class BoxBuilder {
  private readonly parent: number[] = [];
  private readonly end: number[] = [];
  private readonly row: number[] = [];
  private readonly node: number[] = [];
  private readonly left: number[] = [];
  private readonly right: number[] = [];
  private readonly value: number[] = [];

  constructor(private readonly narrowest: number) {}

  open(parent: number, row: number, node: number, left: number): number {
    this.parent.push(parent);
    this.end.push(0);
    this.row.push(row);
    this.node.push(node);
    this.left.push(left);
    this.right.push(left);
    return this.value.push(0) - 1;
  }

  add(box: number, value: number): void {
    this.value[box] += value;
  }

  close(box: number, right: number): void {
    const parent = this.parent[box];
    if (parent >= 0) this.value[parent] += this.value[box];
    this.right[box] = right;
    this.end[box] = this.parent.length;
    // Everything behind it is inside it.
    if (parent > 0 && right - this.left[box] < this.narrowest) this.dropFrom(box);
  }

  private dropFrom(box: number): void {
    for (const column of [this.parent, this.end, this.row, this.node, this.left, this.right, this.value]) {
      column.length = box;
    }
  }

  finish(span: Span): Boxes {
    return {
      count: this.parent.length, parent: Int32Array.from(this.parent), end: Uint32Array.from(this.end),
      row: Uint32Array.from(this.row), left: Float64Array.from(this.left), right: Float64Array.from(this.right),
      node: Uint32Array.from(this.node), value: Float64Array.from(this.value),
      rows: this.row.reduce((most, row) => Math.max(most, row + 1), 1), ...span,
    };
  }
}

// What of the boxes is in sight.
export interface Window extends Span {
  width: number;
  firstRow: number;
  lastRow: number;
}

// Boxes to draw, from left to right in each row; reused from one frame to the next.
export class Sight {
  count = 0;
  box = new Uint32Array(1024);
  left = new Float32Array(1024);
  right = new Float32Array(1024);
  // Runs of neighbours that are too narrow each, as rows and pixels.
  thin: number[] = [];
  // Where the last run of each row is in `thin`.
  private lastThin = new Int32Array(0);

  look(boxes: Boxes, window: Window): void {
    this.count = 0;
    this.thin.length = 0;
    if (this.lastThin.length < boxes.rows) this.lastThin = new Int32Array(boxes.rows);
    this.lastThin.fill(-1);
    const {left, right, row, end} = boxes;
    const scale = window.width / Math.max(window.to - window.from, Number.MIN_VALUE);
    for (let box = 0; box < boxes.count;) {
      const x = (left[box] - window.from) * scale;
      const until = (right[box] - window.from) * scale;
      if (until <= 0 || x >= window.width || row[box] > window.lastRow) {
        box = end[box];
      } else if (until - x < MIN_PIXELS) {
        if (row[box] >= window.firstRow) this.pushThin(row[box], x, until);
        box = end[box];
      } else {
        if (row[box] >= window.firstRow) this.push(box, x, until);
        box++;
      }
    }
  }

  private pushThin(row: number, left: number, right: number): void {
    const last = this.lastThin[row];
    if (last >= 0 && left - this.thin[last + 2] < MIN_PIXELS) {
      this.thin[last + 2] = right;
      return;
    }
    this.lastThin[row] = this.thin.length;
    this.thin.push(row, left, right);
  }

  private push(box: number, left: number, right: number): void {
    if (this.count === this.box.length) this.grow();
    this.box[this.count] = box;
    this.left[this.count] = left;
    this.right[this.count++] = right;
  }

  private grow(): void {
    const longer = <T extends Uint32Array | Float32Array>(old: T, fresh: T): T => { fresh.set(old); return fresh; };
    this.box = longer(this.box, new Uint32Array(2 * this.count));
    this.left = longer(this.left, new Float32Array(2 * this.count));
    this.right = longer(this.right, new Float32Array(2 * this.count));
  }
}

// The box at a place; -1: none.
export function boxAt(boxes: Boxes, at: number, row: number): number {
  for (let box = 0; box < boxes.count;) {
    if (at < boxes.left[box] || at >= boxes.right[box] || boxes.row[box] > row) box = boxes.end[box];
    else if (boxes.row[box] === row) return box;
    else box++;
  }
  return -1;
}

// -1: it has none.
export function widestChild(boxes: Boxes, box: number): number {
  let widest = -1;
  let most = -1;
  for (let child = box + 1; child < boxes.end[box]; child = boxes.end[child]) {
    const width = boxes.right[child] - boxes.left[child];
    if (width > most) [widest, most] = [child, width];
  }
  return widest;
}

// Where one ends who goes into the widest child again and again.
export function widestPath(boxes: Boxes, box: number): number {
  let at = box;
  for (let child = widestChild(boxes, at); child >= 0; child = widestChild(boxes, at)) at = child;
  return at;
}

// The next box of the same row, among siblings and beyond; -1: it is the last one.
export function neighbour(boxes: Boxes, box: number, direction: 1 | -1): number {
  const row = boxes.row[box];
  if (direction > 0) {
    for (let next = boxes.end[box]; next < boxes.count; next++) if (boxes.row[next] === row) return next;
    return -1;
  }
  for (let next = box - 1; next >= 0; next--) if (boxes.row[next] === row) return next;
  return -1;
}

// From the outermost to the box itself.
export function pathTo(parent: Int32Array, node: number): number[] {
  const path: number[] = [];
  for (let each = node; each >= 0; each = parent[each]) path.push(each);
  return path.reverse();
}
