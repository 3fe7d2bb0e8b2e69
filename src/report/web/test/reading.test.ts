// Folds and the confidence of small counts.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {confidenceText, isFew, wilson} from '../src/lib/confidence.ts';
import {findIn} from '../src/lib/find.ts';
import type {FoldMode, LineRange} from '../src/lib/fold.ts';
import {foldAt, foldsOf, statementAt} from '../src/lib/fold.ts';

test('Wilson\'s interval holds its published values', () => {
  // 10 of 100: Newcombe (1998) and every statistics package give 0.0552 to 0.1744.
  const close = (got: [number, number], low: number, high: number) => {
    assert.ok(Math.abs(got[0] - low) < 5e-5, `${got[0]} is not ${low}`);
    assert.ok(Math.abs(got[1] - high) < 5e-5, `${got[1]} is not ${high}`);
  };
  close(wilson(10, 100), 0.0552, 0.1744);
  close(wilson(81, 263), 0.2553, 0.3662);
  close(wilson(0, 20), 0, 0.1611);
  close(wilson(1, 29), 0.0061, 0.1718);
  close(wilson(20, 20), 0.8389, 1);
  assert.deepEqual(wilson(0, 0), [0, 1]);
});

test('confidence in words, with digits that tell the ends apart', () => {
  assert.equal(confidenceText(3, 1000), '3 samples: 0.1% to 0.9%');
  assert.equal(confidenceText(1, 1), '1 sample: 20.7% to 100%');
  assert.equal(confidenceText(3, 5000), '3 samples: 0.02% to 0.2%');
  assert.equal(confidenceText(40_000, 1_000_000), '40,000 samples: 3.96% to 4.04%');
  assert.equal(confidenceText(0, 100), '');
  assert.equal(confidenceText(NaN, 100), '');
  assert.equal(confidenceText(3, null), '');
  assert.equal(isFew(3), true);
  assert.equal(isFew(1000), false);
  assert.equal(isFew(0), false);
});

const ranges = (text: string): LineRange[] => text === '' ? [] : text.split(' ').map((part) => {
  const [first, last = first] = part.split('-').map(Number);
  return {first, last};
});
const words = (folds: readonly LineRange[]) => folds.map(({first, last}) => `${first}-${last}`).join(' ');

function folds(mode: FoldMode, hot: readonly number[], statements: string, definitions: string, lineCount: number,
               decorators: readonly number[] = []): string {
  return words(foldsOf({
    lineCount, statements: ranges(statements), definitions: ranges(definitions),
    hasTime: (line) => hot.includes(line), isDecorator: (line) => decorators.includes(line),
  }, mode));
}

test('all lines: nothing is folded', () => {
  assert.equal(folds('all', [], '1 2 3', '', 90), '');
});

test('hot lines keep their whole statement and the headers around them', () => {
  // def at 10 in a class at 5; the hot line is in the middle of a statement of three lines.
  assert.equal(folds('hot', [14], '5 10 11 13-15 20', '5-20 10-18', 30), '1-4 6-9 16-30');
  // A header of several lines, with a decorator.
  assert.equal(folds('hot', [14], '9 10-12 14', '10-18', 30, [9]), '1-8 15-30');
});

test('two lines are no shorter as a fold', () => {
  assert.equal(folds('hot', [1, 4], '1 2 3 4', '', 4), '');
  assert.equal(folds('hot', [1, 5], '1 2 3 4 5', '', 5), '2-4');
});

test('measured functions stay whole, a class only for its header', () => {
  assert.equal(folds('functions', [14], '5 10 14', '5-40 10-18 20-30', 50), '1-4 6-9 19-50');
  assert.equal(folds('functions', [], '5 10 14', '5-40 10-18', 50), '1-50');
});

test('a fold and a statement are found by a line of theirs', () => {
  const all = ranges('2-4 8-9');
  assert.deepEqual([1, 2, 4, 5, 8, 10].map((line) => foldAt(all, line)?.first ?? null), [null, 2, 2, null, 8, null]);
  assert.equal(statementAt([], 1), null);
});

test('what is searched for is found without overlap, whatever the case', () => {
  assert.deepEqual(findIn('aAaA b aa', 'aa'), [0, 2, 7]);
  assert.deepEqual(findIn('x', 'y'), []);
  // A lower-case form of another length: as it stands.
  assert.deepEqual(findIn('İx x', 'x'), [1, 3]);
});
