import assert from 'node:assert/strict';
import {test} from 'node:test';

import {EVERYTHING} from '../src/data/stacks.ts';
import {isWhole, spanAround, withInSight, zoomed} from '../src/lib/span.ts';
import {filter, formatFilter, isFiltered, parseFilter, showFilter} from '../src/state/filter.ts';
import {parseRoute} from '../src/state/route.ts';

test('a filter in the URL and back', () => {
  const filters = [
    EVERYTHING,
    {...EVERYTHING, range: [100_000_000, 2_500_000_000] as const},
    {...EVERYTHING, range: [1, 86_400_000_000_001] as const},
    {...EVERYTHING, process: 0},
    {range: [0, 3_000_000_000] as const, process: 2, thread: 31, states: new Set(['gil', 'running'] as const)},
  ];
  for (const each of filters) assert.deepEqual(parseFilter(`#files${formatFilter(each)}`), each);
  assert.equal(formatFilter(EVERYTHING), '');
  assert.equal(formatFilter(filters[1]), '?time=0.1-2.5');
  assert.equal(formatFilter(filters[4]), '?time=0-3&process=2&thread=31&states=running,gil');
});

test('what cannot be understood selects nothing', () => {
  for (const hash of ['', '#files', '#f/1?', '#f/1?time=3-2', '#f/1?time=1-1', '#f/1?time=a-b', '#f/1?thread=-1',
                      '#f/1?states=dancing', '#f/1?thread=1e3', '#?=&&=', '#f/1?time=1e999-2']) {
    assert.equal(parseFilter(hash), EVERYTHING, hash);
  }
  assert.deepEqual(parseFilter('#f/1?states=dancing,gc&thread=x'), {...EVERYTHING, states: new Set(['gc'])});
});

test('the route does not see it', () => {
  assert.deepEqual(parseRoute('#f/1/12?time=1-2'), {view: 'source', file: 1, line: 12});
  assert.deepEqual(parseRoute('#functions?thread=1'), {view: 'functions'});
});

test('an equal filter is not a new one', () => {
  const first = {...EVERYTHING, thread: 1};
  showFilter(first);
  assert.equal(filter.value, first);
  assert.equal(isFiltered.value, true);
  showFilter({...EVERYTHING, thread: 1});
  assert.equal(filter.value, first);
  showFilter(EVERYTHING);
  assert.equal(isFiltered.value, false);
});

test('zoom keeps what is under the pointer, and stays in the run', () => {
  const run = {begin: 0, end: 1000};
  assert.deepEqual(zoomed(run, 0.5, 250, run, 10), {begin: 125, end: 625});
  assert.deepEqual(zoomed({begin: 125, end: 625}, 0.5, 250, run, 10), {begin: 187.5, end: 437.5});
  assert.deepEqual(zoomed({begin: 125, end: 625}, 100, 250, run, 10), run);
  assert.deepEqual(zoomed(run, 1e-9, 1000, run, 10), {begin: 990, end: 1000});
  assert.deepEqual(spanAround(990, 100, run), {begin: 900, end: 1000});
  assert.deepEqual(withInSight({begin: 100, end: 200}, 150, run), {begin: 100, end: 200});
  assert.deepEqual(withInSight({begin: 100, end: 200}, 300, run), {begin: 210, end: 310});
  assert.equal(isWhole(run, run), true);
  assert.equal(isWhole({begin: 0, end: 999}, run), false);
});
