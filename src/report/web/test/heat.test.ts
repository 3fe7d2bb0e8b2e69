import assert from 'node:assert/strict';
import {test} from 'node:test';

import {barWidth, heat} from '../src/lib/heat.ts';

test('three decades below the largest value', () => {
  assert.equal(heat(100, 100), 1);
  assert.ok(Math.abs(heat(10, 100) - 2 / 3) < 1e-9);
  assert.ok(Math.abs(heat(1, 100) - 1 / 3) < 1e-9);
  assert.equal(heat(0.1, 100), 0.06);
  assert.equal(heat(1e-9, 100), 0.06);
  assert.equal(heat(200, 100), 1);
});

test('zero, unknown and negative values have no heat', () => {
  for (const value of [0, -0, -5, NaN]) {
    assert.equal(heat(value, 100), 0);
    assert.equal(barWidth(value, 100), 0);
  }
  for (const max of [0, null, NaN, -1]) {
    assert.equal(heat(5, max), 0);
    assert.equal(barWidth(5, max), 0);
  }
});

test('the bar is linear', () => {
  assert.equal(barWidth(25, 100), 0.25);
  assert.equal(barWidth(200, 100), 1);
});
