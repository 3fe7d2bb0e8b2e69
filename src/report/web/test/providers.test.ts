import assert from 'node:assert/strict';
import {test} from 'node:test';

import {checkAddress, isEndpoint, PROVIDERS, providerOf} from '../src/ai/providers.ts';

const provider = (id: 'openai' | 'anthropic' | 'ollama' | 'llamacpp') => providerOf({provider: id, address: ''});

test('what a piece of an answer says', () => {
  const openai = provider('openai');
  assert.equal(openai.piece('{"choices":[{"delta":{"content":"hi"}}]}').text, 'hi');
  assert.equal(openai.piece('{"choices":[{"delta":{"reasoning_content":"hm"}}]}').thinking, true);
  assert.equal(openai.piece('{"choices":[{"delta":{},"finish_reason":"length"}]}').ended, 'length');
  assert.equal(openai.piece('{"choices":[{"delta":{"content":"a"},"finish_reason":""}]}').ended, undefined);
  assert.equal(openai.piece('{"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}]}').text, 'whole');
  assert.deepEqual(openai.piece('[DONE]'), {ended: ''});
  assert.deepEqual(openai.piece('{"error":{"message":"no"}}'), {error: 'no'});
  const anthropic = provider('anthropic');
  assert.equal(anthropic.piece('{"type":"content_block_delta","delta":{"type":"text_delta","text":"hi"}}').text, 'hi');
  assert.equal(anthropic.piece('{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}').thinking, true);
  assert.equal(anthropic.piece('{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}').ended, 'max_tokens');
  assert.deepEqual(anthropic.piece('{"type":"ping"}'), {});
  assert.deepEqual(anthropic.piece('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'), {error: 'Overloaded'});
  const ollama = provider('ollama');
  assert.equal(ollama.piece('{"message":{"content":"hi"},"done":false}').text, 'hi');
  assert.equal(ollama.piece('{"message":{"content":""},"done":true,"done_reason":"stop"}').ended, 'stop');
  assert.deepEqual(ollama.piece('{"error":"model not found"}'), {error: 'model not found'});
});

test('any payload can be read: values of other shapes say nothing', () => {
  const values = ['', 'x', '{', 'null', '1', '"a"', '[]', '[[]]', '{}', '{"choices":1}', '{"choices":[null]}', '{"choices":[{"delta":"x"}]}',
                  '{"choices":[{"delta":{"content":{"a":1}}}]}', '{"message":7,"done":"yes"}', '{"type":"content_block_delta"}',
                  '{"type":"message","content":{"a":1}}', '{"error":null}', '{"error":false,"delta":{"stop_reason":3}}', '{"__proto__":{"text":"x"}}'];
  for (const each of PROVIDERS) {
    for (const value of values) {
      const piece = each.piece(value);
      assert.equal(piece.text ?? '', '', `${each.id} ${value}`);
      assert.equal(piece.error, undefined, `${each.id} ${value}`);
    }
    for (const value of [null, 1, {data: 1, models: 'x'}, {data: [null, {id: 7}], models: [{}, 1]}]) {
      assert.deepEqual(each.modelNames(value).filter((name) => name !== ''), [], each.id);
    }
  }
});

test('requests carry the key in a header only, and the text as it is', () => {
  for (const {id, ask, models} of PROVIDERS) {
    const connection = {provider: id, address: 'https://a.example/x', model: 'm', key: 'K-1'};
    const request = ask(connection, 'a "b"\n\u2028');
    assert.ok(request.url.startsWith('https://a.example/x/'));
    assert.deepEqual((JSON.parse(request.body ?? '') as {messages: unknown}).messages, [{role: 'user', content: 'a "b"\n\u2028'}]);
    assert.equal((request.url + request.body).includes('K-1'), false);
    assert.equal(JSON.stringify(request.headers).includes('K-1'), id !== 'ollama');
    assert.equal(models(connection).url.includes('K-1'), false);
    assert.equal(models({...connection, key: ''}).headers['authorization'], undefined);
  }
});

test('addresses: https, or this machine', () => {
  for (const [typed, address] of [[' https://api.example/v1/ ', 'https://api.example/v1'], ['http://localhost:11434', 'http://localhost:11434'],
                                  ['http://127.0.0.1:8080/v1//', 'http://127.0.0.1:8080/v1'], ['https://a.example/x?y#z', 'https://a.example/x']] as const) {
    assert.deepEqual(checkAddress(typed), {address});
  }
  for (const typed of ['', 'localhost:11434', 'http://10.0.0.1/', 'http://localhost.evil.example', 'https://u:p@a.example', 'javascript:alert(1)',
                       'data:text/html,x', 'file:///etc/passwd', 'ws://localhost', 'http://[::1]:8080', 'https://']) {
    assert.ok('problem' in checkAddress(typed), typed);
  }
});

test('what comes out of the history is checked', () => {
  assert.equal(isEndpoint({provider: 'ollama', address: 'x'}), true);
  for (const value of [null, 'x', {}, {provider: 'x', address: ''}, {provider: 'ollama', address: 1}]) assert.equal(isEndpoint(value), false);
});
