// What a flame graph draws: the tree of sampled stacks with equal frames joined, weighed and ordered.
//
// Three steps, so that a change of the filter repeats only what depends on it: `shapeOf` joins nodes
// of the stack tree whose frames have the same key (function, or function and line) under the same
// parent, and folds chains of library frames; `weighShape` adds up what each node cost, leaves out
// what cost nothing and puts the heaviest child first; `reverseTree` turns the result around.
//
// Trees are in preorder: a node's subtree is the range [node, end[node]).

// Nodes in preorder; parent -1: a root.
export interface StackNodes {
  count: number;
  parent: Int32Array;
  frame: Uint32Array;
}

// What the samples of each node itself count: nanoseconds, and how many there were.
export interface Weights {
  time: Float64Array;
  samples: Float64Array;
}

// Frames of one key are drawn as one.
export interface Keys {
  count: number;
  // Of each frame.
  of: Int32Array;
  // Some frame of each key.
  frame: Int32Array;
}

export interface Shape {
  nodes: StackNodes;
  count: number;
  // A parent comes before its children. Node 0 is everything.
  parent: Int32Array;
  key: Int32Array;
  // Keys of frames that it joins: more than one in a fold.
  joins: Uint32Array;
  // Of each node of the stack tree.
  of: Int32Array;
}

export interface FlameTree {
  count: number;
  // Node 0 is everything; its parent is -1.
  parent: Int32Array;
  end: Uint32Array;
  depth: Uint32Array;
  // Of a frame, `Keys.count` + n for a fold, ROOT_KEY, or what `joinTrees` was given for a group.
  key: Int32Array;
  // The frame that most of the node's time went through; -1: none.
  frame: Int32Array;
  // Functions (or lines) that it joins: more than one in a fold.
  joins: Uint32Array;
  self: Float64Array;
  total: Float64Array;
  selfSamples: Float64Array;
  samples: Float64Array;
}

export const ROOT_KEY = -1;

export function keysOf(frameCount: number, identity: (frame: number) => string): Keys {
  const known = new Map<string, number>();
  const of = new Int32Array(frameCount);
  const frame: number[] = [];
  for (let i = 0; i < frameCount; i++) {
    const text = identity(i);
    let key = known.get(text);
    if (key === undefined) {
      key = frame.length;
      known.set(text, key);
      frame.push(i);
    }
    of[i] = key;
  }
  return {count: frame.length, of, frame: Int32Array.from(frame)};
}

// `fold`: of each frame the group that it is folded into, or -1. Frames of one group that call each
// other become one node, with the key `keys.count` + group; what they call hangs below it.
export function shapeOf(nodes: StackNodes, keys: Keys, fold: Int32Array | null): Shape {
  const parent: number[] = [-1];
  const key: number[] = [ROOT_KEY];
  const of = new Int32Array(nodes.count);
  const joins: number[] = [0];
  const members = new Set<number>();
  const children = new Map<number, number>();
  // Groups hold frames, so there are no more of them.
  const stride = keys.count + keys.of.length;
  for (let node = 0; node < nodes.count; node++) {
    const above = nodes.parent[node] < 0 ? 0 : of[nodes.parent[node]];
    const frame = nodes.frame[node];
    const group = fold === null ? -1 : fold[frame];
    const own = group >= 0 ? keys.count + group : keys.of[frame];
    const place = above * stride + own;
    let found = group >= 0 && key[above] === own ? above : children.get(place);
    if (found === undefined) {
      found = parent.length;
      children.set(place, found);
      parent.push(above);
      key.push(own);
      joins.push(group >= 0 ? 0 : 1);
    }
    of[node] = found;
    const member = found * stride + keys.of[frame];
    if (group >= 0 && !members.has(member)) {
      members.add(member);
      joins[found]++;
    }
  }
  return {
    nodes, count: parent.length, parent: Int32Array.from(parent), key: Int32Array.from(key),
    joins: Uint32Array.from(joins), of,
  };
}

export interface Weighed {
  tree: FlameTree;
  // Of each node of the stack tree its node in `tree`; -1: nothing was sampled in or below it.
  of: Int32Array;
}

