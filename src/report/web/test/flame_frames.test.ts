import assert from 'node:assert/strict';
import {test} from 'node:test';

import type {FrameFacts} from '../src/lib/flame_frames.ts';
import {
  foldsOf, GROUP_TONE, haystackOf, markedKeys, matchingFrames, NATIVE_TONE, nodesUnder, paletteOf, PROJECT_TONES, sumWhere,
  TASK_TONE, TONES,
} from '../src/lib/flame_frames.ts';
import {stacks} from './collapsed.ts';

const ROWS: ReadonlyArray<readonly [name: string, module: string, project: number, kind: number]> = [
  ['main', 'app.py', 1, 0], ['step', 'lib/step.py', 1, 0], ['_run_code', 'runpy', 0, 0], ['_find_and_load', 'importlib', 0, 0],
  ['loads', 'json', 0, 0], ['dumps', 'json', 0, 0], ['memcpy', 'libc', 0, 1], ['fetch 3', 'tasks', 0, 2],
];
const frames: FrameFacts = {
  count: ROWS.length, name: (i) => ROWS[i][0], place: (i) => `${ROWS[i][1]}:${i + 1}`, module: (i) => ROWS[i][1],
  project: Uint8Array.from(ROWS, ([, , project]) => project), kind: Uint8Array.from(ROWS, ([, , , kind]) => kind),
};

test('library frames fold by package; the project, native code and tasks do not', () => {
  const {of, names} = foldsOf(frames, new Set());
  assert.deepEqual([...of], [-1, -1, 0, 1, 2, 2, -1, -1]);
  assert.deepEqual(names, ['runpy', 'importlib', 'json']);
  assert.deepEqual([...foldsOf(frames, new Set(['importlib', 'json'])).of], [-1, -1, 0, -1, -1, -1, -1, -1]);
});

test('colours: modules of the project by their time, the rest by kind', () => {
  const palette = paletteOf(frames, Float64Array.from([1, 5, 9, 0, 2, 2, 4, 0]));
  assert.deepEqual(palette.modules.map(({name, tone}) => [name, tone]), [['lib/step.py', 0], ['app.py', 1]]);
  assert.equal(palette.of[4], palette.of[5]);
  for (const frame of [2, 3, 4]) {
    assert.ok(palette.of[frame] >= PROJECT_TONES && palette.of[frame] < NATIVE_TONE);
  }
  assert.deepEqual([palette.of[6], palette.of[7]], [NATIVE_TONE, TASK_TONE]);
  assert.equal(GROUP_TONE, TONES.length - 1);
});

test('search finds names, places and modules, whatever the case', () => {
  const haystack = haystackOf(frames);
  const found = (wanted: string) => [...matchingFrames(haystack, wanted) ?? []].flatMap((is, frame) => is ? [ROWS[frame][0]] : []);
  assert.deepEqual(found('LOADS'), ['loads']);
  assert.deepEqual(found(' json '), ['loads', 'dumps']);
  assert.deepEqual(found('step.py:2'), ['step']);
  assert.deepEqual(found('nothing'), []);
  assert.equal(matchingFrames(haystack, '  '), null);
  const marked = matchingFrames(haystack, 'json') as Uint8Array;
  assert.deepEqual([...markedKeys(marked, Int32Array.from([0, 1, 2, 3, 4, 4, -1, -1]), 5)], [0, 0, 0, 0, 1]);
});

test('a stack counts once, however often it holds a match', () => {
  const {nodes, names, weights} = stacks({'f;g;f': 3, 'f;h': 2, 'h;g': 4, 'h': 1});
  const marked = Uint8Array.from(names, (name) => name === 'f' ? 1 : 0);
  assert.equal(sumWhere(weights.time, nodesUnder(nodes, marked)), 5);
});
