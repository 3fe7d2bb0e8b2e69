// The text that is sent: what is asked, about which code, and what of its surroundings and measurements goes along.
import type {ReportIndex} from '../data/index_types.ts';
import type {SourceFile} from '../data/source.ts';
import {formatCount, formatShare, formatTime, isKnown, plural} from '../lib/format.ts';

// First and last line, both included.
export type LineRange = readonly [number, number];

export interface AskTarget {
  file: number;
  line: number;
  // The function as a whole, not the line.
  whole?: boolean;
}

export type Unit = 'statement' | 'function';

export interface Choices {
  unit: Unit;
  question: string;
  // What goes along with the unit itself.
  surrounding: boolean;
  imports: boolean;
  wholeFile: boolean;
  measurements: boolean;
  run: boolean;
}

export interface Subject {
  target: AskTarget;
  source: SourceFile;
  label: string;
  statement: LineRange;
  // The function around the line; null: there is none.
  function: {name: string; lines: LineRange} | null;
  imports: LineRange[];
}

const MOST_LISTED = 40;

export function subjectOf(index: ReportIndex, source: SourceFile, target: AskTarget): Subject {
  const around = source.functionAround(target.line);
  const lines: LineRange | null = around === null ? null : [decoratorsAbove(source, around[0]), around[1]];
  return {
    target, source,
    label: index.files.label[target.file],
    statement: source.statement(target.line),
    function: lines === null || around === null ? null : {name: nameOf(source.lineText(around[0])), lines},
    imports: source.statements.filter(({first}) => /^(import|from)\s/.test(source.lineText(first)))
        .map(({first, last}): LineRange => [first, last]),
  };
}

export function unitLines(subject: Subject, unit: Unit): LineRange {
  return unit === 'function' && subject.function !== null ? subject.function.lines : subject.statement;
}

export function firstChoices(subject: Subject): Choices {
  return {
    unit: subject.target.whole && subject.function !== null ? 'function' : 'statement',
    question: 'How can this be made faster?',
    surrounding: true, imports: true, wholeFile: false, measurements: true, run: true,
  };
}

export function promptOf(subject: Subject, index: ReportIndex, choices: Choices): string {
  const {source, label} = subject;
  const lines = unitLines(subject, choices.unit);
  const parts = [
    choices.question.trim(),
    `The code, ${rangeInWords(lines)} of ${label}` +
        `${subject.function === null ? '' : `, in ${subject.function.name}`}:\n\n${fenced(textOf(source, lines))}`,
  ];
  if (choices.measurements) parts.push(measurements(subject, index, choices, lines));
  if (choices.wholeFile) {
    parts.push(`The whole file:\n\n${fenced(source.text)}`);
  } else {
    if (choices.surrounding && choices.unit === 'statement' && subject.function !== null) {
      parts.push(`The function around it, ${rangeInWords(subject.function.lines)}:\n\n` +
          fenced(textOf(source, subject.function.lines)));
    }
    if (choices.imports && subject.imports.length > 0) {
      parts.push(`Imports of the file:\n\n${fenced(subject.imports.map((each) => textOf(source, each)).join('\n'))}`);
    }
  }
  if (choices.run) parts.push(runInWords(index));
  parts.push(
      `Answer in a few sentences, and give what should stand instead of ${rangeInWords(lines)} as one \`\`\`python block: ` +
      'complete, with the same indentation, and with the same behaviour. Say so when nothing is to be gained.');
  return `${parts.join('\n\n')}\n`;
}

// Four characters a token is usual for English; code has shorter ones, and other scripts more bytes a character.
export function tokensAbout(text: string): number {
  return Math.ceil(new TextEncoder().encode(text).length / 3.5);
}

function measurements(subject: Subject, index: ReportIndex, choices: Choices, unit: LineRange): string {
  const {source} = subject;
  const {time: all} = index.totals;
  const [first, last] = choices.wholeFile ? [1, source.lineCount] :
      choices.surrounding && subject.function !== null ? subject.function.lines : unit;
  const measured: number[] = [];
  for (let line = first; line <= last; line++) if (source.value('time', line) > 0) measured.push(line);
  if (measured.length === 0) return 'No samples fell on these lines.';
  measured.sort((a, b) => source.value('time', b) - source.value('time', a) || a - b);
  const rows = measured.slice(0, MOST_LISTED).map((line) => {
    const time = source.value('time', line);
    const within = source.expressions(line).slice(0, 3).map(
        (each) => `${source.text.slice(each.from, each.to)} ${formatShare(each.time, time)}`);
    return `- line ${line}: ${formatTime(time)}, ${formatShare(time, all)}, ` +
        `${plural(source.value('samples', line), 'sample')}: ${source.lineText(line).trim().slice(0, 160)}` +
        (within.length > 0 ? ` (within it: ${within.join('; ')})` : '');
  });
  const more = measured.length > rows.length ? `\n- and ${measured.length - rows.length} lines with less` : '';
  return `Measured by sampling, time of a line with the library code that it calls, shares of all ${formatTime(all)}:\n` +
      `${rows.join('\n')}${more}`;
}

function runInWords({run, totals}: ReportIndex): string {
  const counted = run.mode === 'cpu' ? 'CPU time' : run.mode === 'gil' ? 'time holding the GIL' : 'wall time';
  const parts = [
    run.python === null ? '' : `Python ${run.python}`,
    isKnown(run.elapsed) ? `ran for ${formatTime(run.elapsed)}` : '',
    `${formatCount(totals.samples)} samples of ${counted}`,
  ];
  return `The run: ${parts.filter((part) => part !== '').join(', ')}.`;
}

function rangeInWords([first, last]: LineRange): string {
  return first === last ? `line ${first}` : `lines ${first}–${last}`;
}

export function textOf(source: SourceFile, [first, last]: LineRange): string {
  return source.text.slice(source.lineOffset(first), source.lineEnd(last));
}

// A fence longer than any in the text.
function fenced(text: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}python\n${text.replace(/\n+$/, '')}\n${fence}`;
}

function decoratorsAbove(source: SourceFile, line: number): number {
  let first = line;
  while (first > 1 && source.lineText(first - 1).trimStart().startsWith('@')) first--;
  return first;
}

function nameOf(line: string): string {
  return /\b(?:def|class)\s+([^\s(:[]+)/.exec(line)?.[1] ?? 'the function';
}
