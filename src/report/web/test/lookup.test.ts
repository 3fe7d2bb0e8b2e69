import assert from 'node:assert/strict';
import {test} from 'node:test';

import {findLines, nextMatch} from '../src/lib/find.ts';
import {fuzzyMatch, splitLine} from '../src/lib/fuzzy.ts';
import {bucketAt, niceStep, stackHeight, threadsIn} from '../src/lib/timeline.ts';
import {buildTree, treeRows} from '../src/lib/tree.ts';
import {signFor, splitHidden, visible} from '../src/lib/visible.ts';
import {parseIndex} from '../src/data/report_index.ts';

test('fuzzy match finds subsequences and prefers whole words and the file name', () => {
  assert.equal(fuzzyMatch('xyz', 'simulate.py'), null);
  assert.deepEqual(fuzzyMatch('smp', 'simulate.py')?.at, [0, 2, 9]);
  const score = (query: string, text: string) => fuzzyMatch(query, text)?.score ?? -Infinity;
  assert.ok(score('io', 'pkg/io.py') > score('io', 'studio/pkg.py'));
  assert.ok(score('step', 'Simulation.step') > score('step', 'some_text_parser'));
  assert.equal(fuzzyMatch('', 'anything')?.score, 0);
});

test('find: lines that hold a text, and the next one around the ends', () => {
  const text = 'Alpha\nbeta alpha\n\nALPHA alpha\n';
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length;
  assert.deepEqual(findLines(text, lineOf, 'alpha'), [1, 2, 4]);
  assert.deepEqual(findLines(text, lineOf, ''), []);
  assert.deepEqual(findLines('\u0130x\n', () => 1, 'x'), [1]);
  assert.deepEqual([0, 1, 2, 4].map((from) => nextMatch([1, 2, 4], from, 1)), [0, 1, 2, 0]);
  assert.deepEqual([0, 1, 2, 4].map((from) => nextMatch([1, 2, 4], from, -1)), [2, 2, 0, 1]);
});

test('file:line', () => {
  assert.deepEqual(splitLine('io.py:83'), {name: 'io.py', line: 83});
  assert.deepEqual(splitLine(' io.py:83-86 '), {name: 'io.py', line: 83});
  assert.deepEqual(splitLine(':12'), {name: '', line: 12});
  assert.equal(splitLine('io.py'), null);
});

test('the tree joins chains of folders and folds', () => {
  const tree = buildTree(['/h/p/a/b/one.py', '/h/p/a/b/two.py', '/h/p/main.py']);
  const rows = treeRows(tree, new Set());
  assert.deepEqual(rows.map(({name, depth}) => [name, depth]),
                   [['a/b', 0], ['one.py', 1], ['two.py', 1], ['main.py', 0]]);
  assert.deepEqual(treeRows(tree, new Set([rows[0].key])).map(({name}) => name), ['a/b', 'main.py']);
});

test('hidden characters are named', () => {
  assert.equal(visible('a\u202eb\u0000'), 'aU+202Eb␀');
  assert.equal(visible('tab\tand é 😀 stay'), 'tab\tand é 😀 stay');
  assert.equal(signFor('\u007f'), '␡');
  assert.deepEqual(splitHidden('x\u2066y'), ['x', '\u2066', 'y']);
});

test('timeline arithmetic', () => {
  const data = {start: [0, 10, 30], end: [10, 20, 40], running: [5, 10, null], waiting: [5, 0, 0], gil: [0, 0, 0],
                gc: [0, 0, 0], idle: [0, 0, 0], stopped: [0, 0, 0],
                unknown: [0, 0, 0], samples: [1, 1, 1], file: [null, null, null], line: [null, null, null]};
  assert.equal(threadsIn(data, 'running', 0), 0.5);
  assert.ok(Number.isNaN(threadsIn(data, 'running', 2)));
  assert.equal(stackHeight(data, 0), 1);
  assert.deepEqual([-5, 0, 15, 22, 29, 99].map((at) => bucketAt(data, at)), [0, 0, 1, 1, 2, 2]);
  assert.equal(niceStep(20, 10), 2);
  assert.equal(niceStep(0.9, 4), 0.5);
});

test('an index that cannot be used says why', () => {
  const problem = (text: string | null) => {
    const result = parseIndex(text);
    return 'problem' in result ? result.problem : '';
  };
  assert.match(problem(null), /missing/);
  assert.match(problem('{"format": 1'), /damaged/);
  assert.match(problem('7'), /damaged/);
  assert.match(problem('{"format": 2}'), /format 2/);
  assert.match(problem('{"format": 1, "run": {}}'), /lacks totals/);
});
