// From the report's stacks, the filter and the settings to what is drawn. Each stage is kept until
// something that it depends on changes.
import {useMemo} from 'preact/hooks';

import type {ReportIndex} from '../data/index_types.ts';
import type {Filter, StackData} from '../data/stacks.ts';
import {forEachCell} from '../data/stacks.ts';
import {plural} from '../lib/format.ts';
import {
  foldsOf, GROUP_TONE, haystackOf, libraryTone, markedKeys, matchingFrames, NATIVE, nodesUnder, paletteOf, sumWhere, TASK,
} from '../lib/flame_frames.ts';
import type {Folds, Palette} from '../lib/flame_frames.ts';
import type {Boxes, Span} from '../lib/flame_layout.ts';
import {timeLayout, weightLayout} from '../lib/flame_layout.ts';
import type {FlameTree, Keys, StackNodes, Weights} from '../lib/flame_tree.ts';
import {
  joinTrees, keysOf, reverseTree, reversingCost, ROOT_KEY, shapeOf, upwards, weighShape,
} from '../lib/flame_tree.ts';
import {processName, threadName} from '../lib/names.ts';
import {visible} from '../lib/visible.ts';
import type {FlameSettings, Step} from '../state/flame.ts';

export type NodeKind = 'all' | 'group' | 'fold' | 'project' | 'library' | 'native' | 'task';

export interface FlameModel {
  tree: FlameTree;
  boxes: Boxes;
  palette: Palette;
  // Of a node of the tree, or beyond it: a lane.
  key(node: number): number;
  label(node: number): string;
  tone(node: number): number;
  kind(node: number): NodeKind;
  // A fold's package.
  foldName(node: number): string | null;
  // Whether the search finds it; null: nothing is searched for.
  found: ((node: number) => boolean) | null;
  foundTime: number;
  foundFunctions: number;
  // Callers of what cost little are not followed to the end.
  cut: boolean;
}

// Steps that turning the tree around may take before small paths are cut.
const REVERSING_LIMIT = 3e6;
const CUT_SHARE = 2e-5;
// Boxes by time are made for a window this many times as wide as a screen.
const TIME_PIXELS = 20_000;

export function useFlameModel(index: ReportIndex, data: StackData, filter: Filter,
                              settings: FlameSettings): FlameModel {
  const {byLine, fold, opened, callers, order, group, module, search, shown} = settings;
  const {frames, tree: nodes} = data;
  const keys = useMemo(() => keysFor(data, byLine), [data, byLine]);
  const haystack = useMemo(() => haystackOf(frames), [data]);
  const palette = useMemo(() => paletteFor(data), [data]);
  const folds = useMemo(() => fold ? foldsOf(frames, opened) : null, [data, fold, opened]);
  const through = useMemo(() => module === null ? null : stacksThrough(data, module), [data, module]);
  const byTime = order === 'time' && shown === 'graph';
  const turned = callers && !byTime;
  const grouping = byTime ? 'all' : group;

  const weighed = useMemo(
      () => grouping === 'all' ?
          wholeTree(data, filter, through, keys, folds) :
          groupedTree(data, filter, through, keys, folds, grouping, turned),
      [data, filter, through, keys, folds, grouping, grouping !== 'all' && turned]);
  const whole = useMemo(() => turned && grouping === 'all' ? turnAround(weighed) : weighed, [weighed, turned, grouping]);
  const {tree} = whole;

  const span = byTime ? spanOf(index, data, filter, settings.zoom) : null;
  const boxes = useMemo(
      () => span === null ? weightLayout(tree) :
          layTime(index, data, filter, through, tree, weighed.of, span),
      [tree, weighed, span?.from, span?.to]);

  const marked = useMemo(() => matchingFrames(haystack, search), [haystack, search]);
  const found = useMemo(() => marked === null ? null : {
    keys: withFolds(markedKeys(marked, keys.of, keys.count), folds, marked),
    time: sumWhere(weighed.self, nodesUnder(nodes, marked)),
    functions: countFunctions(data, marked, weighed.self),
  }, [marked, keys, folds, weighed]);

  return useMemo(() => {
    const groupLabel = (id: number) => grouping === 'process' ? processName(index, id) : threadName(index, id);
    const isFold = (node: number) => tree.key[node] >= keys.count && tree.joins[node] > 1;
    const key = (node: number) => node < tree.count ? tree.key[node] : groupKey(node - tree.count);
    const foldName = (node: number) =>
      node < tree.count && isFold(node) ? folds?.names[tree.key[node] - keys.count] ?? null : null;
    return {
      tree, boxes, palette, key, foldName,
      label: (node) => {
        const itsKey = key(node);
        if (itsKey === ROOT_KEY) return 'All';
        if (itsKey < 0) return groupLabel(idOfGroup(itsKey));
        const name = foldName(node);
        if (name !== null) return `${visible(name)} · ${plural(tree.joins[node], byLine ? 'line' : 'function')}`;
        const frame = tree.frame[node];
        const line = byLine && frames.line[frame] > 0 ? `:${frames.line[frame]}` : '';
        return visible(frames.name(frame)) + line;
      },
      tone: (node) => {
        const itsKey = key(node);
        if (itsKey < 0) return GROUP_TONE;
        const name = foldName(node);
        return name === null ? palette.of[tree.frame[node]] : libraryTone(name);
      },
      kind: (node) => {
        const itsKey = key(node);
        if (itsKey === ROOT_KEY) return 'all';
        if (itsKey < 0) return 'group';
        if (isFold(node)) return 'fold';
        const frame = tree.frame[node];
        return frames.kind[frame] === NATIVE ? 'native' : frames.kind[frame] === TASK ? 'task' :
            frames.project[frame] === 1 ? 'project' : 'library';
      },
      found: found === null ? null : (node) => found.keys[key(node)] === 1,
      foundTime: found?.time ?? 0,
      foundFunctions: found?.functions ?? 0,
      cut: whole.cut,
    };
  }, [index, tree, boxes, palette, found, keys, folds, grouping]);
}

