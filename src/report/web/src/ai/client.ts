// Asks a model and brings its answer piece by piece. This is the only code of the page that opens a connection.
import type {Connection, Provider, Request} from './providers.ts';
import {errorOf, providerOf} from './providers.ts';

export type Outcome =
    {kind: 'done'} |
    // `text` says what happened and what to do, in sentences.
    {kind: 'cut' | 'failed'; text: string} |
    {kind: 'stopped'};

export interface AskOptions {
  signal: AbortSignal;
  onText: (text: string) => void;
  onThinking: () => void;
}

// A model on this machine may have to be read from disk first.
const FIRST_BYTE_MS = 180_000;
const NEXT_BYTE_MS = 60_000;
// No suggestion is that long; an endless answer would fill the memory.
const LONGEST_ANSWER = 400_000;
const LONGEST_ERROR = 600;

class Problem extends Error {}

export async function ask(connection: Connection, prompt: string, options: AskOptions): Promise<Outcome> {
  const provider = providerOf(connection);
  const watch = new Watch(options.signal);
  try {
    const response = await send(connection, provider.ask(connection, prompt), watch);
    return await readAnswer(provider, response, watch, options);
  } catch (error) {
    if (options.signal.aborted) return {kind: 'stopped'};
    return {kind: 'failed', text: clean(connection, watch.expired ? watch.said() : sentence(error))};
  } finally {
    watch.end();
  }
}

export async function listModels(connection: Connection, signal: AbortSignal): Promise<string[]> {
  const provider = providerOf(connection);
  const watch = new Watch(signal);
  try {
    const response = await send(connection, provider.models(connection), watch);
    const names = provider.modelNames(await response.json().catch(() => null));
    return names.filter((name) => name !== '').sort();
  } catch (error) {
    throw new Problem(clean(connection, watch.expired ? watch.said() : sentence(error)));
  } finally {
    watch.end();
  }
}

// Aborts when the user does, or when nothing came for too long.
class Watch {
  expired = false;
  private readonly controller = new AbortController();
  private timer = 0;
  private limit = FIRST_BYTE_MS;

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.controller.abort(), {once: true});
    if (signal.aborted) this.controller.abort();
    this.start();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  heard(): void {
    this.limit = NEXT_BYTE_MS;
    this.start();
  }

  said(): string {
    return `The server sent nothing for ${this.limit / 1000} seconds, so the connection was closed.`;
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private start(): void {
    clearTimeout(this.timer);
    this.timer = self.setTimeout(() => {
      this.expired = true;
      this.controller.abort();
    }, this.limit);
  }
}

async function send(connection: Connection, {url, headers, body}: Request, watch: Watch): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: body === null ? 'GET' : 'POST', headers, body, signal: watch.signal, mode: 'cors', credentials: 'omit',
      referrerPolicy: 'no-referrer', cache: 'no-store',
      // Another server would get the key and the text.
      redirect: 'error',
    });
  } catch (error) {
    if (watch.signal.aborted) throw error;
    throw new Problem(await whyUnreachable(connection));
  }
  if (!response.ok) throw new Problem(await refusal(connection, response));
  return response;
}

// A browser tells a page neither whether the server is there nor why it may not read its answer. A request whose answer
// nobody reads tells the first: it carries no key and no text.
async function whyUnreachable(connection: Connection): Promise<string> {
  const provider = providerOf(connection);
  const {origin} = new URL(connection.address);
  const there = await fetch(`${origin}/`, {
    mode: 'no-cors', credentials: 'omit', referrerPolicy: 'no-referrer', cache: 'no-store',
    signal: AbortSignal.timeout(5000),
  }).then(() => true, () => false);
  if (there) {
    return `The server at ${origin} is there, but refuses this page (CORS). ${provider.letIn(self.origin)}`;
  }
  return `Nothing answers at ${origin}. Is the server running there, and is the address right?`;
}

