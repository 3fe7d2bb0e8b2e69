// The Diff column: there only in reports that compare two runs. Slower is orange with an arrow up,
// faster is blue with an arrow down; what may be noise has neither.
import type {Change} from '../data/changes.ts';
import type {ReportIndex} from '../data/index_types.ts';
import {DASH, formatTime} from '../lib/format.ts';
import {heat} from '../lib/heat.ts';
import {visible} from '../lib/visible.ts';
import type {Column} from './table.tsx';

const COLUMN: Column = {
  id: 'diff', title: 'Diff', numeric: true, width: 'var(--diff-column)',
  hint: 'Time against the base: slower, faster. In brackets: within what sampling alone may make',
};

// `columns` with the Diff column behind the one called `after`.
export function withDiff(columns: readonly Column[], {compare}: ReportIndex,
                         after = 'time'): readonly Column[] {
  if (compare === undefined) return columns;
  return columns.flatMap((column) => column.id === after ? [column, COLUMN] : [column]);
}

export function formatChange(change: Change | null): string {
  if (change === null) return DASH;
  const sign = change.delta > 0 ? '+' : '';
  const text = change.delta === 0 ? '0 s' : sign + formatTime(change.delta);
  return change.noise ? `(${text})` : text;
}

export function changeInWords(change: Change | null): string {
  if (change === null) return '';
  if (change.noise) return `, difference ${formatTime(change.delta)} within noise`;
  return `, ${formatTime(Math.abs(change.delta))} ${change.delta > 0 ? 'slower' : 'faster'}` +
      (change.fresh ? ', not in the base' : '');
}

export function DiffCell({change, index}: {change: Change | null; index: ReportIndex}) {
  if (index.compare === undefined) return null;
  if (change === null || change.noise) {
    return (
      <div class="td num faint" role="cell"
           title={change === null ? undefined : 'Within what sampling alone may make'}>
        {formatChange(change)}
      </div>
    );
  }
  const slower = change.delta > 0;
  const strength = heat(Math.abs(change.delta), index.compare.max_delta);
  return (
    <div class={`td num diff ${slower ? 'slower' : 'faster'}`} role="cell"
         style={{'--d': strength.toFixed(3)}}
         title={change.fresh ? 'Not in the base' : slower ? 'Slower than the base' : 'Faster than the base'}>
      <span aria-hidden="true">{slower ? '▲' : '▼'}</span> {formatChange(change)}
      <span class="sr-only"> {slower ? 'slower' : 'faster'}</span>
      {change.fresh && <span class="fresh">new</span>}
    </div>
  );
}

// What the report is compared with, for the head of the overview.
export function ComparedWith({index}: {index: ReportIndex}) {
  const {compare} = index;
  if (compare === undefined) return null;
  return (
    <p class="note compared">
      Compared with <bdi>{visible(compare.title)}</bdi>:{' '}
      <strong class={compare.noise ? '' : compare.delta > 0 ? 'slower' : 'faster'}>
        {!compare.noise && <span aria-hidden="true">{compare.delta > 0 ? '▲ ' : '▼ '}</span>}
        {compare.delta > 0 ? '+' : ''}{formatTime(compare.delta)}
      </strong>{' '}
      in all{compare.noise ? ', within what sampling alone may make' : ''}. {visible(compare.text)}
    </p>
  );
}
