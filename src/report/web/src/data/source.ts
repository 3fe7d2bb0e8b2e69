// One file's snapshot with its tokens and measurements, ready for random access by line.
import type {Container} from './container.ts';
import type {Change} from './changes.ts';
import {Changes} from './changes.ts';
import type {MetricId} from './metrics.ts';
import {Metrics} from './metrics.ts';
import {TokenList} from './tokens.ts';
import {decodeVarints} from './varint.ts';

const NO_ROW = -1;
const NO_FUNCTION = 0xffffffff;

// A name that leads to its definition. UTF-16 offsets in the text.
export interface SourceLink {
  from: number;
  to: number;
  file: number;
  line: number;
}

// A function or class.
export interface SourceDefinition {
  first: number;
  last: number;
  // Row of the functions chunk.
  id: number | null;
}

export type LineValues = (id: MetricId, line: number) => number;

// A piece of a line and its part of the line's time.
export interface Expression {
  // UTF-16 offsets in the text; `to` is on the first line when the expression goes on behind it.
  from: number;
  to: number;
  goesOn: boolean;
  time: number;
  samples: number;
}

export class SourceFile {
  readonly text: string;
  readonly lineCount: number;
  readonly tokens: TokenList;
  // Columns that the longest line takes, tabs and wide characters counted generously.
  readonly width: number;
  // Lines of complete statements, sorted and disjoint.
  readonly statements: ReadonlyArray<{first: number; last: number}>;
  // In the order of their lines; they nest.
  readonly definitions: readonly SourceDefinition[];

  // UTF-16 offset of the start of each line, and one past the last line's end.
  private readonly lineStart: Uint32Array;
  private readonly metricRow: Int32Array;
  private readonly inStatement: Uint8Array;
  private readonly definitionByLine: ReadonlyMap<number, SourceDefinition>;
  private readonly links: readonly SourceLink[];
  private readonly metrics: Metrics;
  private readonly chunk: Container;
  private readonly group: number;
  private readonly changeRow = new Map<number, number>();
  private readonly changes: Changes;
  // Of a part of the run, by line.
  private values: LineValues | null = null;

  constructor(chunk: Container, fileId: number, columns: readonly string[]) {
    const group = chunk.u32('file').indexOf(fileId);
    if (group < 0) throw new RangeError('it does not hold this file');
    this.chunk = chunk;
    this.group = group;
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

    this.changes = new Changes(chunk);
    if (chunk.has('diff_line')) {
      const lines = chunk.u32('diff_line');
      const [first, end] = chunk.group('diff_line', group);
      for (let row = first; row < end; row++) this.changeRow.set(lines[row], row);
    }

    const [firstStatement, endStatement] = chunk.group('stmt', group);
    const first = chunk.u32('stmt_first').subarray(firstStatement, endStatement);
    const last = chunk.u32('stmt_last').subarray(firstStatement, endStatement);
    this.statements = Array.from(first, (line, i) => ({first: line, last: Math.min(last[i], this.lineCount)}));
    this.inStatement = coveredLines(first, last, this.lineCount);
    this.definitions = readDefinitions(chunk, group);
    this.definitionByLine = new Map(this.definitions.map((each) => [each.first, each]));
    this.links = readLinks(chunk, group);
  }