async function refusal(connection: Connection, response: Response): Promise<string> {
  const {status} = response;
  const body = (await response.text().catch(() => '')).slice(0, 64_000);
  let said = body;
  try {
    const value: unknown = JSON.parse(body);
    said = errorOf(value) || body;
  } catch {
    // A proxy's page or bare text: shown as it is.
  }
  const words = said.trim() === '' ? '' : ` The server says: ${clip(said.trim())}`;
  return `${statusInWords(status, connection, response.headers.get('retry-after'))}${words}`;
}

function statusInWords(status: number, {model, key}: Connection, retryAfter: string | null): string {
  if (status === 401 || status === 403) {
    return `The server refuses ${key === '' ? 'requests without a key' : 'the key'} (${status}).`;
  }
  if (status === 404) return `The server knows no such model${model === '' ? '' : ` as “${model}”`} or address (404).`;
  if (status === 413) return 'The text is too long for the server (413). Send less along.';
  if (status === 429) {
    const wait = retryAfter !== null && /^\d+$/.test(retryAfter) ? ` Try again in ${retryAfter} seconds.` : '';
    return `Too many requests, or the account’s quota is used up (429).${wait}`;
  }
  if (status === 503 || status === 529) return `The server is overloaded, or still loading the model (${status}). Try again soon.`;
  return status >= 500 ? `The server failed (${status}).` : `The server did not take the request (${status}).`;
}

async function readAnswer(provider: Provider, response: Response, watch: Watch, options: AskOptions): Promise<Outcome> {
  if (response.body === null) throw new Problem('The server sent an empty answer.');
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/html')) {
    throw new Problem('The server answered with a web page: this is not the address of its API.');
  }
  const payloads = provider.reader();
  const bytes = response.body.getReader();
  const decoder = new TextDecoder();
  let length = 0;
  let raw = 0;
  let ended: string | null = null;
  const take = (payload: string) => {
    const piece = provider.piece(payload);
    if (piece.error !== undefined) throw new Problem(`The server broke off: ${clip(piece.error)}`);
    if (piece.thinking === true && !piece.text) options.onThinking();
    if (piece.text) {
      length += piece.text.length;
      options.onText(piece.text);
    }
    // The reason comes before the mark of the end.
    if (piece.ended !== undefined) ended = ended || piece.ended;
  };
  for (;;) {
    const {done, value} = await bytes.read().catch((error: unknown) => {
      if (watch.signal.aborted) throw error;
      return {done: true, value: undefined};
    });
    watch.heard();
    const text = done ? decoder.decode() : decoder.decode(value, {stream: true});
    raw += text.length;
    payloads.push(text).forEach(take);
    if (length > LONGEST_ANSWER || raw > 20 * LONGEST_ANSWER) {
      void bytes.cancel();
      return {kind: 'cut', text: 'The answer was longer than any suggestion is, and was cut here.'};
    }
    if (done) break;
  }
  payloads.end().forEach(take);
  return outcomeOf(ended, length);
}

const TOO_LONG = new Set(['length', 'max_tokens', 'model_context_window_exceeded']);
const DECLINED = new Set(['content_filter', 'refusal']);

function outcomeOf(ended: string | null, length: number): Outcome {
  if (ended === null) {
    return {kind: 'cut', text: length > 0 ? 'The connection ended before the answer did. What came is shown.' :
                                            'The connection ended without an answer that could be read.'};
  }
  if (TOO_LONG.has(ended)) return {kind: 'cut', text: 'The model reached its limit of length. What came is shown.'};
  if (DECLINED.has(ended)) return {kind: 'cut', text: 'The model declined to go on.'};
  return length > 0 ? {kind: 'done'} : {kind: 'cut', text: 'The model answered nothing.'};
}

// Servers like to repeat the key that they refuse.
function clean({key}: Connection, said: string): string {
  return key === '' ? said : said.replaceAll(key, '(the key)');
}

function clip(said: string): string {
  return said.length > LONGEST_ERROR ? `${said.slice(0, LONGEST_ERROR)} …` : said;
}

function sentence(error: unknown): string {
  return error instanceof Problem ? error.message : `The answer could not be read: ${String(error)}`;
}
