import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Container} from '../src/data/container.ts';
import {Metrics} from '../src/data/metrics.ts';
import {bytes, container} from './make_container.ts';

test('columns are views at their offsets', () => {
  const chunk = new Container(container({
    small: ['u8', [1, 2, 3]],
    rows: ['u32', [7, 4294967295]],
    values: ['f64', [0.5, -0, 1e15]],
  }));
  assert.deepEqual([...chunk.u8('small')], [1, 2, 3]);
  assert.deepEqual([...chunk.u32('rows')], [7, 4294967295]);
  assert.deepEqual([...chunk.f64('values')], [0.5, -0, 1e15]);
});

test('an empty directory and empty columns are fine', () => {
  assert.throws(() => new Container(container({})).u8('x'), /column x is missing/);
  assert.equal(new Container(container({none: ['u32', []]})).u32('none').length, 0);
});

test('strings are UTF-8, keep a leading U+FEFF and mark ill-formed bytes', () => {
  const texts = ['', 'é😀', '\ufeffx', '</script>'];
  const parts = texts.map((text) => [...new TextEncoder().encode(text)]);
  const start = [0];
  for (const part of parts) start.push(start[start.length - 1] + part.length);
  const chunk = new Container(container({name: ['u8', parts.flat()], name_start: ['u32', start]}));
  assert.deepEqual(chunk.strings('name'), texts);
  assert.equal(chunk.string('name', 1), 'é😀');
  const broken = new Container(container({name: ['u8', [0x61, 0xff]], name_start: ['u32', [0, 2]]}));
  assert.equal(broken.string('name', 0), 'a\ufffd');
});

test('groups', () => {
  const chunk = new Container(container({line_start: ['u32', [0, 2, 5]]}));
  assert.deepEqual(chunk.group('line', 1), [2, 5]);
  assert.throws(() => chunk.group('line', 2), RangeError);
});

test('what is cut or missing is named', () => {
  const whole = container({values: ['f64', [1, 2, 3]]});
  assert.throws(() => new Container(whole.subarray(0, whole.length - 8)), /column values is cut/);
  assert.throws(() => new Container(new Uint8Array(0)), /empty/);
  assert.throws(() => new Container(whole.subarray(0, 9)), /directory is damaged/);
  assert.throws(() => new Container(whole).u32('absent'), /column absent is missing/);
  assert.throws(() => new Container(whole).u32('values'), /another type/);
});

test('offsets that are odd, negative or too large are refused', () => {
  for (const entry of [['u8', 4, 1], ['u8', -8, 1], ['f64', 0, 1e9], ['u32', 0, -1]]) {
    assert.throws(() => new Container(bytes({x: entry}, new Uint8Array(8))), RangeError);
  }
});

test('an unknown type of section is left out', () => {
  const chunk = new Container(bytes({x: ['u16', 0, 1], y: ['u8', 0, 1]}, new Uint8Array(8)));
  assert.throws(() => chunk.u8('x'), /column x is missing/);
  assert.equal(chunk.u8('y').length, 1);
});

test('a flagged metric is NaN, a stored zero is 0', () => {
  const chunk = new Container(container({
    'm.time': ['f64', [5, 0, 0]],
    'm.samples': ['f64', [1, 0, 0]],
    'm.missing': ['u32', [0, 1, 2]],
  }));
  const metrics = new Metrics(chunk, ['time', 'samples']);
  assert.equal(metrics.get('time', 0), 5);
  assert.ok(Number.isNaN(metrics.get('time', 1)));
  assert.equal(metrics.get('samples', 1), 0);
  assert.equal(metrics.get('time', 2), 0);
  assert.ok(Number.isNaN(metrics.get('samples', 2)));
  assert.ok(Number.isNaN(metrics.get('total', 0)));
});
