// Where the time of a line went within it: the hottest expression is underlined, its share stands behind the line, and
// a dialog lists them all.
import {signal} from '@preact/signals';

import type {Expression, SourceFile} from '../data/source.ts';
import {formatCount, formatShare, formatTime, plural} from '../lib/format.ts';
import {visible} from '../lib/visible.ts';
import {Dialog} from './dialog.tsx';

// Of fewer samples a share says little.
const TELLING_SAMPLES = 5;
const LONGEST_TEXT = 300;

interface Shown {
  source: SourceFile;
  line: number;
  label: string;
}

const shown = signal<Shown | null>(null);
const isOpen = signal(false);

export function openExpressions(source: SourceFile, line: number, label: string): void {
  shown.value = {source, line, label};
  isOpen.value = true;
}

// The expression that is to be underlined, if any: not the one that is the whole line.
export function hottestExpression(source: SourceFile, line: number): Expression | null {
  if (!(source.value('samples', line) >= TELLING_SAMPLES)) return null;
  const expressions = source.expressions(line);
  const [hottest] = expressions;
  if (hottest === undefined) return null;
  const whole = source.lineText(line).trim().length;
  if (expressions.length === 1 && hottest.to - hottest.from >= whole) return null;
  return hottest;
}

export function expressionText(source: SourceFile, {from, to, goesOn}: Expression): string {
  const text = source.text.slice(from, Math.min(to, from + LONGEST_TEXT));
  return visible(text) + (goesOn || to > from + LONGEST_TEXT ? ' …' : '');
}

// "b(x) 62.0%, a 20.1%", at most `limit` of them.
export function expressionsInWords(source: SourceFile, line: number, limit: number): string {
  const whole = source.value('time', line);
  const all = source.expressions(line);
  const words = all.slice(0, limit).map(
      (each) => `${expressionText(source, each)} ${formatShare(each.time, whole)}`);
  if (all.length > limit) words.push(`${plural(all.length - limit, 'other')}`);
  return words.join(', ');
}

interface ShareProps {
  source: SourceFile;
  line: number;
  label: string;
  hottest: Expression;
}

// Out of the way of the keyboard, which opens the list from the row itself.
export function ExpressionShare({source, line, label, hottest}: ShareProps) {
  const share = formatShare(hottest.time, source.value('time', line));
  return (
    <button type="button" class="expression-share" tabIndex={-1}
            title={`${expressionsInWords(source, line, 8)}. Press e on the line for the list.`}
            aria-label={`Line ${line}: ${expressionText(source, hottest)} ${share}. Show its expressions`}
            onClick={() => openExpressions(source, line, label)}>{share}</button>
  );
}

export function ExpressionsDialog() {
  const at = shown.value;
  return (
    <Dialog open={isOpen} label="Expressions of the line" class="expressions">
      {at !== null && <>
        <div class="dialog-head">
          <h2>Time within {visible(at.label)}:{at.line}</h2>
          <button type="button" class="button" onClick={() => { isOpen.value = false; }}>Close</button>
        </div>
        <List source={at.source} line={at.line} />
      </>}
    </Dialog>
  );
}

function List({source, line}: {source: SourceFile; line: number}) {
  const whole = source.value('time', line);
  const all = source.expressions(line);
  const known = all.reduce((sum, each) => sum + each.time, 0);
  const rest = whole - known;
  return (
    <>
      <p class="secondary">Of {formatTime(whole)} on this line. An expression is without its operands: that of a call is
        what the call took, not what its arguments took.</p>
      <div class="expression-list">
        <table>
          <thead>
            <tr><th class="num" scope="col">Share</th><th class="num" scope="col">Time</th>
              <th class="num" scope="col">Samples</th><th scope="col">Expression</th></tr>
          </thead>
          <tbody>
            {all.map((each, i) => (
              <tr key={i}>
                <td class="num">{formatShare(each.time, whole)}</td>
                <td class="num">{formatTime(each.time)}</td>
                <td class="num">{formatCount(each.samples)}</td>
                <td class="code"><bdi>{expressionText(source, each)}</bdi></td>
              </tr>
            ))}
            {rest > 0 && formatShare(rest, whole) !== '<0.1%' &&
              <tr>
                <td class="num">{formatShare(rest, whole)}</td><td class="num">{formatTime(rest)}</td>
                <td class="num">{formatCount(
                    source.value('samples', line) - all.reduce((sum, each) => sum + each.samples, 0))}</td>
                <td class="secondary">of which the expression is not known</td>
              </tr>}
          </tbody>
        </table>
      </div>
    </>
  );
}
