import assert from 'node:assert/strict';
import {test} from 'node:test';

import {lineOrder, nextSort, sortRows} from '../src/lib/sort.ts';

const numbers = Float64Array.from([5, NaN, 9, 5, 0, NaN, 9]);

test('ascending and descending keep line order among equals', () => {
  assert.deepEqual([...sortRows(numbers, false)], [4, 0, 3, 2, 6, 1, 5]);
  assert.deepEqual([...sortRows(numbers, true)], [2, 6, 0, 3, 4, 1, 5]);
});

test('unknown texts come last in both directions', () => {
  const texts = ['b', null, 'a', 'b'];
  assert.deepEqual([...sortRows(texts, false)], [2, 0, 3, 1]);
  assert.deepEqual([...sortRows(texts, true)], [0, 3, 2, 1]);
});

test('names sort by alphabet, numbers in them by value', () => {
  const names = ['step_10', 'Step_2', 'alpha', 'step_1'];
  assert.deepEqual([...sortRows(names, false)].map((i) => names[i]), ['alpha', 'step_1', 'Step_2', 'step_10']);
});

test('infinities, all equal and none at all', () => {
  assert.deepEqual([...sortRows(Float64Array.from([Infinity, 1, -Infinity]), false)], [2, 1, 0]);
  assert.deepEqual([...sortRows(Float64Array.from([7, 7, 7]), true)], [0, 1, 2]);
  assert.equal(sortRows(new Float64Array(0), true).length, 0);
});

test('line order and its reverse', () => {
  assert.deepEqual([...lineOrder(3, false)], [0, 1, 2]);
  assert.deepEqual([...lineOrder(3, true)], [2, 1, 0]);
});

test('a heading sorts, then reverses', () => {
  const first = nextSort({column: 'source', descending: false}, 'time', true);
  assert.deepEqual(first, {column: 'time', descending: true});
  assert.deepEqual(nextSort(first, 'time', true), {column: 'time', descending: false});
});