// Keys below ROOT_KEY are groups.
function groupKey(id: number): number {
  return ROOT_KEY - 1 - id;
}

function idOfGroup(key: number): number {
  return ROOT_KEY - 1 - key;
}

function keysFor({frames}: StackData, byLine: boolean): Keys {
  return keysOf(frames.count, (frame) =>
    byLine ? `${frames.owner[frame]}:${frames.line[frame]}` : String(frames.owner[frame]));
}

function paletteFor({frames, tree, cells}: StackData): Palette {
  const time = new Float64Array(frames.count);
  const below = new Float64Array(tree.count);
  for (let cell = 0; cell < cells.count; cell++) if (cells.node[cell] >= 0) below[cells.node[cell]] += cells.time[cell];
  for (let node = 0; node < tree.count; node++) time[tree.frame[node]] += below[node];
  return paletteOf(frames, time);
}

// Nodes whose stacks pass through the module.
function stacksThrough({frames, tree}: StackData, module: string): Uint8Array {
  const its = new Map<number, number>();
  const marked = new Uint8Array(frames.count);
  for (let frame = 0; frame < frames.count; frame++) {
    let is = its.get(frames.owner[frame]);
    if (is === undefined) its.set(frames.owner[frame], is = frames.module(frame) === module ? 1 : 0);
    marked[frame] = is;
  }
  return nodesUnder(tree, marked);
}

interface WholeTree {
  tree: FlameTree;
  // Of the stack tree: its node here, and what was sampled there.
  of: Int32Array;
  self: Float64Array;
  cut: boolean;
}

function wholeTree(data: StackData, filter: Filter, through: Uint8Array | null, keys: Keys,
                   folds: Folds | null): WholeTree {
  const {node, time, samples} = data.cells;
  const weights = {time: new Float64Array(data.tree.count), samples: new Float64Array(data.tree.count)};
  forEachCell(data, filter, (cell) => {
    const at = node[cell];
    if (at < 0 || (through !== null && through[at] === 0)) return;
    weights.time[at] += time[cell];
    weights.samples[at] += samples[cell];
  });
  const {tree, of} = weighShape(shapeOf(data.tree, keys, folds?.of ?? null), weights);
  return {tree, of, self: weights.time, cut: false};
}

function groupedTree(data: StackData, filter: Filter, through: Uint8Array | null, keys: Keys, folds: Folds | null,
                     grouping: 'process' | 'thread', turned: boolean): WholeTree {
  const {node, time, samples, thread} = data.cells;
  const self = new Float64Array(data.tree.count);
  const groups = new Map<number, Map<number, {time: number; samples: number}>>();
  forEachCell(data, filter, (cell) => {
    const at = node[cell];
    if (at < 0 || (through !== null && through[at] === 0)) return;
    self[at] += time[cell];
    const id = grouping === 'thread' ? thread[cell] : data.process[thread[cell]];
    let own = groups.get(id);
    if (own === undefined) groups.set(id, own = new Map());
    const sum = own.get(at);
    if (sum === undefined) own.set(at, {time: time[cell], samples: samples[cell]});
    else {
      sum.time += time[cell];
      sum.samples += samples[cell];
    }
  });
  let cut = false;
  const trees = [...groups].map(([id, own]) => {
    const {nodes, weights} = partOf(data.tree, own);
    const {tree} = weighShape(shapeOf(nodes, keys, folds?.of ?? null), weights);
    if (!turned) return {key: groupKey(id), tree};
    const reversed = turnAround({tree, of: new Int32Array(0), self, cut: false});
    cut ||= reversed.cut;
    return {key: groupKey(id), tree: reversed.tree};
  });
  return {tree: joinTrees(trees), of: new Int32Array(data.tree.count), self, cut};
}

