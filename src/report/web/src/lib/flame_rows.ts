// Rows of a table that shows a tree: those whose ancestors are all expanded.
import type {FlameTree} from './flame_tree.ts';
import {sortRows} from './sort.ts';
import type {SortKeys} from './sort.ts';

export interface TreeRows {
  count: number;
  node: Uint32Array;
  // Position among its siblings, from 1, and how many these are.
  position: Uint32Array;
  size: Uint32Array;
}

export function hasChildren(tree: FlameTree, node: number): boolean {
  return tree.end[node] > node + 1;
}

// `keys`: of all nodes, what siblings are sorted by; null: the tree's order, the heaviest first.
export function treeRows(tree: FlameTree, expanded: ReadonlySet<number>, keys: SortKeys | null,
                         descending: boolean): TreeRows {
  const node: number[] = [];
  const position: number[] = [];
  const size: number[] = [];
  const pending: Array<{node: number; position: number; size: number}> = [];
  const open = (above: number) => {
    const children: number[] = [];
    for (let child = above + 1; child < tree.end[above]; child = tree.end[child]) children.push(child);
    const sorted = keys === null ? (descending ? children : children.reverse()) : sortSiblings(children, keys, descending);
    for (let i = sorted.length - 1; i >= 0; i--) pending.push({node: sorted[i], position: i + 1, size: sorted.length});
  };
  open(0);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    node.push(next.node);
    position.push(next.position);
    size.push(next.size);
    if (expanded.has(next.node)) open(next.node);
  }
  return {
    count: node.length, node: Uint32Array.from(node), position: Uint32Array.from(position), size: Uint32Array.from(size),
  };
}

function sortSiblings(children: number[], keys: SortKeys, descending: boolean): number[] {
  const own = keys instanceof Float64Array ? Float64Array.from(children, (child) => keys[child]) :
    children.map((child) => keys[child]);
  return Array.from(sortRows(own, descending), (i) => children[i]);
}

// The way down from `node` along the heaviest child, as long as it has most of the time: at most `levels`,
// for recursion goes down without end.
export function heavyPath(tree: FlameTree, node: number, share: number, levels: number): number[] {
  const path: number[] = [];
  for (let each = node; path.length < levels && hasChildren(tree, each);) {
    if (each > 0) path.push(each);
    let best = each + 1;
    for (let child = best; child < tree.end[each]; child = tree.end[child]) {
      if (tree.total[child] > tree.total[best]) best = child;
    }
    if (tree.total[best] < share * tree.total[each]) break;
    each = best;
  }
  return path;
}

