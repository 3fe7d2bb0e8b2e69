import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Container} from '../src/data/container.ts';
import {SourceFile} from '../src/data/source.ts';
import type {Sections} from './make_container.ts';
import {container} from './make_container.ts';

function sourceFile(text: string, extra: Sections = {}): SourceFile {
  const utf8 = [...new TextEncoder().encode(text)];
  const empty = (...names: string[]) => Object.fromEntries(
      names.map((name) => [name, ['u32', [0, 0]]] as const)) as Sections;
  const chunk = new Container(container({
    file: ['u32', [9]],
    text: ['u8', utf8], text_start: ['u32', [0, utf8.length]],
    token_gap: ['u8', []], token_length: ['u8', []], token_class: ['u8', []],
    ...empty('token_gap_start', 'token_length_start', 'token_class_start', 'line_start',
             'stmt_start', 'def_start'),
    line: ['u32', []], 'm.time': ['f64', []], 'm.samples': ['f64', []], 'm.missing': ['u32', []],
    stmt_first: ['u32', []], stmt_last: ['u32', []],
    def_line: ['u32', []], def_last: ['u32', []], def_function: ['u32', []],
    ...extra,
  }));
  return new SourceFile(chunk, 9, ['time', 'samples']);
}

test('lines are split at line feeds, without an empty last one', () => {
  for (const [text, lines] of [['', []], ['\n', ['']], ['a', ['a']], ['a\nb\n', ['a', 'b']],
                               ['a\n\nb', ['a', '', 'b']], ['x\f\v\u2028y\n', ['x\f\v\u2028y']]] as const) {
    const file = sourceFile(text);
    assert.equal(file.lineCount, lines.length, JSON.stringify(text));
    lines.forEach((line, i) => assert.equal(file.lineText(i + 1), line));
  }
});

test('the file asked for must be in the part', () => {
  const chunk = new Container(container({file: ['u32', [1]]}));
  assert.throws(() => new SourceFile(chunk, 2, []), RangeError);
});

test('values: measured, unmeasured in a statement, and outside of statements', () => {
  const file = sourceFile('x = (\n  1)\n\n# c\ny = 2\n', {
    line: ['u32', [1, 5]], line_start: ['u32', [0, 2]],
    'm.time': ['f64', [3e6, 0]], 'm.samples': ['f64', [3, 0]], 'm.missing': ['u32', [0, 1]],
    stmt_first: ['u32', [1, 5]], stmt_last: ['u32', [2, 5]], stmt_start: ['u32', [0, 2]],
  });
  assert.equal(file.value('time', 1), 3e6);
  assert.equal(file.value('samples', 2), 0);
  assert.ok(Number.isNaN(file.value('time', 2)));
  assert.equal(file.hasNumbers(2), true);
  assert.equal(file.hasNumbers(3), false);
  assert.equal(file.hasNumbers(4), false);
  assert.ok(Number.isNaN(file.value('samples', 4)));
  assert.equal(file.value('samples', 5), 0);
  assert.ok(Number.isNaN(file.value('time', 5)));
});

test('the line that holds an offset', () => {
  const file = sourceFile('ab\n\nc');
  assert.deepEqual([0, 2, 3, 4, 5].map((offset) => file.lineAt(offset)), [1, 1, 2, 3, 3]);
});

test('tokens are UTF-16 units, may span lines, and plain text stays between them', () => {
  const text = 'é = "😀\nx" # c\n';
  const file = sourceFile(text, {
    token_gap: ['u8', [4, 1]], token_gap_start: ['u32', [0, 2]],
    token_length: ['u8', [6, 3]], token_length_start: ['u32', [0, 2]],
    token_class: ['u8', [2, 4]], token_class_start: ['u32', [0, 2]],
  });
  const spans = (line: number) => file.tokens.spans(text, file.lineOffset(line), file.lineEnd(line))
                                      .map((span) => [span.text, span.tokenClass]);
  assert.deepEqual(spans(1), [['é = ', -1], ['"😀', 2]]);
  assert.deepEqual(spans(2), [['x"', 2], [' ', -1], ['# c', 4]]);
});

test('the widest line counts tabs and wide characters', () => {
  assert.equal(sourceFile('ab\n\tx\n').width, 6);
  assert.ok(sourceFile('你好\nabc\n').width >= 4);
});

test('expressions: offsets in the text, cut at the end of their line; none in reports without them', () => {
  const text = 'a\né = f(\n x)\n';
  const rows: Sections = {
    line: ['u32', [2]], line_start: ['u32', [0, 1]],
    'm.time': ['f64', [4e6]], 'm.samples': ['f64', [4]], 'm.missing': ['u32', [0]],
  };
  assert.deepEqual(sourceFile(text, rows).expressions(2), []);
  const file = sourceFile(text, {
    ...rows, expr_start: ['u32', [0, 3]],
    expr_column: ['u32', [4, 0, 90]], expr_end_line: ['u32', [3, 2, 2]], expr_end_column: ['u32', [3, 99, 95]],
    expr_time: ['f64', [3e6, 1e6, 0]], expr_samples: ['f64', [3, 1, 0]],
  });
  assert.deepEqual(file.expressions(2), [
    {from: 6, to: 8, goesOn: true, time: 3e6, samples: 3},
    {from: 2, to: 8, goesOn: false, time: 1e6, samples: 1},
  ]);
  assert.deepEqual(file.expressions(1), []);
});

test('links: offsets in the text and what they lead to', () => {
  const file = sourceFile('f(g)\nlong_name()\n', {
    link_gap: ['u8', [0, 1, 2]], link_gap_start: ['u32', [0, 3]],
    link_length: ['u8', [1, 1, 9]], link_length_start: ['u32', [0, 3]],
    link_target: ['u8', [1, 0, 1]], link_target_start: ['u32', [0, 3]],
    target_file: ['u32', [4, 9]], target_line: ['u32', [7, 300]], target_start: ['u32', [0, 2]],
  });
  const rows = (from: number, to: number) => file.linksIn(from, to)
      .map((link) => `${file.text.slice(link.from, link.to)} ${link.file}:${link.line}`);
  assert.deepEqual(rows(0, 4), ['f 9:300', 'g 4:7']);
  assert.deepEqual(rows(5, 16), ['long_name 9:300']);
  assert.deepEqual(rows(1, 2), []);
  assert.deepEqual(sourceFile('f()\n').linksIn(0, 3), []);
});

test('the innermost definition around a line', () => {
  const file = sourceFile('class A:\n  def f(self):\n    pass\n\nx = 1\n', {
    def_line: ['u32', [1, 2]], def_last: ['u32', [3, 3]], def_function: ['u32', [0xffffffff, 7]],
    def_start: ['u32', [0, 2]],
  });
  assert.deepEqual([1, 2, 3, 4, 5].map((line) => file.definitionAt(line)?.id), [null, 7, 7, undefined, undefined]);
});
