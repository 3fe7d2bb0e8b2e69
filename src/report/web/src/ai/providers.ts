// The servers that can be asked, as data: where they are, what a request to them looks like, and what a piece of their
// answer says.
import type {PayloadReader} from './stream.ts';
import {EventReader, JsonLineReader} from './stream.ts';

export type ProviderId = 'openai' | 'anthropic' | 'ollama' | 'llamacpp';

export interface Endpoint {
  provider: ProviderId;
  address: string;
}

export interface Connection extends Endpoint {
  model: string;
  // Empty: none. Only ever in memory.
  key: string;
}

export interface Request {
  url: string;
  headers: Record<string, string>;
  // null: a GET.
  body: string | null;
}

// What a piece of an answer says.
export interface Piece {
  text?: string;
  // The model works, but on nothing that is shown.
  thinking?: boolean;
  // The answer is whole; why it ended, in the server's word.
  ended?: string;
  error?: string;
}

export interface Provider {
  id: ProviderId;
  name: string;
  hint: string;
  address: string;
  key: 'needed' | 'possible' | 'none';
  modelNeeded: boolean;
  modelExample: string;
  ask: (connection: Connection, prompt: string) => Request;
  models: (connection: Connection) => Request;
  modelNames: (answer: unknown) => string[];
  reader: () => PayloadReader;
  piece: (payload: string) => Piece;
  // What to set so that the server lets a page of `origin` in.
  letIn: (origin: string) => string;
}

// Anthropic's API wants a bound; an answer is a few functions at most.
const MOST_TOKENS = 8192;

const JSON_TYPE = {'content-type': 'application/json'};

// Reads a JSON value of unknown shape: at(value, 'error', 'message').
export function at(value: unknown, ...path: Array<string | number>): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== 'object' || here === null) return undefined;
    here = (here as Record<string | number, unknown>)[step];
  }
  return here;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function errorOf(value: unknown): string {
  const error = at(value, 'error');
  if (error === undefined || error === null || error === false) return '';
  return text(error) || text(at(error, 'message')) || JSON.stringify(error);
}

function parse(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return undefined;
  }
}

function user(connection: Connection, prompt: string): object {
  return {model: connection.model, messages: [{role: 'user', content: prompt}], stream: true};
}

const openAi = {
  ask: (connection: Connection, prompt: string): Request => ({
    url: `${connection.address}/chat/completions`,
    headers: {...JSON_TYPE, ...bearer(connection)},
    body: JSON.stringify(user(connection, prompt)),
  }),
  models: (connection: Connection): Request =>
    ({url: `${connection.address}/models`, headers: bearer(connection), body: null}),
  modelNames: (answer: unknown) => list(at(answer, 'data')).map((each) => text(at(each, 'id'))),
  reader: () => new EventReader(),
  piece: (payload: string): Piece => {
    if (payload.trim() === '[DONE]') return {ended: ''};
    const value = parse(payload);
    const error = errorOf(value);
    if (error !== '') return {error};
    const choice = at(value, 'choices', 0);
    // `message` is that of an answer in one piece, of a server that does not stream.
    const message = at(choice, 'delta') ?? at(choice, 'message');
    const ended = at(choice, 'finish_reason');
    return {
      text: text(at(message, 'content')),
      thinking: text(at(message, 'reasoning_content') ?? at(message, 'reasoning')) !== '',
      ...(typeof ended === 'string' && ended !== '' ? {ended} : {}),
    };
  },
};

function bearer({key}: Connection): Record<string, string> {
  return key === '' ? {} : {authorization: `Bearer ${key}`};
}

function anthropicHeaders({key}: Connection): Record<string, string> {
  return {
    ...JSON_TYPE,
    'x-api-key': key,
    'anthropic-version': '2023-06-01',
    // Without it their API refuses pages.
    'anthropic-dangerous-direct-browser-access': 'true',
  };
}

