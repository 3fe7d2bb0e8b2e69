// An answer as it is shown: text and blocks of code, and the code as a diff against the source.
import type {DiffRow} from '../lib/line_diff.ts';
import {diffLines} from '../lib/line_diff.ts';
import type {LineRange, Subject, Unit} from './prompt.ts';
import {unitLines} from './prompt.ts';

export type Part = {kind: 'text'; text: string} | {kind: 'code'; language: string; text: string; closed: boolean};

// Splits at fences of three or more backticks or tildes, as Markdown has them; the last block may be open.
export function partsOf(answer: string): Part[] {
  const parts: Part[] = [];
  let lines: string[] = [];
  let fence: {mark: string; indent: number; language: string} | null = null;
  const flush = (closed: boolean) => {
    const text = lines.join('\n');
    if (fence !== null) parts.push({kind: 'code', language: fence.language, text, closed});
    else if (text.trim() !== '') parts.push({kind: 'text', text: text.replace(/^\n+|\s+$/g, '')});
    lines = [];
  };
  for (const line of answer.replace(/\r\n?/g, '\n').split('\n')) {
    const [, indent = '', mark, info = ''] = /^(\s*)(`{3,}|~{3,})\s*([^`]*)$/.exec(line) ?? [];
    if (mark !== undefined && fence === null) {
      flush(true);
      fence = {mark, indent: indent.length, language: info.trim().split(/\s/)[0]!.toLowerCase()};
    } else if (mark !== undefined && fence !== null && info.trim() === '' && mark.startsWith(fence.mark)) {
      flush(true);
      fence = null;
    } else {
      // A fence within a list is indented, and its lines with it.
      lines.push(fence === null ? line : line.slice(Math.min(fence.indent, line.search(/\S|$/))));
    }
  }
  flush(false);
  return parts;
}

export interface CodeDiff {
  lines: LineRange;
  rows: DiffRow[];
}

// Of lines that have less in common a diff would only say that all is new.
const LIKELY = 0.25;
const MOST_LINES = 3000;

// null: the code is no replacement of a part of the source that could be told.
export function diffAgainstSource(subject: Subject, unit: Unit, code: string, language: string): CodeDiff | null {
  if (!['', 'python', 'py', 'python3'].includes(language)) return null;
  const proposed = code.replace(/\s+$/, '').split('\n').map((line) => line.trimEnd());
  const asked = unitLines(subject, unit);
  const around = subject.function?.lines ?? null;
  if (proposed.length > MOST_LINES || asked[1] - asked[0] > MOST_LINES) return null;
  const best = [asked, ...(around === null || around === asked ? [] : [around])]
      .map((lines) => compare(subject, lines, proposed))
      .reduce((a, b) => b.likeness > a.likeness ? b : a);
  if (best.likeness >= LIKELY) return best;
  // What replaces a statement may share nothing with it; a function keeps its head.
  const statement = compare(subject, subject.statement, proposed);
  return unit === 'statement' && !/^\s*(@|(async\s+)?def\s|class\s|import\s|from\s)/.test(proposed[0]!) ? statement : null;
}

function compare(subject: Subject, lines: LineRange, proposed: readonly string[]): CodeDiff & {likeness: number} {
  const before: string[] = [];
  for (let line = lines[0]; line <= lines[1]; line++) before.push(subject.source.lineText(line).trimEnd());
  const after = indentedAs(before, proposed);
  let rows = diffLines(before, after);
  let [first, last] = lines;
  const common = rows.filter(({sign, text}) => sign === ' ' && text !== '').length;
  const filled = before.filter((line) => line !== '').length + after.filter((line) => line !== '').length;
  // A piece from within a function: what it does not reach stays as it is.
  const whole = definedIn(before) !== null && definedIn(after) === definedIn(before);
  if (common > 0 && definedIn(before) !== null && !whole) {
    const [from, to] = [rows.findIndex(({sign}) => sign !== '-'), rows.findLastIndex(({sign}) => sign !== '-') + 1];
    first += from;
    last -= rows.length - to;
    rows = rows.slice(from, to);
  }
  const reached = rows.filter(({sign, text}) => sign === '-' && text !== '').length + common;
  const likeness = filled === 0 ? 0 : 2 * common / (reached + after.filter((line) => line !== '').length);
  return {lines: [first, last], rows, likeness: whole ? Math.max(likeness, LIKELY) : likeness};
}

function definedIn(lines: readonly string[]): string | null {
  for (const line of lines) {
    const name = /^\s*(?:async\s+)?def\s+(\w+)/.exec(line)?.[1];
    if (name !== undefined) return name;
  }
  return null;
}

// Models like to begin at the left margin. What begins as a line of the source does stands where that line does.
function indentedAs(before: readonly string[], proposed: readonly string[]): string[] {
  const indent = (line: string) => /^\s*/.exec(line)![0];
  const first = (lines: readonly string[]) => lines.find((line) => line !== '') ?? '';
  const begins = first(proposed);
  const wanted = indent(before.find((line) => line !== '' && line.trim() === begins.trim()) ?? first(before));
  const has = indent(begins);
  if (wanted === has) return [...proposed];
  if (wanted.startsWith(has)) {
    return proposed.map((line) => line === '' || !line.startsWith(has) ? line : wanted + line.slice(has.length));
  }
  return proposed.map((line) => line.startsWith(has) ? wanted + line.slice(has.length) : line);
}
