import assert from 'node:assert/strict';
import {test} from 'node:test';

import {diffAgainstSource, partsOf} from '../src/ai/answer.ts';
import type {Subject} from '../src/ai/prompt.ts';
import {firstChoices, promptOf, subjectOf, tokensAbout} from '../src/ai/prompt.ts';
import {Container} from '../src/data/container.ts';
import type {ReportIndex} from '../src/data/index_types.ts';
import {SourceFile} from '../src/data/source.ts';
import {container} from './make_container.ts';

const TEXT = [
  'import math', 'from os import (', '    path,', ')', '', 'class Shop:', '    @cached', '    def total(self, items):', '        out = 0',
  '        for item in items:', '            out += math.floor(', '                item.price)', '        return out', '', 'print("```")', '',
].join('\n');

function source(): SourceFile {
  const utf8 = [...new TextEncoder().encode(TEXT)];
  const statements = [[1, 1], [2, 4], [6, 6], [8, 8], [9, 9], [10, 10], [11, 12], [13, 13], [15, 15]];
  return new SourceFile(new Container(container({
    file: ['u32', [0]], text: ['u8', utf8], text_start: ['u32', [0, utf8.length]],
    token_gap: ['u8', []], token_length: ['u8', []], token_class: ['u8', []],
    token_gap_start: ['u32', [0, 0]], token_length_start: ['u32', [0, 0]], token_class_start: ['u32', [0, 0]],
    line: ['u32', [11, 13]], line_start: ['u32', [0, 2]],
    'm.time': ['f64', [3e9, 1e9]], 'm.samples': ['f64', [3000, 1000]], 'm.missing': ['u32', [0, 0]],
    stmt_first: ['u32', statements.map(([first]) => first)], stmt_last: ['u32', statements.map(([, last]) => last)],
    stmt_start: ['u32', [0, statements.length]],
    def_line: ['u32', [6, 8]], def_last: ['u32', [13, 13]], def_function: ['u32', [0, 1]], def_start: ['u32', [0, 2]],
  })), 0, ['time', 'samples']);
}

const INDEX = {
  files: {label: ['shop.py'], path: ['/home/ada/shop.py']},
  totals: {time: 5e9, samples: 5000},
  run: {mode: 'wall', python: '3.13.0', elapsed: 5e9, host: 'ada-laptop'},
} as unknown as ReportIndex;

const subject = (line = 11): Subject => subjectOf(INDEX, source(), {file: 0, line});

test('what is asked about: the statement, the function with its decorators, the imports', () => {
  const about = subject();
  assert.deepEqual(about.statement, [11, 12]);
  assert.deepEqual(about.function, {name: 'total', lines: [7, 13]});
  assert.deepEqual(about.imports, [[1, 1], [2, 4]]);
  assert.deepEqual(subject(6).function, {name: 'Shop', lines: [6, 13]});
  assert.equal(subject(15).function, null);
  assert.deepEqual(subject(14).statement, [14, 14]);
});

test('the text holds what was chosen and nothing else', () => {
  const about = subject();
  const all = promptOf(about, INDEX, firstChoices(about));
  assert.match(all, /^How can this be made faster\?\n\nThe code, lines 11–12 of shop\.py, in total:\n\n```python\n            out \+= math\.floor\(\n                item\.price\)\n```/);
  assert.match(all, /- line 11: 3\.00 s, 60\.0%, 3,000 samples: out \+= math\.floor\(\n- line 13: 1\.00 s, 20\.0%, 1,000 samples: return out/);
  assert.match(all, /import math\nfrom os import \(\n    path,\n\)\n```/);
  assert.match(all, /Python 3\.13\.0, ran for 5\.00 s, 5,000 samples of wall time/);
  assert.doesNotMatch(all, /ada/);
  const none = promptOf(about, INDEX, {unit: 'statement', question: ' Why? ', surrounding: false, imports: false, wholeFile: false,
                                       measurements: false, run: false});
  assert.doesNotMatch(none, /def total|import|60\.0%|3\.13/);
  assert.match(none, /^Why\?\n\n/);
  // Fences in the source do not end those around it.
  const whole = promptOf(about, INDEX, {...firstChoices(about), wholeFile: true});
  assert.match(whole, /````python\nimport math[^]*print\("```"\)\n````/);
  assert.equal(tokensAbout('äöü'), 2);
});

test('parts of an answer, also of one that is still coming', () => {
  assert.deepEqual(partsOf('a\n\n```python\nx = 1\n```\nb'), [
    {kind: 'text', text: 'a'}, {kind: 'code', language: 'python', text: 'x = 1', closed: true}, {kind: 'text', text: 'b'}]);
  assert.deepEqual(partsOf('~~~~ Python3 title="x"\r\n```\r\n~~~\r\n~~~~'), [{kind: 'code', language: 'python3', text: '```\n~~~', closed: true}]);
  assert.deepEqual(partsOf('1. so:\n   ```py\n   x\n     y\n   ```'), [
    {kind: 'text', text: '1. so:'}, {kind: 'code', language: 'py', text: 'x\n  y', closed: true}]);
  assert.deepEqual(partsOf('```\nx'), [{kind: 'code', language: '', text: 'x', closed: false}]);
  assert.deepEqual(partsOf('a `b` ``` c'), [{kind: 'text', text: 'a `b` ``` c'}]);
  assert.deepEqual(partsOf(''), []);
  const text = 'a\n```python\nx = "```"\n```\nb\n\n~~~\ny\n~~~\n';
  for (let i = 0; i <= text.length; i++) assert.ok(partsOf(text.slice(0, i)).length <= 4);
});

const diff = (line: number, unit: 'statement' | 'function', code: string, language = 'python') => {
  const found = diffAgainstSource(subject(line), unit, code, language);
  return found === null ? null : {lines: found.lines, rows: found.rows.map(({sign, text}) => sign + text.trim())};
};

test('a whole function, at another margin', () => {
  assert.deepEqual(diff(11, 'function', 'def total(self, items):\n    return sum(item.price for item in items)\n'), {
    lines: [7, 13], rows: [
      '-@cached', ' def total(self, items):', '-out = 0', '-for item in items:', '-out += math.floor(', '-item.price)', '-return out',
      '+return sum(item.price for item in items)']});
});

test('a piece from within the function leaves the rest alone', () => {
  assert.deepEqual(diff(11, 'function', 'for item in items:\n    out += item.price\nreturn out'), {
    lines: [10, 13], rows: [' for item in items:', '-out += math.floor(', '-item.price)', '+out += item.price', ' return out']});
});

test('what replaces a statement may share nothing with it', () => {
  assert.deepEqual(diff(11, 'statement', 'total = compute()'), {
    lines: [11, 12], rows: ['-out += math.floor(', '-item.price)', '+total = compute()']});
});

test('an answer to the statement that gives the whole function', () => {
  assert.deepEqual(diff(11, 'statement', '    @cached\n    def total(self, items):\n        out = 0\n        for item in items:\n            out += item.price\n        return out')?.lines, [7, 13]);
});

test('what is no replacement is no diff', () => {
  assert.equal(diff(11, 'function', 'SELECT 1', 'sql'), null);
  assert.equal(diff(11, 'function', 'pip install numba'), null);
  assert.equal(diff(11, 'statement', 'def other():\n    pass'), null);
});
