import assert from 'node:assert/strict';
import {test} from 'node:test';

import {countVarints, decodeVarints, decodeWideVarints} from '../src/data/varint.ts';

test('one to five bytes', () => {
  const stream = [0, 0x7f, 0x80, 0x01, 0xac, 0x02, 0x80, 0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0x0f];
  assert.deepEqual([...decodeVarints(Uint8Array.from(stream), 6)],
                   [0, 127, 128, 300, 16384, 4294967295]);
});

test('bytes after the last number are not read', () => {
  assert.deepEqual([...decodeVarints(Uint8Array.from([5, 0x80]), 1)], [5]);
  assert.equal(decodeVarints(new Uint8Array(0), 0).length, 0);
});

test('a stream that ends inside a number, or too early, is refused', () => {
  assert.throws(() => decodeVarints(Uint8Array.from([0x80]), 1), /too early/);
  assert.throws(() => decodeVarints(Uint8Array.from([1]), 2), /too early/);
});

test('a number above 32 bits is refused', () => {
  assert.throws(() => decodeVarints(Uint8Array.from([0xff, 0xff, 0xff, 0xff, 0x10]), 1), /too long/);
  assert.throws(() => decodeVarints(Uint8Array.from([0x80, 0x80, 0x80, 0x80, 0x80, 1]), 1), /too long/);
});

test('wide numbers take ten bytes at most', () => {
  const largest = [...Array(9).fill(0xff), 0x01];
  assert.deepEqual([...decodeWideVarints(Uint8Array.from([0x80, 0x80, 0x80, 0x80, 0x20, ...largest]), 2)],
                   [2 ** 33, 2 ** 64]);
  assert.throws(() => decodeWideVarints(Uint8Array.from([...Array(10).fill(0xff), 1]), 1), /too long/);
  assert.throws(() => decodeWideVarints(Uint8Array.from([0xff]), 1), /too early/);
});

test('numbers are counted by their last bytes', () => {
  assert.equal(countVarints(Uint8Array.from([0, 0x80, 1, 0xff, 0xff, 3])), 3);
});
