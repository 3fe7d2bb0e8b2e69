import assert from 'node:assert/strict';
import {test} from 'node:test';

import {parseFilter} from '../src/state/filter.ts';
import {DEFAULT_FLAME} from '../src/state/flame.ts';
import {formatFlame, parseFlame} from '../src/state/flame_url.ts';

const {zoom: _zoom, selected: _selected, ...opened} = DEFAULT_FLAME;

test('the look of the flame graph in the URL and back', () => {
  const looks = [
    opened,
    {...opened, shown: 'table' as const, callers: true, byLine: true},
    {...opened, order: 'time' as const, group: 'thread' as const, colours: 'heat' as const, fold: false},
    {...opened, opened: new Set(['json', 'a & b=c?#']), module: 'größe/x', search: '</script> 100 %'},
  ];
  for (const look of looks) assert.deepEqual(parseFlame(`#flame?thread=1&${formatFlame(look)}`), look);
  assert.equal(formatFlame(opened), '');
  assert.equal(formatFlame(looks[2]), 'order=time&group=thread&colours=heat&fold=0');
});

test('a look that cannot be understood is that of a report just opened', () => {
  for (const hash of ['', '#flame', '#flame?', '#flame?order=best&as=picture&group=&colours=x&callers=yes', '#flame?%E0%A4%A']) {
    assert.deepEqual(parseFlame(hash), opened, hash);
  }
});

test('a filter beside it is read', () => {
  assert.equal(parseFilter('#flame?thread=3&order=time&find=thread%3D4').thread, 3);
});
