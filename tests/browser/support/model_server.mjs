// A model server's double on loopback: speaks the four protocols by path, streams a given answer in pieces cut anywhere,
// and fails in the ways that real servers do. Keeps what it was asked.
import {createServer} from 'node:http';
import {once} from 'node:events';

const ALLOWED = {
  'access-control-allow-headers': 'authorization, content-type, x-api-key, anthropic-version, anthropic-dangerous-direct-browser-access',
  'access-control-allow-methods': 'GET, POST',
  'access-control-expose-headers': 'retry-after',
};

// Frames of an answer, by path: from a piece of its text, and for its end.
const sse = (value, event) => `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`;
const PROTOCOLS = {
  '/api/chat': {
    type: 'application/x-ndjson',
    piece: (content) => `${JSON.stringify({model: 'm', message: {role: 'assistant', content}, done: false})}\n`,
    end: (reason = 'stop') => `${JSON.stringify({model: 'm', message: {role: 'assistant', content: ''}, done: true, done_reason: reason})}\n`,
    error: (message) => `${JSON.stringify({error: message})}\n`,
  },
  '/v1/chat/completions': {
    type: 'text/event-stream',
    piece: (content) => `: keep-alive\r\n\r\n${sse({choices: [{index: 0, delta: {content}, finish_reason: null}]}).replaceAll('\n', '\r\n')}`,
    end: (reason = 'stop') => `${sse({choices: [{index: 0, delta: {}, finish_reason: reason}]})}data: [DONE]\n\n`,
    error: (message) => sse({error: {message, type: 'server_error'}}),
  },
  '/v1/messages': {
    type: 'text/event-stream',
    start: () => sse({type: 'message_start', message: {id: 'msg_1', content: []}}, 'message_start') +
        sse({type: 'content_block_start', index: 0, content_block: {type: 'text', text: ''}}, 'content_block_start') +
        sse({type: 'ping'}, 'ping'),
    piece: (text) => sse({type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text}}, 'content_block_delta'),
    end: (reason = 'end_turn') => sse({type: 'content_block_stop', index: 0}, 'content_block_stop') +
        sse({type: 'message_delta', delta: {stop_reason: reason}}, 'message_delta') + sse({type: 'message_stop'}, 'message_stop'),
    error: (message) => sse({type: 'error', error: {type: 'overloaded_error', message}}, 'error'),
  },
};

const MODELS = {
  '/api/tags': {models: [{name: 'qwen3-coder:30b'}, {name: 'llama3.3'}]},
  '/v1/models': {object: 'list', data: [{id: 'double-large'}, {id: 'double-small'}]},
};

export async function modelServer() {
  const state = {
    // What comes next: `refuse`: no CORS; `status`, `body`, `headers`: instead of an answer; `answer`: its text; `end`: why it ends;
    // `cut`: the connection breaks after the text; `fail`: an error amid the stream; `hold`: silence after the text.
    next: {answer: 'Nothing to gain.'},
    requests: [],
    closed: 0,
  };
  const sockets = new Set();
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const {pathname} = new URL(request.url, 'http://double');
    const body = Buffer.concat(chunks).toString();
    state.requests.push({method: request.method, path: pathname, headers: request.headers, body: body === '' ? null : JSON.parse(body)});
    const now = state.next;
    const cors = now.refuse ? {} : {'access-control-allow-origin': request.headers.origin ?? '*', ...ALLOWED};
    if (request.method === 'OPTIONS') return response.writeHead(now.refuse ? 403 : 204, cors).end();
    if (now.status !== undefined) {
      return response.writeHead(now.status, {'content-type': 'application/json', ...cors, ...now.headers}).end(now.body ?? '');
    }
    if (request.method === 'GET') {
      const models = MODELS[pathname];
      return response.writeHead(models === undefined ? 404 : 200, {'content-type': 'application/json', ...cors}).end(JSON.stringify(models ?? {}));
    }
    response.on('close', () => { state.closed++; });
    await stream(response, PROTOCOLS[pathname], now, cors);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address();
  return Object.assign(state, {
    address: `http://127.0.0.1:${port}`,
    posts: () => state.requests.filter(({method}) => method === 'POST'),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  });
}

async function stream(response, protocol, now, cors) {
  response.writeHead(200, {'content-type': protocol.type, ...cors});
  const write = async (text) => {
    const bytes = Buffer.from(text);
    // Small odd pieces: cut within lines, fields and characters.
    for (let at = 0; at < bytes.length && !response.destroyed; at += now.size ?? 61) {
      response.write(bytes.subarray(at, at + (now.size ?? 61)));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await write(protocol.start?.() ?? '');
  for (const piece of now.answer.match(/.{1,9}/gsu) ?? []) await write(protocol.piece(piece));
  if (now.hold) return;
  if (now.fail !== undefined) await write(protocol.error(now.fail));
  if (now.cut) {
    // A reset overtakes what was sent just before it.
    await new Promise((resolve) => setTimeout(resolve, 100));
    return response.destroy();
  }
  if (now.fail === undefined) await write(protocol.end(now.end));
  response.end();
}