export function weighShape(shape: Shape, weights: Weights): Weighed {
  const self = new Float64Array(shape.count);
  const selfSamples = new Float64Array(shape.count);
  for (let node = 0; node < shape.of.length; node++) {
    self[shape.of[node]] += weights.time[node];
    selfSamples[shape.of[node]] += weights.samples[node];
  }
  const total = upwards(shape.parent, self);
  const samples = upwards(shape.parent, selfSamples);
  const frame = heaviestFrames(shape, upwards(shape.nodes.parent, weights.time));
  const placed = preorder(shape.parent, total, samples);
  const at = new Int32Array(shape.count).fill(-1);
  placed.forEach((node, i) => { at[node] = i; });
  const numbers = (values: Float64Array) => Float64Array.from(placed, (node) => values[node]);
  const parent = Int32Array.from(placed, (node) => node === 0 ? -1 : at[shape.parent[node]]);
  const tree = treeOf(parent, {
    key: Int32Array.from(placed, (node) => shape.key[node]),
    frame: Int32Array.from(placed, (node) => frame[node]),
    joins: Uint32Array.from(placed, (node) => shape.joins[node]),
    self: numbers(self), total: numbers(total),
    selfSamples: numbers(selfSamples), samples: numbers(samples),
  });
  return {tree, of: shape.of.map((node) => at[node])};
}

// Of the frames that a node joins, the one with the most time in and below it.
function heaviestFrames(shape: Shape, below: Float64Array): Int32Array {
  const {nodes, of} = shape;
  const best = new Int32Array(shape.count).fill(-1);
  const most = new Float64Array(shape.count).fill(-1);
  const sums = new Map<number, number>();
  for (let node = 0; node < nodes.count; node++) {
    const place = nodes.frame[node] * shape.count + of[node];
    const sum = (sums.get(place) ?? 0) + below[node];
    sums.set(place, sum);
    if (sum <= most[of[node]]) continue;
    most[of[node]] = sum;
    best[of[node]] = nodes.frame[node];
  }
  return best;
}

// The callers of each function: the nodes below everything are where samples were taken, and what
// hangs below a node called it. Paths of less time than `floor` are not followed further.
export function reverseTree(tree: FlameTree, floor: number): FlameTree {
  const out = new TreeBuilder();
  out.add(-1, {key: ROOT_KEY, frame: -1, joins: 0, time: tree.total[0], samples: tree.samples[0]});
  const leaves: number[] = [];
  for (let node = 1; node < tree.count; node++) {
    if (tree.self[node] > 0 || tree.selfSamples[node] > 0) leaves.push(node);
  }
  // Of each path being followed: where it has arrived, and where it began.
  interface Pending {parent: number; at: Int32Array; from: Int32Array}
  const pending: Pending[] = [];
  const follow = (parent: number, at: Int32Array, from: Int32Array) => {
    const groups = groupByKey(tree, at, from);
    for (let i = groups.length - 1; i >= 0; i--) pending.push({parent, ...groups[i]});
  };
  const joins = (at: Int32Array) => at.reduce((most, node) => Math.max(most, tree.joins[node]), 0);
  const all = Int32Array.from(leaves);
  follow(0, all, all);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const {parent, at, from} = next;
    if (at.length === 1) {
      // Most paths are soon the only ones of their kind.
      const [time, samples] = [tree.self[from[0]], tree.selfSamples[from[0]]];
      let below = parent;
      for (let each = at[0]; each > 0; each = time < floor ? 0 : tree.parent[each]) {
        below = out.add(below, {key: tree.key[each], frame: tree.frame[each], joins: tree.joins[each], time, samples});
      }
      continue;
    }
    let time = 0;
    let samples = 0;
    let frame = at[0];
    for (let i = 0; i < at.length; i++) {
      time += tree.self[from[i]];
      samples += tree.selfSamples[from[i]];
      if (tree.self[from[i]] > tree.self[frame]) frame = at[i];
    }
    const node = out.add(parent, {
      key: tree.key[at[0]], frame: tree.frame[frame], joins: joins(at), time, samples,
    });
    if (time < floor) continue;
    const above = at.map((each) => tree.parent[each]);
    const goes = (_: number, i: number) => above[i] > 0;
    const callers = above.filter(goes);
    if (callers.length > 0) follow(node, callers, from.filter(goes));
  }
  return out.finish();
}

// Heaviest first.
function groupByKey(tree: FlameTree, at: Int32Array, from: Int32Array):
    Array<{at: Int32Array; from: Int32Array}> {
  if (at.length === 1) return [{at, from}];
  const groups = new Map<number, {members: number[]; time: number; samples: number}>();
  for (let i = 0; i < at.length; i++) {
    let group = groups.get(tree.key[at[i]]);
    if (group === undefined) groups.set(tree.key[at[i]], group = {members: [], time: 0, samples: 0});
    group.members.push(i);
    group.time += tree.self[from[i]];
    group.samples += tree.selfSamples[from[i]];
  }
  return [...groups.values()].sort((a, b) => b.time - a.time || b.samples - a.samples)
      .map(({members}) => ({
        at: Int32Array.from(members, (i) => at[i]), from: Int32Array.from(members, (i) => from[i]),
      }));
}

