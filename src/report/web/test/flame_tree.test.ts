// Trees of a flame graph: joining, folding, weighing, turning around. Names in pictures are frames,
// numbers what was sampled there.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import type {FlameTree, Keys} from '../src/lib/flame_tree.ts';
import {joinTrees, keysOf, reverseTree, reversingCost, shapeOf, weighShape} from '../src/lib/flame_tree.ts';
import {boundsHold, stacks} from './collapsed.ts';

// "main 10 (a 3, b 4)": total of each node, in the tree's order.
function picture(tree: FlameTree, name: (key: number) => string, values = tree.total): string {
  const draw = (node: number): string => {
    const children: string[] = [];
    for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) children.push(draw(child));
    return `${name(tree.key[node])} ${values[node]}${children.length > 0 ? ` (${children.join(', ')})` : ''}`;
  };
  return draw(0);
}

const naming = (names: readonly string[], keys: Keys, folds: readonly string[] = []) => (key: number) =>
  key < 0 ? 'all' : key >= keys.count ? `[${folds[key - keys.count]}]` : names[keys.frame[key]];

test('frames of one function are joined, and the hottest line stays known', () => {
  const {nodes, names, weights} = stacks({'main:1;f:10': 3, 'main:2;f:11': 9, 'main:2;g:20': 1, 'main:2': 2});
  const byFunction = keysOf(names.length, (frame) => names[frame].split(':')[0]);
  const {tree, of} = weighShape(shapeOf(nodes, byFunction, null), weights);
  assert.equal(picture(tree, (key) => key < 0 ? 'all' : names[byFunction.frame[key]].split(':')[0]),
               'all 15 (main 15 (f 12, g 1))');
  assert.deepEqual([...tree.frame].map((frame) => frame < 0 ? '' : names[frame]), ['', 'main:2', 'f:11', 'g:20']);
  assert.equal(of.length, nodes.count);
  for (let node = 0; node < nodes.count; node++) assert.equal(tree.key[of[node]], byFunction.of[nodes.frame[node]]);
  boundsHold(tree);
});

test('by line nothing is joined that stands on two lines', () => {
  const {nodes, names, weights} = stacks({'main:1;f:10': 3, 'main:2;f:11': 9});
  const keys = keysOf(names.length, (frame) => names[frame]);
  assert.equal(picture(weighShape(shapeOf(nodes, keys, null), weights).tree, naming(names, keys)),
               'all 12 (main:2 9 (f:11 9), main:1 3 (f:10 3))');
});

test('recursion keeps its depth', () => {
  const stack = Array.from({length: 1000}, () => 'f').join(';');
  const {nodes, names, weights} = stacks({[stack]: 5, 'f;f': 2});
  const keys = keysOf(names.length, (frame) => names[frame]);
  const {tree} = weighShape(shapeOf(nodes, keys, null), weights);
  assert.equal(tree.count, 1001);
  assert.equal(tree.depth[1000], 1000);
  assert.equal(tree.total[1], 7);
  boundsHold(tree);
});

test('chains of one package fold into one frame, and what they call hangs below it', () => {
  const {nodes, names, weights} = stacks({
    'main;json1;json2;hook': 4, 'main;json1;json3': 3, 'main;json1;os1;json2': 2, 'main;step': 8,
  });
  const keys = keysOf(names.length, (frame) => names[frame]);
  const packages = ['json', 'os'];
  const fold = Int32Array.from(names, (name) => packages.findIndex((each) => name.startsWith(each)));
  const {tree} = weighShape(shapeOf(nodes, keys, fold), weights);
  assert.equal(picture(tree, naming(names, keys, packages)),
               'all 17 (main 17 ([json] 9 (hook 4, [os] 2 ([json] 2)), step 8))');
  assert.deepEqual([...tree.joins], [0, 1, 3, 1, 1, 1, 1]);
  boundsHold(tree);
});

