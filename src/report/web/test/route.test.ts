import assert from 'node:assert/strict';
import {test} from 'node:test';

import {formatRoute, parseRoute, sourceHref} from '../src/state/route.ts';

test('views and lines', () => {
  assert.deepEqual(parseRoute('#files'), {view: 'files'});
  assert.deepEqual(parseRoute('#functions'), {view: 'functions'});
  assert.deepEqual(parseRoute('#about'), {view: 'about'});
  assert.deepEqual(parseRoute('#f/12'), {view: 'source', file: 12, line: null});
  assert.deepEqual(parseRoute('#f/12/83'), {view: 'source', file: 12, line: 83});
});

test('what cannot be understood leads somewhere sensible', () => {
  for (const hash of ['', '#', '#nowhere', '#f', '#f/x', '#f/-1', '#f/1e9', '#f/99999999999', '#<script>']) {
    assert.deepEqual(parseRoute(hash), {view: 'overview'}, hash);
  }
  assert.deepEqual(parseRoute('#f/3/x'), {view: 'source', file: 3, line: null});
  assert.deepEqual(parseRoute('#f/3/0'), {view: 'source', file: 3, line: null});
});

test('there and back', () => {
  for (const hash of ['#overview', '#files', '#f/0', '#f/7/1']) {
    assert.equal(formatRoute(parseRoute(hash)), hash);
  }
  assert.equal(sourceHref(2, 5), '#f/2/5');
});
