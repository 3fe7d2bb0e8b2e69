import assert from 'node:assert/strict';
import {test} from 'node:test';

import {decodeVarints} from '../src/data/varint.ts';

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
  assert.throws(() => decodeVarints(Uint8Array.from([0xff, 0xff, 0xff, 0xff, 0x10]), 1), /32 bits/);
  assert.throws(() => decodeVarints(Uint8Array.from([0x80, 0x80, 0x80, 0x80, 0x80, 1]), 1), /32 bits/);
});