export const PROVIDERS: readonly Provider[] = [
  {
    id: 'ollama', name: 'Ollama', hint: 'on this machine',
    address: 'http://localhost:11434', key: 'none', modelNeeded: true, modelExample: 'qwen3-coder',
    ask: (connection, prompt) => ({
      url: `${connection.address}/api/chat`, headers: JSON_TYPE, body: JSON.stringify(user(connection, prompt)),
    }),
    models: ({address}) => ({url: `${address}/api/tags`, headers: {}, body: null}),
    modelNames: (answer) => list(at(answer, 'models')).map((each) => text(at(each, 'name'))),
    reader: () => new JsonLineReader(),
    piece: (payload) => {
      const value = parse(payload);
      const error = errorOf(value);
      if (error !== '') return {error};
      return {
        text: text(at(value, 'message', 'content')),
        thinking: text(at(value, 'message', 'thinking')) !== '',
        ...(at(value, 'done') === true ? {ended: text(at(value, 'done_reason'))} : {}),
      };
    },
    // It takes no origin without a scheme, and a page from disk has none: only the star lets it in.
    letIn: (origin) => `Start Ollama with OLLAMA_ORIGINS=${origin === 'null' ? '"*"' : origin} in its environment ` +
        '(with systemd: systemctl edit ollama, then restart it).',
  },
  {
    id: 'llamacpp', name: 'llama.cpp', hint: 'on this machine',
    address: 'http://localhost:8080/v1', key: 'possible', modelNeeded: false, modelExample: 'the one it was started with',
    ...openAi,
    letIn: (origin) => 'Start llama-server without --cors-origins, or with ' +
        `--cors-origins ${origin === 'null' ? '\'*\'' : origin}.`,
  },
  {
    id: 'openai', name: 'OpenAI-compatible', hint: 'OpenAI, vLLM, LM Studio, …',
    address: 'https://api.openai.com/v1', key: 'possible', modelNeeded: true, modelExample: 'as the server names it',
    ...openAi,
    letIn: (origin) => `Let the server answer the origin ${origin} with Access-Control-Allow-Origin, ` +
        'and allow the headers authorization and content-type.',
  },
  {
    id: 'anthropic', name: 'Anthropic', hint: 'Messages API',
    address: 'https://api.anthropic.com', key: 'needed', modelNeeded: true, modelExample: 'claude-…',
    ask: (connection, prompt) => ({
      url: `${connection.address}/v1/messages`, headers: anthropicHeaders(connection),
      body: JSON.stringify({...user(connection, prompt), max_tokens: MOST_TOKENS}),
    }),
    models: (connection) =>
      ({url: `${connection.address}/v1/models?limit=100`, headers: anthropicHeaders(connection), body: null}),
    modelNames: openAi.modelNames,
    reader: () => new EventReader(),
    piece: (payload) => {
      const value = parse(payload);
      const error = errorOf(value);
      if (error !== '') return {error};
      const stop = at(value, 'delta', 'stop_reason');
      switch (at(value, 'type')) {
        case 'content_block_delta':
          return {text: text(at(value, 'delta', 'text')), thinking: at(value, 'delta', 'thinking') !== undefined};
        case 'message_delta': return typeof stop === 'string' ? {ended: stop} : {};
        case 'message_stop': return {ended: ''};
        // An answer in one piece.
        case 'message': return {
          text: list(at(value, 'content')).map((block) => text(at(block, 'text'))).join(''),
          ended: text(at(value, 'stop_reason')),
        };
        default: return {};
      }
    },
    letIn: () => 'An organisation can forbid pages to use its keys; ask whoever looks after yours.',
  },
];

export function providerOf({provider}: Endpoint): Provider {
  return PROVIDERS.find(({id}) => id === provider) ?? PROVIDERS[0]!;
}

export function isEndpoint(value: unknown): value is Endpoint {
  return PROVIDERS.some(({id}) => id === at(value, 'provider')) && typeof at(value, 'address') === 'string';
}

// The address as it is used, or what is wrong with it. The policy in the file has the same bounds.
export function checkAddress(typed: string): {address: string} | {problem: string} {
  let url: URL;
  try {
    url = new URL(typed.trim());
  } catch {
    return {problem: 'This is no address. It begins with https:// or http://localhost'};
  }
  const here = url.protocol === 'http:' && (url.hostname === 'localhost' || url.hostname === '127.0.0.1');
  if (url.protocol !== 'https:' && !here) {
    return {problem: 'Only https: addresses, and http: ones on this machine (localhost, 127.0.0.1), can be used.'};
  }
  if (url.username !== '' || url.password !== '') {
    return {problem: 'Leave name and password out of the address; the key has a field of its own.'};
  }
  return {address: url.origin + url.pathname.replace(/\/+$/, '')};
}
