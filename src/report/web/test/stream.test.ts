import assert from 'node:assert/strict';
import {test} from 'node:test';

import type {PayloadReader} from '../src/ai/stream.ts';
import {EventReader, JsonLineReader} from '../src/ai/stream.ts';

function read(reader: PayloadReader, pieces: readonly string[]): string[] {
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
}

// All cuts of the text into two and three pieces, and into single characters.
function* cuts(text: string): Generator<string[]> {
  yield [...text];
  for (let i = 0; i <= text.length; i++) {
    yield [text.slice(0, i), text.slice(i)];
    for (let j = i; j <= text.length; j += 3) yield [text.slice(0, i), text.slice(i, j), text.slice(j)];
  }
}

const EVENTS = ': hello\n\nevent: a\ndata: {"x":1}\n\ndata:two\ndata: lines\nid: 4\n\ndata\n\n\nretry: 5\n\ndata:  [DONE]\n\n';
const DATA = ['{"x":1}', 'two\nlines', '', ' [DONE]'];

test('events are read whatever their line ends are and wherever they are cut', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    for (const pieces of cuts(EVENTS.replaceAll('\n', end))) {
      assert.deepEqual(read(new EventReader(), pieces), DATA, JSON.stringify(pieces));
    }
  }
});

test('the last event needs no blank line', () => {
  assert.deepEqual(read(new EventReader(), ['data: a\n\ndata: b']), ['a', 'b']);
  assert.deepEqual(read(new EventReader(), ['data: a\n\ndata: b\n']), ['a', 'b']);
});

test('an error field counts as data', () => {
  assert.deepEqual(read(new EventReader(), ['error: {"code":500}\n\n']), ['{"code":500}']);
});

test('an answer in one piece instead of events', () => {
  const whole = ' {\n  "choices": [\n\n  ]\n}\n';
  for (const pieces of cuts(whole)) {
    const payloads = read(new EventReader(), pieces);
    assert.deepEqual(payloads.map((each) => JSON.parse(each) as unknown), [{choices: []}], JSON.stringify(pieces));
  }
});

test('JSON lines are read wherever they are cut', () => {
  for (const pieces of cuts('{"a":"é😀"}\n\n{"b":2}\r\n{"c":3}')) {
    assert.deepEqual(read(new JsonLineReader(), pieces), ['{"a":"é😀"}', '{"b":2}', '{"c":3}'], JSON.stringify(pieces));
  }
});
