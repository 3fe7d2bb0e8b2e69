// Stack trees for tests, from collapsed stacks.
import assert from 'node:assert/strict';

import type {FlameTree, StackNodes, Weights} from '../src/lib/flame_tree.ts';

export interface Stacks {
  nodes: StackNodes;
  // Of each frame.
  names: string[];
  weights: Weights;
  // The node of a stack.
  at: (stack: string) => number;
}

// {"main;a": 3}: three samples, of one nanosecond each, in a, called by main.
export function stacks(counts: Readonly<Record<string, number>>): Stacks {
  const known = new Map<string, {name: string; children: string[]; count: number}>();
  const roots: string[] = [];
  for (const [stack, count] of Object.entries(counts)) {
    const parts = stack.split(';');
    parts.forEach((name, i) => {
      const path = parts.slice(0, i + 1).join(';');
      if (known.has(path)) return;
      known.set(path, {name, children: [], count: 0});
      if (i === 0) roots.push(path);
      else known.get(parts.slice(0, i).join(';'))?.children.push(path);
    });
    (known.get(stack) as {count: number}).count += count;
  }
  const names: string[] = [];
  const frames = new Map<string, number>();
  const parent: number[] = [];
  const frame: number[] = [];
  const own: number[] = [];
  const numbers = new Map<string, number>();
  const pending = roots.map((path) => ({path, above: -1})).reverse();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const {name, children, count} = known.get(next.path) as {name: string; children: string[]; count: number};
    if (!frames.has(name)) frames.set(name, names.push(name) - 1);
    const node = parent.push(next.above) - 1;
    numbers.set(next.path, node);
    frame.push(frames.get(name) as number);
    own.push(count);
    for (const path of [...children].reverse()) pending.push({path, above: node});
  }
  const time = Float64Array.from(own);
  return {
    nodes: {count: parent.length, parent: Int32Array.from(parent), frame: Uint32Array.from(frame)},
    names, weights: {time, samples: time.slice()},
    at: (stack) => numbers.get(stack) as number,
  };
}

// Numbers of a fixed sequence, 0 ≤ x < 1.
export function sequence(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

// What holds of every tree: preorder, and totals that are what is below plus the node's own.
export function boundsHold(tree: FlameTree): void {
  const total = tree.self.slice();
  const samples = tree.selfSamples.slice();
  for (let node = tree.count - 1; node > 0; node--) {
    const above = tree.parent[node];
    assert.ok(above >= 0 && above < node && node < tree.end[above] && tree.end[node] <= tree.end[above], `place of ${node}`);
    assert.equal(tree.depth[node], tree.depth[above] + 1);
    total[above] += total[node];
    samples[above] += samples[node];
  }
  total.forEach((sum, node) => assert.ok(Math.abs(sum - tree.total[node]) <= 1e-9 * tree.total[0], `total of ${node}`));
  samples.forEach((sum, node) => assert.ok(Math.abs(sum - tree.samples[node]) <= 1e-9 * tree.samples[0], `samples of ${node}`));
  for (let node = 0; node < tree.count; node++) {
    let before = Infinity;
    for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
      assert.ok(tree.total[child] <= before, `order below ${node}`);
      before = tree.total[child];
    }
  }
}
