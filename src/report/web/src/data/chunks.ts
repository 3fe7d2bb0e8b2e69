// Brings a chunk out of the page: its element's text, base 91, gzip, container. The script runs while
// the parser is still reading the chunks behind it, so an element that is absent or short is only
// called missing once the document is complete.
import {fromBase91} from './base91.ts';
import {Container} from './container.ts';
import type {ReportIndex} from './index_types.ts';

export class ChunkError extends Error {
  override readonly name = 'ChunkError';
}

export class ChunkStore {
  private readonly cache = new Map<number, Promise<Container>>();

  constructor(private readonly chunks: ReportIndex['chunks']) {}

  // The same promise for the same chunk; rejects with a ChunkError whose message is a sentence.
  load(chunk: number): Promise<Container> {
    let loading = this.cache.get(chunk);
    if (loading === undefined) {
      loading = this.read(chunk);
      this.cache.set(chunk, loading);
    }
    return loading;
  }

  // Parts whose text is complete in the document; only meaningful after the document has loaded.
  present(): number {
    let count = 0;
    for (let chunk = 0; chunk < this.chunks.count; chunk++) {
      if (textLength(chunk) === this.chunks.length[chunk]) count++;
    }
    return count;
  }

  private async read(chunk: number): Promise<Container> {
    const part = `Part ${chunk + 1} of ${this.chunks.count}`;
    const expected = this.chunks.length[chunk];
    if (textLength(chunk) !== expected) await documentComplete();
    const length = textLength(chunk);
    if (length === null) throw new ChunkError(`${part} is missing: the file was cut off before it.`);
    if (length !== expected) {
      throw new ChunkError(`${part} is incomplete: ${length} of ${expected} characters are there.`);
    }
    try {
      const text = document.getElementById(`ls-c${chunk}`)?.textContent ?? '';
      return new Container(await gunzip(fromBase91(text)));
    } catch (error) {
      const reason = error instanceof RangeError ? error.message : 'its bytes were changed';
      throw new ChunkError(`${part} is damaged: ${reason}.`);
    }
  }
}

export function documentComplete(): Promise<void> {
  if (document.readyState !== 'loading') return Promise.resolve();
  return new Promise((resolve) => {
    document.addEventListener('DOMContentLoaded', () => resolve(), {once: true});
  });
}

// The parser splits long text into several nodes, and joining them to ask for a length would copy.
function textLength(chunk: number): number | null {
  const element = document.getElementById(`ls-c${chunk}`);
  if (element === null) return null;
  let length = 0;
  for (const node of element.childNodes) length += (node as Text).length;
  return length;
}

async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