  // Names between two offsets that lead somewhere.
  linksIn(from: number, to: number): SourceLink[] {
    let low = 0;
    let high = this.links.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.links[middle].from < from) low = middle + 1;
      else high = middle;
    }
    let end = low;
    while (end < this.links.length && this.links[end].to <= to) end++;
    return this.links.slice(low, end);
  }

  // The one whose `def` or `class` stands on the line.
  definitionOn(line: number): SourceDefinition | null {
    return this.definitionByLine.get(line) ?? null;
  }

  // The innermost function or class around the line.
  definitionAt(line: number): SourceDefinition | null {
    let found: SourceDefinition | null = null;
    for (const definition of this.definitions) {
      if (definition.first > line) break;
      if (definition.last >= line) found = definition;
    }
    return found;
  }

  // The same file with other measurements.
  with(values: LineValues): SourceFile {
    return Object.assign(Object.create(SourceFile.prototype) as SourceFile, this, {values});
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

  // First and last line of the statement that holds the line; the line alone where there is none.
  statement(line: number): [number, number] {
    let low = 0;
    let high = this.statements.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.statements[middle].first <= line) low = middle + 1;
      else high = middle;
    }
    const found = this.statements[low - 1];
    return found !== undefined && found.last >= line ? [found.first, found.last] : [line, line];
  }

  // False for blank lines and comments, which have no measurements at all.
  hasNumbers(line: number): boolean {
    return this.inStatement[line] !== 0 || this.metricRow[line] !== NO_ROW;
  }

  // NaN: unavailable. A line of a statement without samples has 0 samples, and no time.
  value(id: MetricId, line: number): number {
    if (this.values !== null) return this.hasNumbers(line) ? this.values(id, line) : NaN;
    const row = this.metricRow[line];
    if (row !== NO_ROW) return this.metrics.get(id, row);
    return id === 'samples' && this.hasNumbers(line) ? 0 : NaN;
  }

  // First and last line of the innermost function around the line, else of the class; null: there is none.
  functionAround(line: number): [number, number] | null {
    const [first, end] = this.chunk.group('def', this.group);
    const [from, to] = [this.chunk.u32('def_line'), this.chunk.u32('def_last')];
    let found: [number, number] | null = null;
    let foundFunction = false;
    for (let i = first; i < end && from[i] <= line; i++) {
      if (to[i] < line) continue;
      const isFunction = /^\s*(async\s+)?def\b/.test(this.lineText(from[i]));
      if (isFunction || !foundFunction) found = [from[i], Math.min(to[i], this.lineCount)];
      foundFunction ||= isFunction;
    }
    return found;
  }

  // Against the run that the report compares with; null: no samples in either.
  change(line: number): Change | null {
    const row = this.changeRow.get(line);
    return row === undefined ? null : this.changes.at(row);
  }

  // Where the line's time went within it, most first; none where columns are not known, as in a part
  // of the run.
  expressions(line: number): Expression[] {
    const row = this.metricRow[line];
    if (this.values !== null || row === NO_ROW || !this.chunk.has('expr_start')) return [];
    const [first, end] = this.chunk.group('expr', row);
    const column = this.chunk.u32('expr_column');
    const lastLine = this.chunk.u32('expr_end_line');
    const lastColumn = this.chunk.u32('expr_end_column');
    const time = this.chunk.f64('expr_time');
    const samples = this.chunk.f64('expr_samples');
    const out: Expression[] = [];
    const lineEnd = this.lineEnd(line);
    for (let i = first; i < end; i++) {
      const goesOn = lastLine[i] > line;
      const from = Math.min(this.lineStart[line - 1] + column[i], lineEnd);
      const to = goesOn ? lineEnd : Math.min(this.lineStart[line - 1] + lastColumn[i], lineEnd);
      if (to > from) out.push({from, to, goesOn, time: time[i], samples: samples[i]});
    }
    return out;
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

function readDefinitions(chunk: Container, group: number): SourceDefinition[] {
  const [begin, end] = chunk.group('def', group);
  const [line, last, id] = [chunk.u32('def_line'), chunk.u32('def_last'), chunk.u32('def_function')];
  return Array.from({length: end - begin}, (_, i) => ({
    first: line[begin + i], last: last[begin + i],
    id: id[begin + i] === NO_FUNCTION ? null : id[begin + i],
  }));
}

function readLinks(chunk: Container, group: number): SourceLink[] {
  if (!chunk.has('link_gap')) return [];
  const numbers = (name: string): Uint32Array => {
    const [first, end] = chunk.group(name, group);
    const bytes = chunk.u8(name).subarray(first, end);
    let count = 0;
    for (const byte of bytes) if (byte < 0x80) count++;
    return decodeVarints(bytes, count);
  };
  const [gap, length, target] = [numbers('link_gap'), numbers('link_length'), numbers('link_target')];
  const [firstTarget] = chunk.group('target', group);
  const [file, line] = [chunk.u32('target_file'), chunk.u32('target_line')];
  const out: SourceLink[] = [];
  let at = 0;
  for (let i = 0; i < gap.length; i++) {
    const from = at + gap[i];
    at = from + length[i];
    const row = firstTarget + target[i];
    out.push({from, to: at, file: file[row], line: line[row]});
  }
  return out;
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
