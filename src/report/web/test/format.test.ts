import assert from 'node:assert/strict';
import {test} from 'node:test';

import * as format from '../src/lib/format.ts';

test('time has three significant digits and one unit', () => {
  const cases: Array<[number | null, string]> = [
    [null, '–'], [NaN, '–'], [0, '0 s'], [1, '1 ns'], [999, '999 ns'], [1000, '1.00 µs'],
    [45_600_000, '45.6 ms'], [999_499_999, '999 ms'], [999_600_000, '1.00 s'], [1.234e9, '1.23 s'],
    [12.34e9, '12.3 s'], [999.4e9, '999 s'], [1000.2e9, '16.7 min'], [604_800e9, '10,080 min'],
    [-2e6, '−2.00 ms'], [0.4, '0.400 ns'],
  ];
  for (const [value, text] of cases) assert.equal(format.formatTime(value), text);
});

test('bytes are decimal', () => {
  const cases: Array<[number | null, string]> = [
    [null, '–'], [0, '0 B'], [999, '999 B'], [1000, '1.00 KB'], [1_000_000, '1.00 MB'],
    [368_700_000, '369 MB'], [999_600_000, '1.00 GB'], [-278_500, '−279 KB'], [5e15, '5,000 TB'],
  ];
  for (const [value, text] of cases) assert.equal(format.formatBytes(value), text);
});

test('a share needs a known part and a whole above zero', () => {
  assert.equal(format.formatShare(45.3, 100), '45.3%');
  assert.equal(format.formatShare(1, 10_000), '<0.1%');
  assert.equal(format.formatShare(0, 10), '0%');
  assert.equal(format.formatShare(10, 10), '100.0%');
  assert.equal(format.formatShare(null, 10), '–');
  assert.equal(format.formatShare(1, 0), '–');
  assert.equal(format.formatShare(1, null), '–');
});

test('counts and rates', () => {
  assert.equal(format.formatCount(27_966_976), '27,966,976');
  assert.equal(format.formatCount(0), '0');
  assert.equal(format.formatCount(null), '–');
  assert.equal(format.formatRate(997.2345), '997.2');
  assert.equal(format.formatRate(1000), '1,000');
  assert.equal(format.formatRate(null), '–');
});

test('moments tell neighbours apart', () => {
  assert.equal(format.formatMoment(12.3456e9, 0.04e9), '12.35 s');
  assert.equal(format.formatMoment(200e9, 100e9), '200 s');
});
