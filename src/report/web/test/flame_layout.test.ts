import assert from 'node:assert/strict';
import {test} from 'node:test';

import type {Boxes, Cells} from '../src/lib/flame_layout.ts';
import {
  boxAt, MIN_PIXELS, neighbour, pathTo, Sight, timeLayout, weightLayout, widestChild, widestPath,
} from '../src/lib/flame_layout.ts';
import {keysOf, shapeOf, weighShape} from '../src/lib/flame_tree.ts';
import type {Stacks} from './collapsed.ts';
import {sequence, stacks} from './collapsed.ts';

function treeOf({nodes, names, weights}: Stacks) {
  const keys = keysOf(names.length, (frame) => names[frame]);
  return {keys, ...weighShape(shapeOf(nodes, keys, null), weights)};
}

function randomStacks(seed: number, count: number): Stacks {
  const random = sequence(seed);
  const counts: Record<string, number> = {};
  for (let i = 0; i < count; i++) {
    const depth = 1 + Math.floor(random() * 12);
    const stack = Array.from({length: depth}, (_, k) => `f${Math.floor(random() * (1 + k % 4) * 2)}`).join(';');
    counts[stack] = (counts[stack] ?? 0) + Math.ceil(random() * 100);
  }
  return stacks(counts);
}

// Children lie in their parent, one row below, from left to right, without overlap.
function nested(boxes: Boxes, slack = 0): void {
  const free = new Map<number, number>();
  for (let box = 0; box < boxes.count; box++) {
    assert.ok(boxes.right[box] >= boxes.left[box]);
    const above = boxes.parent[box];
    if (above < 0) continue;
    assert.ok(box < boxes.end[above] && boxes.end[box] <= boxes.end[above]);
    assert.ok(boxes.left[box] >= boxes.left[above] - slack && boxes.right[box] <= boxes.right[above] + slack, `box ${box}`);
    // Lanes stand below each other.
    if (above > 0 || boxes.row[box] === boxes.row[above] + 1) {
      assert.ok(boxes.left[box] >= (free.get(above) ?? -Infinity) - slack, `box ${box} overlaps its sibling`);
      free.set(above, boxes.right[box]);
    }
    assert.ok(boxes.row[box] > boxes.row[above]);
  }
}

test('by weight: widths are totals, children fill their parent but for its own time', () => {
  const {tree} = treeOf(randomStacks(1, 400));
  const boxes = weightLayout(tree);
  nested(boxes);
  for (let box = 0; box < boxes.count; box++) {
    assert.ok(Math.abs(boxes.right[box] - boxes.left[box] - tree.total[box]) < 1e-6);
    let children = 0;
    for (let child = box + 1; child < boxes.end[box]; child = boxes.end[child]) children += boxes.right[child] - boxes.left[child];
    assert.ok(Math.abs(children + tree.self[box] - tree.total[box]) < 1e-6);
  }
});

test('by weight: the heaviest stands left', () => {
  const {tree} = treeOf(randomStacks(2, 300));
  const boxes = weightLayout(tree);
  for (let box = 0; box < boxes.count; box++) {
    let before = Infinity;
    for (let child = box + 1; child < boxes.end[box]; child = boxes.end[child]) {
      assert.ok(tree.total[child] <= before);
      before = tree.total[child];
    }
  }
});

function cellsOf(rows: ReadonlyArray<readonly [bucket: number, lane: number, node: number, time: number]>): Cells {
  return {
    count: rows.length, bucket: Uint32Array.from(rows, ([bucket]) => bucket), lane: Uint32Array.from(rows, ([, lane]) => lane),
    node: Int32Array.from(rows, ([, , node]) => node), time: Float64Array.from(rows, ([, , , time]) => time),
  };
}

test('by time: what goes on is one box, and a gap ends it', () => {
  const made = stacks({'main;a': 1, 'main;b': 1});
  const {tree, of} = treeOf(made);
  const [a, b] = [of[made.at('main;a')], of[made.at('main;b')]];
  const cells = cellsOf([[0, 0, a, 100], [1, 0, a, 60], [1, 0, b, 40], [2, 0, b, 100], [5, 0, a, 100]]);
  const boxes = timeLayout(tree, [{start: 0, end: 600}], cells, 100, {from: 0, to: 600}, 0);
  nested(boxes);
  const shown = Array.from({length: boxes.count}, (_, box) =>
    [boxes.row[box], boxes.node[box] >= tree.count ? 'lane' : boxes.node[box], boxes.left[box], boxes.right[box], boxes.value[box]]);
  const main = of[made.at('main')];
  assert.deepEqual(shown, [
    [0, 0, 0, 600, 400], [1, 'lane', 0, 600, 400],
    [2, main, 0, 300, 300], [3, a, 0, 160, 160], [3, b, 160, 300, 140],
    [2, main, 500, 600, 100], [3, a, 500, 600, 100],
  ]);
});

test('by time: small gaps of measuring are bridged, and widths never leave the bucket', () => {
  const made = stacks({'main;a': 1});
  const {tree, of} = treeOf(made);
  const a = of[made.at('main;a')];
  const boxes = timeLayout(tree, [{start: 0, end: 300}], cellsOf([[0, 0, a, 90], [1, 0, a, 250], [2, 0, a, 95]]),
                           100, {from: 0, to: 300}, 0);
  nested(boxes);
  assert.equal(boxes.count, 4);
  assert.deepEqual([boxes.left[3], boxes.right[3], boxes.value[3]], [0, 295, 435]);
});

