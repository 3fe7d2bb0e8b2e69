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
             'stmt_start'),
    line: ['u32', []], 'm.time': ['f64', []], 'm.samples': ['f64', []], 'm.missing': ['u32', []],
    stmt_first: ['u32', []], stmt_last: ['u32', []],
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