// The stacks of a group alone: a group holds few of all nodes.
function partOf(tree: StackNodes, own: ReadonlyMap<number, {time: number; samples: number}>):
    {nodes: StackNodes; weights: Weights} {
  const wanted = new Set<number>();
  for (const node of own.keys()) {
    for (let each = node; each >= 0 && !wanted.has(each); each = tree.parent[each]) wanted.add(each);
  }
  const order = Int32Array.from(wanted).sort();
  const at = new Map(Array.from(order, (node, i) => [node, i]));
  return {
    nodes: {
      count: order.length, parent: order.map((node) => at.get(tree.parent[node]) ?? -1),
      frame: Uint32Array.from(order, (node) => tree.frame[node]),
    },
    weights: {
      time: Float64Array.from(order, (node) => own.get(node)?.time ?? 0),
      samples: Float64Array.from(order, (node) => own.get(node)?.samples ?? 0),
    },
  };
}

function turnAround(whole: WholeTree): WholeTree {
  const cut = reversingCost(whole.tree) > REVERSING_LIMIT;
  return {...whole, tree: reverseTree(whole.tree, cut ? CUT_SHARE * whole.tree.total[0] : 0), cut};
}

function spanOf(index: ReportIndex, data: StackData, {range}: Filter, zoom: readonly Step[]): Span {
  if (zoom.length > 0) return {from: zoom[zoom.length - 1].from, to: zoom[zoom.length - 1].to};
  if (range !== null) return {from: range[0], to: range[1]};
  const {begin, count, width} = data.buckets;
  const last = count === 0 ? 0 : begin[count - 1] + width;
  return {from: 0, to: Math.max(index.run.elapsed ?? last, 1)};
}

function layTime(index: ReportIndex, data: StackData, filter: Filter, through: Uint8Array | null, tree: FlameTree,
                 of: Int32Array, span: Span): Boxes {
  const {buckets, cells} = data;
  const chosen: number[] = [];
  forEachCell(data, filter, (cell) => {
    if (through === null || (cells.node[cell] >= 0 && through[cells.node[cell]] === 1)) chosen.push(cell);
  });
  const bucketOf = new Uint32Array(chosen.length);
  let bucket = 0;
  chosen.forEach((cell, i) => {
    while (buckets.start[bucket + 1] <= cell) bucket++;
    bucketOf[i] = Math.round(buckets.begin[bucket] / buckets.width);
  });
  const end = Math.max(index.run.elapsed ?? 0, buckets.count === 0 ? 0 : buckets.begin[buckets.count - 1] + buckets.width);
  const lanes = index.threads.map(({start, end: stop}) => ({start: start ?? 0, end: stop ?? end}));
  return timeLayout(tree, lanes, {
    count: chosen.length, bucket: bucketOf, lane: Uint32Array.from(chosen, (cell) => cells.thread[cell]),
    node: Int32Array.from(chosen, (cell) => cells.node[cell] < 0 ? -1 : of[cells.node[cell]]),
    time: Float64Array.from(chosen, (cell) => cells.time[cell]),
  }, buckets.width, span, (span.to - span.from) / TIME_PIXELS);
}

function withFolds(found: Uint8Array, folds: Folds | null, marked: Uint8Array): Uint8Array {
  if (folds === null) return found;
  const out = new Uint8Array(found.length + folds.names.length);
  out.set(found);
  out.set(markedKeys(marked, folds.of, folds.names.length), found.length);
  return out;
}

// Functions that the search found among those sampled.
function countFunctions({frames, tree}: StackData, marked: Uint8Array, self: Float64Array): number {
  const below = upwards(tree.parent, self);
  const owners = new Set<number>();
  for (let node = 0; node < tree.count; node++) {
    if (below[node] > 0 && marked[tree.frame[node]] === 1) owners.add(frames.owner[tree.frame[node]]);
  }
  return owners.size;
}

// The box that a path of steps leads to; where it ends early, as far as it goes.
export function follow({boxes, key}: FlameModel, steps: readonly Step[], byTime: boolean): number {
  let at = 0;
  if (steps.length === 0) return at;
  // Inside of every step, as each lies in the one before.
  const last = steps[steps.length - 1];
  const middle = (last.from + last.to) / 2;
  for (const step of steps) {
    let child = at + 1;
    while (child < boxes.end[at] && !(key(boxes.node[child]) === step.key &&
        (!byTime || (boxes.left[child] <= middle && middle <= boxes.right[child])))) {
      child = boxes.end[child];
    }
    if (child >= boxes.end[at]) break;
    at = child;
  }
  return at;
}

export function stepsTo({boxes, key}: FlameModel, box: number): Step[] {
  const steps: Step[] = [];
  for (let each = box; each > 0; each = boxes.parent[each]) {
    steps.push({key: key(boxes.node[each]), from: boxes.left[each], to: boxes.right[each]});
  }
  return steps.reverse();
}
