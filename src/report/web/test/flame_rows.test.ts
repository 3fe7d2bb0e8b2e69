import assert from 'node:assert/strict';
import {test} from 'node:test';

import {hasChildren, heavyPath, treeRows} from '../src/lib/flame_rows.ts';
import {keysOf, shapeOf, weighShape} from '../src/lib/flame_tree.ts';
import {stacks} from './collapsed.ts';

const made = stacks({'main;a;x': 6, 'main;a;y': 3, 'main;b': 2, 'other;c': 4});
const keys = keysOf(made.names.length, (frame) => made.names[frame]);
const {tree, of} = weighShape(shapeOf(made.nodes, keys, null), made.weights);
const at = (stack: string) => of[made.at(stack)];
const names = (nodes: Iterable<number>) => Array.from(nodes, (node) => made.names[tree.frame[node]]).join(' ');

test('only what is expanded has rows, with places among siblings', () => {
  const closed = treeRows(tree, new Set(), null, true);
  assert.equal(names(closed.node), 'main other');
  assert.deepEqual([[...closed.position], [...closed.size]], [[1, 2], [2, 2]]);
  const open = treeRows(tree, new Set([at('main'), at('other')]), null, true);
  assert.equal(names(open.node), 'main a b other c');
  // What is open below a closed row stays hidden.
  assert.equal(treeRows(tree, new Set([at('main;a')]), null, true).count, 2);
});

test('siblings are sorted, ties and parents keep their place', () => {
  const all = new Set(Array.from(tree.parent.keys()));
  assert.equal(names(treeRows(tree, all, null, false).node), 'other c main b a y x');
  assert.equal(names(treeRows(tree, all, tree.self, true).node), 'main b a x y other c');
  const byName = Array.from(tree.frame, (frame) => frame < 0 ? null : made.names[frame]);
  assert.equal(names(treeRows(tree, all, byName, true).node), 'other c main b a y x');
});

test('the way of most time', () => {
  assert.equal(names(heavyPath(tree, 0, 0.5, 9)), 'main a');
  assert.equal(names(heavyPath(tree, 0, 0.5, 1)), 'main');
  assert.equal(names(heavyPath(tree, 0, 0.9, 9)), '');
  assert.equal(hasChildren(tree, at('main;a;x')), false);
  assert.deepEqual(heavyPath(tree, at('main;a;x'), 0.5, 9), []);
});
