// Highlight tokens of a text, by UTF-16 offset, in order and without overlap.

export interface Span {
  text: string;
  // Index into the index' token_classes; -1: plain text.
  tokenClass: number;
}

export const PLAIN = -1;

export class TokenList {
  private constructor(
      private readonly start: Uint32Array, private readonly end: Uint32Array,
      private readonly classes: ArrayLike<number>) {}

  static fromGaps(gaps: ArrayLike<number>, lengths: ArrayLike<number>,
                  classes: ArrayLike<number>): TokenList {
    const count = classes.length;
    const start = new Uint32Array(count);
    const end = new Uint32Array(count);
    let at = 0;
    for (let i = 0; i < count; i++) {
      start[i] = at + gaps[i];
      at = start[i] + lengths[i];
      end[i] = at;
    }
    return new TokenList(start, end, classes);
  }

  // From the index' flat triples of gap, length and class.
  static fromTriples(triples: readonly number[]): TokenList {
    const count = Math.floor(triples.length / 3);
    const column = (offset: number) => Array.from({length: count}, (_, i) => triples[3 * i + offset]);
    return TokenList.fromGaps(column(0), column(1), column(2));
  }

  // The text between two offsets, cut where its colour changes.
  spans(text: string, from: number, to: number): Span[] {
    const out: Span[] = [];
    let at = from;
    for (let i = this.firstEndingAfter(from); i < this.start.length && this.start[i] < to; i++) {
      const start = Math.max(this.start[i], from);
      const end = Math.min(this.end[i], to);
      if (start > at) out.push({text: text.slice(at, start), tokenClass: PLAIN});
      if (end > start) out.push({text: text.slice(start, end), tokenClass: this.classes[i]});
      at = Math.max(at, end);
    }
    if (to > at) out.push({text: text.slice(at, to), tokenClass: PLAIN});
    return out;
  }

  private firstEndingAfter(offset: number): number {
    let low = 0;
    let high = this.end.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.end[middle] <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
