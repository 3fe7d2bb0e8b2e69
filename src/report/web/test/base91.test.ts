import assert from 'node:assert/strict';
import {test} from 'node:test';

import {fromBase91} from '../src/data/base91.ts';

test('what the format says', () => {
  assert.deepEqual([...fromBase91('')], []);
  assert.deepEqual([...fromBase91('!!')], [0]);
  assert.deepEqual([...fromBase91('~!')], [90]);
  assert.deepEqual([...fromBase91('!"')], [91]);
  assert.deepEqual([...fromBase91('"~)')], [255, 255]);
  assert.deepEqual([...fromBase91('!'.repeat(16))], new Array(13).fill(0));
});

test('other characters are refused', () => {
  for (const text of ['<!', '!&', '!!\\', '! ', '!\u00e9', '\u4e00!']) assert.throws(() => fromBase91(text), /foreign character/);
});
