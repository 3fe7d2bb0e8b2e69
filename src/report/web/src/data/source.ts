// One file's snapshot with its tokens and measurements, ready for random access by line.
import type {Container} from './container.ts';
import type {MetricId} from './metrics.ts';
import {Metrics} from './metrics.ts';
import {TokenList} from './tokens.ts';
import {decodeVarints} from './varint.ts';

const NO_ROW = -1;

export class SourceFile {
  readonly text: string;
  readonly lineCount: number;
  readonly tokens: TokenList;
  // Columns that the longest line takes, tabs and wide characters counted generously.
  readonly width: number;

  // UTF-16 offset of the start of each line, and one past the last line's end.
  private readonly lineStart: Uint32Array;
  private readonly metricRow: Int32Array;
  private readonly inStatement: Uint8Array;
  private readonly metrics: Metrics;

  constructor(chunk: Container, fileId: number, columns: readonly string[]) {
    const group = chunk.u32('file').indexOf(fileId);
    if (group < 0) throw new RangeError('it does not hold this file');
    this.text = chunk.string('text', group);
    this.lineStart = lineStarts(this.text);
    this.lineCount = this.lineStart.length - 1;
    this.width = widestLine(this.text, this.lineStart);
    this.tokens = readTokens(chunk, group);

    const [firstRow, endRow] = chunk.group('line', group);
    const numbers = chunk.u32('line');
    this.metrics = new Metrics(chunk, columns);
    this.metricRow = new Int32Array(this.lineCount + 1).fill(NO_ROW);
    for (let row = firstRow; row < endRow; row++) {
      if (numbers[row] <= this.lineCount) this.metricRow[numbers[row]] = row;
    }

    const [firstStatement, endStatement] = chunk.group('stmt', group);
    this.inStatement = coveredLines(
        chunk.u32('stmt_first').subarray(firstStatement, endStatement),
        chunk.u32('stmt_last').subarray(firstStatement, endStatement), this.lineCount);
  }

  // Text of line `line` (from 1), without its line end.
  lineText(line: number): string {
    return this.text.slice(this.lineStart[line - 1], this.lineEnd(line));
  }

  lineOffset(line: number): number {
    return this.lineStart[line - 1];
  }

  lineEnd(line: number): number {
    const end = this.lineStart[line];
    return end > this.lineStart[line - 1] && this.text.charCodeAt(end - 1) === 10 ? end - 1 : end;
  }

  // Line that holds the UTF-16 offset.
  lineAt(offset: number): number {
    let low = 0;
    let high = this.lineCount - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.lineStart[middle] <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  // False for blank lines and comments, which have no measurements at all.
  hasNumbers(line: number): boolean {
    return this.inStatement[line] !== 0 || this.metricRow[line] !== NO_ROW;
  }

  // NaN: unavailable. A line of a statement without samples has 0 samples, and no time.
  value(id: MetricId, line: number): number {
    const row = this.metricRow[line];
    if (row !== NO_ROW) return this.metrics.get(id, row);
    return id === 'samples' && this.hasNumbers(line) ? 0 : NaN;
  }
}

function readTokens(chunk: Container, group: number): TokenList {
  const slice = (name: string): Uint8Array => {
    const [first, end] = chunk.group(name, group);
    return chunk.u8(name).subarray(first, end);
  };
  const classes = slice('token_class');
  const gaps = decodeVarints(slice('token_gap'), classes.length);
  const lengths = decodeVarints(slice('token_length'), classes.length);
  return TokenList.fromGaps(gaps, lengths, classes);
}

function lineStarts(text: string): Uint32Array {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  const open = text.length > 0 && text.charCodeAt(text.length - 1) !== 10;
  const starts = new Uint32Array(count + (open ? 1 : 0) + 1);
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    starts[line++] = at + 1;
  }
  if (open) starts[line] = text.length;
  return starts;
}

const TAB_COLUMNS = 4;
const FIRST_WIDE = 0x1100;  // Hangul Jamo; what lies below is at most one column wide

function widestLine(text: string, starts: Uint32Array): number {
  let widest = 0;
  for (let line = 0; line + 1 < starts.length; line++) {
    let width = starts[line + 1] - starts[line];
    // Even if all of it were wide it could not be the widest: skip the walk over its characters.
    if (width * TAB_COLUMNS <= widest) continue;
    width = 0;
    for (let at = starts[line]; at < starts[line + 1]; at++) {
      const unit = text.charCodeAt(at);
      width += unit === 9 ? TAB_COLUMNS : unit >= FIRST_WIDE ? 2 : 1;
    }
    if (width > widest) widest = width;
  }
  return widest;
}

function coveredLines(first: Uint32Array, last: Uint32Array, lineCount: number): Uint8Array {
  const change = new Int32Array(lineCount + 2);
  for (let i = 0; i < first.length; i++) {
    if (first[i] > lineCount) continue;
    change[first[i]]++;
    change[Math.min(last[i], lineCount) + 1]--;
  }
  const covered = new Uint8Array(lineCount + 1);
  let depth = 0;
  for (let line = 1; line <= lineCount; line++) {
    depth += change[line];
    covered[line] = depth > 0 ? 1 : 0;
  }
  return covered;
}
