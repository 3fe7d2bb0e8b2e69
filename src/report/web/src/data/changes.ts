// Changes against another run, in a report that was written by `linescope diff`.
import type {Container} from './container.ts';
import type {HotLine, ReportIndex} from './index_types.ts';

export interface Change {
  // Nanoseconds more than in the base; negative: less.
  delta: number;
  // Sampling alone may have made it.
  noise: boolean;
  // There is no counterpart in the base.
  fresh: boolean;
}

const NOISE = 1;
const NO_BASE = 2;
const NO_CHANGE = 4;

// Rows of a chunk's sections `diff` and `diff_flags`.
export class Changes {
  private readonly delta: Float64Array;
  private readonly flags: Uint8Array;

  constructor(chunk: Container) {
    const there = chunk.has('diff') && chunk.has('diff_flags');
    this.delta = there ? chunk.f64('diff') : new Float64Array(0);
    this.flags = there ? chunk.u8('diff_flags') : new Uint8Array(0);
  }

  at(row: number): Change | null {
    const flags = this.flags[row] ?? NO_CHANGE;
    if ((flags & NO_CHANGE) !== 0) return null;
    return {delta: this.delta[row], noise: (flags & NOISE) !== 0, fresh: (flags & NO_BASE) !== 0};
  }
}

export function fileChange({compare}: ReportIndex, file: number): Change | null {
  const delta = compare?.files.delta[file];
  if (compare === undefined || delta === null || delta === undefined) return null;
  return {
    delta,
    noise: compare.files.noise[file] !== false,
    fresh: (compare.files.base[file] ?? null) === null,
  };
}

export function hotChange({diff}: HotLine): Change | null {
  return diff === null || diff === undefined ? null : {delta: diff.delta, noise: diff.noise, fresh: diff.base === null};
}

// What a column of changes is sorted by; rows without one are unknown.
export function changeKey(change: Change | null): number {
  return change === null ? NaN : change.delta;
}
