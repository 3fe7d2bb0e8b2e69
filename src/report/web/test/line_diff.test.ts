import assert from 'node:assert/strict';
import {test} from 'node:test';

import type {DiffRow} from '../src/lib/line_diff.ts';
import {diffLines} from '../src/lib/line_diff.ts';

const shown = (rows: readonly DiffRow[]) => rows.map(({sign, text}) => sign + text).join(' ');
const side = (rows: readonly DiffRow[], sign: '-' | '+') =>
    rows.filter((row) => row.sign === ' ' || row.sign === sign).map(({text}) => text);

// Length of the longest common subsequence, the slow way.
function longestCommon(a: readonly string[], b: readonly string[]): number {
  let last = new Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    const next = [0];
    b.forEach((other, j) => next.push(line === other ? last[j] + 1 : Math.max(last[j + 1], next[j])));
    last = next;
  }
  return last[b.length];
}

test('changes', () => {
  assert.equal(shown(diffLines(['a', 'b', 'c'], ['a', 'x', 'c'])), ' a -b +x  c');
  assert.equal(shown(diffLines([], ['a'])), '+a');
  assert.equal(shown(diffLines(['a'], [])), '-a');
  assert.equal(shown(diffLines([], [])), '');
  assert.equal(shown(diffLines(['a', 'b'], ['a', 'b'])), ' a  b');
});

test('both sides come out again, with as many common lines as there can be', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor(seed / 2 ** 32 * below);
  };
  for (let round = 0; round < 400; round++) {
    const list = () => Array.from({length: random(14)}, () => 'abcd'[random(4)]);
    const [before, after] = [list(), list()];
    const rows = diffLines(before, after);
    assert.deepEqual(side(rows, '-'), before);
    assert.deepEqual(side(rows, '+'), after);
    assert.equal(rows.filter(({sign}) => sign === ' ').length, longestCommon(before, after), `${before.join('')} ${after.join('')}`);
  }
});

test('what has nothing in common ends at its bound', () => {
  const rows = diffLines(Array.from({length: 3000}, (_, i) => `a${i}`), Array.from({length: 3000}, (_, i) => `b${i}`));
  assert.equal(rows.length, 6000);
});
