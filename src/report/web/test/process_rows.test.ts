import assert from 'node:assert/strict';
import {test} from 'node:test';

import type {ReportIndex} from '../src/data/index_types.ts';
import {hasProcesses, processName, shortCommand, threadName} from '../src/lib/names.ts';
import {rowsOf, sampledProcesses} from '../src/lib/process_rows.ts';

const thread = (process: number, name: string, running: number) => ({process, name, tid: 7, running, samples: 1});

const INDEX = {
  processes: [
    {pid: 10, parent: null, command: ['/usr/bin/python3', 'a.py']}, {pid: 11, parent: 0, command: []},
    {pid: 12, parent: 1, command: ['sh']}, {pid: 13, parent: 0, command: ['python3', 'b\u202e.py']},
    {pid: 14, parent: 3, command: ['ls']}, {pid: 15, parent: null, command: ['python3']},
  ],
  threads: [thread(0, 'main', 5), thread(2, 'deep', 1), thread(0, 'busy', 9), thread(3, 'other', 0)],
} as unknown as ReportIndex;

test('each process is followed by its threads, the busiest first, and its children', () => {
  const rows = rowsOf(INDEX).map(({key, depth, threads}) => `${key} ${depth} [${threads.join(',')}]`);
  assert.deepEqual(rows, [
    'p0 0 [2,0]', 't2 1 [2]', 't0 1 [0]', 'p1 1 []', 'p2 2 [1]', 't1 3 [1]', 'p3 1 [3]', 't3 2 [3]', 'p4 2 []', 'p5 0 []',
  ]);
});

test('processes without samples are those with none below either', () => {
  assert.deepEqual([...sampledProcesses(INDEX)].sort(), [0, 1, 2, 3]);
});

test('a chain of ten thousand processes, and parents that are not there', () => {
  const processes = Array.from({length: 10_000}, (_, id) => ({pid: id, parent: id === 0 ? null : id - 1, command: []}));
  const chain = {processes, threads: [thread(9_999, 'last', 1)]} as unknown as ReportIndex;
  assert.equal(rowsOf(chain).length, 10_001);
  assert.equal(sampledProcesses(chain).size, 10_000);
  const broken = {processes: [{pid: 1, parent: 5, command: []}], threads: [thread(0, 'x', 1)]} as unknown as ReportIndex;
  assert.deepEqual([...sampledProcesses(broken)], [0, 5]);
});

test('names', () => {
  assert.equal(shortCommand(['/usr/bin/python3', '-m', 'x']), 'python3 -m x');
  assert.equal(processName(INDEX, 0), 'python3 a.py (10)');
  assert.equal(processName(INDEX, 3), 'python3 bU+202E.py (13)');
  assert.equal(threadName(INDEX, 1), 'deep (7 of 12)');
  assert.equal(threadName({...INDEX, processes: INDEX.processes.slice(0, 1)}, 0), 'main (7)');
  assert.match(threadName(INDEX, 99), /which this report has not/);
  assert.equal(hasProcesses(INDEX), true);
  assert.equal(hasProcesses({...INDEX, processes: [INDEX.processes[0]], threads: [INDEX.threads[0]]}), false);
});