// How many steps `reverseTree` takes at most.
export function reversingCost(tree: FlameTree): number {
  let steps = 0;
  for (let node = 1; node < tree.count; node++) {
    if (tree.self[node] > 0 || tree.selfSamples[node] > 0) steps += tree.depth[node];
  }
  return steps;
}

export interface Group {
  key: number;
  tree: FlameTree;
}

// One tree with a node for each group (a thread, a process) below everything, heaviest first.
export function joinTrees(groups: readonly Group[]): FlameTree {
  const out = new TreeBuilder();
  const sum = (pick: (tree: FlameTree) => number) => groups.reduce((all, {tree}) => all + pick(tree), 0);
  out.add(-1, {key: ROOT_KEY, frame: -1, joins: 0, time: sum(({total}) => total[0]),
               samples: sum(({samples}) => samples[0])});
  const order = [...groups].sort((a, b) => b.tree.total[0] - a.tree.total[0] ||
      b.tree.samples[0] - a.tree.samples[0]);
  for (const {key, tree} of order) {
    if (tree.samples[0] === 0 && tree.total[0] === 0) continue;
    const base = out.add(0, {key, frame: -1, joins: 0, time: tree.total[0], samples: tree.samples[0]});
    for (let node = 1; node < tree.count; node++) {
      out.add(base + tree.parent[node], {
        key: tree.key[node], frame: tree.frame[node], joins: tree.joins[node], time: tree.total[node],
        samples: tree.samples[node],
      });
    }
  }
  return out.finish();
}

interface NodeFacts {
  key: number;
  frame: number;
  joins: number;
  time: number;
  samples: number;
}

// Nodes come in preorder; what a node itself cost is what its children leave.
class TreeBuilder {
  private readonly parent: number[] = [];
  private readonly nodes: NodeFacts[] = [];

  add(parent: number, facts: NodeFacts): number {
    this.nodes.push(facts);
    return this.parent.push(parent) - 1;
  }

  finish(): FlameTree {
    const parent = Int32Array.from(this.parent);
    const total = Float64Array.from(this.nodes, ({time}) => time);
    const samples = Float64Array.from(this.nodes, (node) => node.samples);
    return treeOf(parent, {
      key: Int32Array.from(this.nodes, ({key}) => key), frame: Int32Array.from(this.nodes, ({frame}) => frame),
      joins: Uint32Array.from(this.nodes, ({joins}) => joins), total, samples,
      self: without(total, parent), selfSamples: without(samples, parent),
    });
  }
}

function without(total: Float64Array, parent: Int32Array): Float64Array {
  const self = total.slice();
  for (let node = 1; node < total.length; node++) self[parent[node]] -= total[node];
  // Sums in another order differ in their last bits.
  for (let node = 0; node < total.length; node++) if (self[node] < total[node] * 1e-9) self[node] = 0;
  return self;
}

function treeOf(parent: Int32Array,
                columns: Omit<FlameTree, 'count' | 'parent' | 'end' | 'depth'>): FlameTree {
  const end = Uint32Array.from(parent, (_, node) => node + 1);
  const depth = new Uint32Array(parent.length);
  for (let node = 1; node < parent.length; node++) depth[node] = depth[parent[node]] + 1;
  for (let node = parent.length - 1; node > 0; node--) {
    end[parent[node]] = Math.max(end[parent[node]], end[node]);
  }
  return {count: parent.length, parent, end, depth, ...columns};
}

// Adds what each node has to all above it. Parents come before their children.
export function upwards(parent: Int32Array, own: Float64Array): Float64Array {
  const sum = own.slice();
  for (let node = parent.length - 1; node >= 0; node--) {
    if (parent[node] >= 0) sum[parent[node]] += sum[node];
  }
  return sum;
}

// Nodes that were sampled, each before its children and these the heaviest first.
function preorder(parent: Int32Array, total: Float64Array, samples: Float64Array): number[] {
  const seen = (node: number) => total[node] > 0 || samples[node] > 0;
  const order = Array.from(parent.keys()).filter((node) => node > 0 && seen(node));
  // Lightest first, as each is put before what its parent has already.
  order.sort((a, b) => total[a] - total[b] || samples[a] - samples[b] || b - a);
  const first = new Int32Array(parent.length).fill(-1);
  const next = new Int32Array(parent.length).fill(-1);
  for (const node of order) {
    next[node] = first[parent[node]];
    first[parent[node]] = node;
  }
  const out = [0];
  const pending = [first[0]];
  while (pending.length > 0) {
    const node = pending.pop() as number;
    if (node < 0) continue;
    out.push(node);
    pending.push(next[node], first[node]);
  }
  return out;
}