test('by time: a lane for each thread, one below the other, and only what is in the span', () => {
  const made = stacks({'main;a;b': 1, 'run;c': 1});
  const {tree, of} = treeOf(made);
  const [b, c] = [of[made.at('main;a;b')], of[made.at('run;c')]];
  const cells = cellsOf([[0, 0, b, 100], [0, 2, c, 50], [1, 0, b, 100], [1, 2, c, 100], [3, 1, c, 100]]);
  const lanes = [{start: 0, end: 400}, {start: 300, end: 400}, {start: 0, end: 200}];
  const boxes = timeLayout(tree, lanes, cells, 100, {from: 50, to: 150}, 0);
  nested(boxes);
  const headers = Array.from(boxes.node.keys()).filter((box) => boxes.node[box] >= tree.count);
  assert.deepEqual(headers.map((box) => boxes.node[box] - tree.count), [0, 2]);
  const [, lower] = headers;
  for (let box = 0; box < lower; box++) assert.ok(boxes.row[box] < boxes.row[lower]);
  assert.equal(Math.min(...boxes.left), 50);
  assert.equal(Math.max(...boxes.right), 150);
  // Half of each of the first thread's buckets.
  assert.equal(boxes.value[headers[0]], 100);
});

test('by time: random samples nest, keep their sums, and narrow boxes are left out', () => {
  const made = randomStacks(3, 200);
  const {tree, of} = treeOf(made);
  const random = sequence(4);
  const rows: Array<[number, number, number, number]> = [];
  let sum = 0;
  for (let bucket = 0; bucket < 60; bucket++) {
    for (let lane = 0; lane < 3; lane++) {
      const nodes = Array.from({length: 6}, () => of[Math.floor(random() * made.nodes.count)]).filter((node) => node > 0);
      for (const node of new Set(nodes)) {
        const time = Math.ceil(random() * 15);
        sum += time;
        rows.push([bucket, lane, node, time]);
      }
    }
  }
  const lanes = [0, 1, 2].map(() => ({start: 0, end: 6000}));
  const all = timeLayout(tree, lanes, cellsOf(rows), 100, {from: 0, to: 6000}, 0);
  nested(all, 1e-9);
  assert.ok(Math.abs(all.value[0] - sum) < 1e-6);
  const wide = timeLayout(tree, lanes, cellsOf(rows), 100, {from: 0, to: 6000}, 20);
  nested(wide, 1e-9);
  assert.ok(wide.count < all.count);
  for (let box = 1; box < wide.count; box++) assert.ok(wide.parent[box] === 0 || wide.right[box] - wide.left[box] >= 20);
  const widerThan = (boxes: Boxes) => Array.from(boxes.left.keys()).filter((box) => boxes.right[box] - boxes.left[box] >= 20).length;
  assert.equal(widerThan(wide), widerThan(all));
});

test('only what is in sight and wide enough is drawn; the rest leaves thin runs', () => {
  const counts: Record<string, number> = {'main;big': 5000};
  for (let i = 0; i < 500; i++) counts[`main;s${i};deeper`] = 1;
  const {tree} = treeOf(stacks(counts));
  const boxes = weightLayout(tree);
  const sight = new Sight();
  sight.look(boxes, {from: 0, to: 5500, width: 1000, firstRow: 0, lastRow: 40});
  assert.equal(sight.count, 3);
  assert.equal(sight.thin.length, 3);
  assert.ok(Math.abs(sight.thin[1] - 1000 * 5000 / 5500) < 1e-3 && Math.abs(sight.thin[2] - 1000) < 1e-3);
  // One nanosecond is ten pixels wide.
  sight.look(boxes, {from: 5000, to: 5100, width: 1000, firstRow: 2, lastRow: 3});
  assert.equal(sight.count, 200);
  for (let i = 0; i < sight.count; i++) {
    assert.ok(boxes.row[sight.box[i]] >= 2 && sight.right[i] - sight.left[i] >= MIN_PIXELS);
  }
  sight.look(boxes, {from: 0, to: 5500, width: 1000, firstRow: 0, lastRow: 0});
  assert.equal(sight.count, 1);
});

test('more boxes than there was room for', () => {
  const counts: Record<string, number> = {};
  for (let i = 0; i < 3000; i++) counts[`s${i}`] = 1;
  const boxes = weightLayout(treeOf(stacks(counts)).tree);
  const sight = new Sight();
  sight.look(boxes, {from: 0, to: 3000, width: 6000, firstRow: 0, lastRow: 5});
  assert.equal(sight.count, 3001);
  assert.equal(sight.right[3000], 6000);
});

test('boxes are found by place, and reached from each other', () => {
  const made = stacks({'main;a;x': 6, 'main;a;y': 3, 'main;b;z': 2, 'other;c': 1});
  const {tree, of} = treeOf(made);
  const boxes = weightLayout(tree);
  const at = (stack: string) => of[made.at(stack)];
  assert.equal(boxAt(boxes, 7, 3), at('main;a;y'));
  assert.equal(boxAt(boxes, 7, 1), at('main'));
  assert.equal(boxAt(boxes, 11.5, 2), at('other;c'));
  assert.equal(boxAt(boxes, 11.5, 3), -1);
  assert.equal(boxAt(boxes, 12, 0), -1);
  assert.equal(widestChild(boxes, at('main;a')), at('main;a;x'));
  assert.equal(widestChild(boxes, at('main;a;x')), -1);
  assert.equal(widestPath(boxes, 0), at('main;a;x'));
  assert.equal(neighbour(boxes, at('main;a;y'), 1), at('main;b;z'));
  assert.equal(neighbour(boxes, at('main;b;z'), -1), at('main;a;y'));
  assert.equal(neighbour(boxes, at('other'), 1), -1);
  assert.equal(neighbour(boxes, at('main'), -1), -1);
  assert.deepEqual(pathTo(boxes.parent, at('main;a;y')), [0, at('main'), at('main;a'), at('main;a;y')]);
});