test('what was not sampled is not in the tree, also when all of it was not', () => {
  const {nodes, names, weights} = stacks({'a;b': 1, 'a;c': 0, 'd;e': 0});
  const keys = keysOf(names.length, (frame) => names[frame]);
  const shape = shapeOf(nodes, keys, null);
  const {tree, of} = weighShape(shape, weights);
  assert.equal(picture(tree, naming(names, keys)), 'all 1 (a 1 (b 1))');
  assert.equal([...of].filter((node) => node < 0).length, 3);
  const nothing = new Float64Array(nodes.count);
  const empty = weighShape(shape, {time: nothing, samples: nothing}).tree;
  assert.equal(picture(empty, naming(names, keys)), 'all 0');
  assert.equal(reverseTree(empty, 0).count, 1);
});

test('samples without time are in the tree', () => {
  const {nodes, names} = stacks({'a;b': 1, 'a;c': 1});
  const keys = keysOf(names.length, (frame) => names[frame]);
  const time = new Float64Array(nodes.count);
  const samples = Float64Array.from(time, (_, node) => node);
  const {tree} = weighShape(shapeOf(nodes, keys, null), {time, samples});
  assert.equal(picture(tree, naming(names, keys), tree.samples), 'all 3 (a 3 (c 2, b 1))');
});

test('callers: leaves on top, their callers below, nothing lost', () => {
  const {nodes, names, weights} = stacks({'main;a;leaf': 5, 'main;b;leaf': 3, 'main;b': 2, leaf: 1, 'main;a;leaf;leaf': 4});
  const keys = keysOf(names.length, (frame) => names[frame]);
  const {tree} = weighShape(shapeOf(nodes, keys, null), weights);
  const callers = reverseTree(tree, 0);
  assert.equal(picture(callers, naming(names, keys)),
               'all 15 (leaf 13 (a 5 (main 5), leaf 4 (a 4 (main 4)), b 3 (main 3)), b 2 (main 2))');
  assert.equal(callers.self[1], 1);
  boundsHold(callers);
  assert.ok(reversingCost(tree) >= 3 + 3 + 2 + 1 + 4);
});

test('callers of a thousand leaves at a thousand frames, cut at a floor', () => {
  const chain = Array.from({length: 1000}, (_, i) => `f${i % 7}`);
  const {nodes, names, weights} = stacks(Object.fromEntries(chain.map((_, i) => [chain.slice(0, i + 1).join(';'), 1])));
  const keys = keysOf(names.length, (frame) => names[frame]);
  const {tree} = weighShape(shapeOf(nodes, keys, null), weights);
  assert.equal(reversingCost(tree), 500_500);
  const whole = reverseTree(tree, 0);
  const cut = reverseTree(tree, 100);
  assert.equal(whole.total[0], 1000);
  boundsHold(whole);
  boundsHold(cut);
  assert.ok(cut.count < whole.count);
  for (let node = 1; node < cut.count; node++) assert.ok(cut.total[cut.parent[node]] >= 100);
});

test('groups stand beside each other, the heaviest first, the empty left out', () => {
  const {nodes, names, weights} = stacks({'a;b': 2, 'a;c': 6});
  const keys = keysOf(names.length, (frame) => names[frame]);
  const shape = shapeOf(nodes, keys, null);
  const part = (factor: number) => weighShape(shape, {
    time: weights.time.map((value) => value * factor), samples: weights.samples.map((value) => value * factor),
  }).tree;
  const joined = joinTrees([{key: -2, tree: part(1)}, {key: -3, tree: part(0)}, {key: -4, tree: part(3)}]);
  assert.equal(picture(joined, (key) => key === -1 ? 'all' : key < -1 ? `thread${key}` : names[keys.frame[key]]),
               'all 32 (thread-4 24 (a 24 (c 18, b 6)), thread-2 8 (a 8 (c 6, b 2)))');
  boundsHold(joined);
});
