// Incremental readers of streamed answers: text in pieces cut anywhere goes in, whole JSON payloads come out.

export interface PayloadReader {
  push(text: string): string[];
  // What the end of the stream completes.
  end(): string[];
}

// Lines end with \n, \r\n or \r; a \r at the end of a piece may be half of a \r\n.
class LineReader {
  private rest = '';
  private afterReturn = false;

  push(text: string): string[] {
    if (text === '') return [];
    const fresh = this.afterReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.afterReturn = text.endsWith('\r');
    const lines = (this.rest + fresh).split(/\r\n|\r|\n/);
    this.rest = lines.pop() ?? '';
    return lines;
  }

  end(): string[] {
    const last = this.rest;
    this.rest = '';
    return last === '' ? [] : [last];
  }
}

// Server-sent events: the `data` of each event. What begins as a JSON object is none, but an answer in one piece, from
// a server that does not stream.
export class EventReader implements PayloadReader {
  private readonly lines = new LineReader();
  private data: string[] = [];
  private whole: string[] | null = null;
  private begun = false;

  push(text: string): string[] {
    if (!this.begun && text.trim() !== '') {
      this.begun = true;
      if (text.trimStart().startsWith('{')) this.whole = [];
    }
    if (this.whole === null) return this.read(this.lines.push(text));
    this.whole.push(text);
    return [];
  }

  // The last event counts also where its blank line is missing: servers differ.
  end(): string[] {
    return this.whole === null ? this.read([...this.lines.end(), '']) : [this.whole.join('')];
  }

  private read(lines: string[]): string[] {
    const out: string[] = [];
    for (const line of lines) {
      if (line === '') {
        if (this.data.length > 0) out.push(this.data.join('\n'));
        this.data = [];
        continue;
      }
      const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      // `error` is no field of the standard; llama.cpp has sent its errors under it.
      if (field === 'data' || field === 'error') this.data.push(value ?? '');
    }
    return out;
  }
}

// One JSON value a line.
export class JsonLineReader implements PayloadReader {
  private readonly lines = new LineReader();

  push(text: string): string[] {
    return this.lines.push(text).filter((line) => line.trim() !== '');
  }

  end(): string[] {
    return this.lines.end().filter((line) => line.trim() !== '');
  }
}
