import assert from 'node:assert/strict';
import test from 'node:test';

import {changeKey, Changes, fileChange} from '../src/data/changes.ts';
import {Container} from '../src/data/container.ts';
import type {ReportIndex} from '../src/data/index_types.ts';
import {container} from './make_container.ts';

test('rows of changes: noise, without a base, none at all', () => {
  const chunk = new Container(container({
    diff: ['f64', [5e6, -2e6, 1, 0]],
    diff_flags: ['u8', [0, 1, 2, 4]],
  }));
  const changes = new Changes(chunk);
  assert.deepEqual(changes.at(0), {delta: 5e6, noise: false, fresh: false});
  assert.deepEqual(changes.at(1), {delta: -2e6, noise: true, fresh: false});
  assert.deepEqual(changes.at(2), {delta: 1, noise: false, fresh: true});
  assert.equal(changes.at(3), null);
  assert.equal(changes.at(4), null);
  assert.ok(Number.isNaN(changeKey(changes.at(3))));
});

test('a chunk of a report that compares nothing has no changes', () => {
  assert.equal(new Changes(new Container(container({line: ['u32', [1]]}))).at(0), null);
});

test('files: unknown stays unknown', () => {
  const compare = {
    title: 'a', text: '', base: 1, delta: 1, noise: true, max_delta: 1,
    files: {base: [3, null, null], delta: [-1, 7, null], noise: [false, true, null]},
  };
  const index = {compare} as unknown as ReportIndex;
  assert.deepEqual(fileChange(index, 0), {delta: -1, noise: false, fresh: false});
  assert.deepEqual(fileChange(index, 1), {delta: 7, noise: true, fresh: true});
  assert.equal(fileChange(index, 2), null);
  assert.equal(fileChange({} as unknown as ReportIndex, 0), null);
});
