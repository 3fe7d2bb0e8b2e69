// Which lines of a source are folded away, so that what was measured stands together.

export type FoldMode = 'all' | 'functions' | 'hot';
export const FOLD_MODES: readonly FoldMode[] = ['all', 'functions', 'hot'];

// Lines, both included.
export interface LineRange {
  first: number;
  last: number;
}

export interface FoldSource {
  lineCount: number;
  // Sorted and disjoint.
  statements: readonly LineRange[];
  // Functions and classes by their first line; they nest. Decorators stand above.
  definitions: readonly LineRange[];
  hasTime: (line: number) => boolean;
  isDecorator: (line: number) => boolean;
}

// A fold's own row takes the place of at least this many.
const SMALLEST = 3;

// Folds of whole statements, in order.
export function foldsOf(source: FoldSource, mode: FoldMode): LineRange[] {
  if (mode === 'all') return [];
  const kept = new Uint8Array(source.lineCount + 2);
  const keep = ({first, last}: LineRange) => kept.fill(1, first, Math.min(last, source.lineCount) + 1);
  const header = (definition: LineRange) => {
    const statement = statementAt(source.statements, definition.first);
    keep(statement ?? {first: definition.first, last: definition.first});
    for (let line = definition.first - 1; line >= 1 && source.isDecorator(line); line--) {
      keep(statementAt(source.statements, line) ?? {first: line, last: line});
    }
  };
  for (let line = 1; line <= source.lineCount; line++) {
    if (source.hasTime(line)) keep(statementAt(source.statements, line) ?? {first: line, last: line});
  }
  // Definitions by their measured lines: `count` up to a line makes each a subtraction.
  const count = new Uint32Array(source.lineCount + 2);
  for (let line = 1; line <= source.lineCount; line++) {
    count[line] = count[line - 1] + (source.hasTime(line) ? 1 : 0);
  }
  const measured = source.definitions.filter(({first, last}) =>
    count[Math.min(last, source.lineCount)] > count[first - 1]);
  measured.forEach((definition, i) => {
    const inner = measured[i + 1];
    const holdsAnother = inner !== undefined && inner.first <= definition.last;
    header(definition);
    // Of nested ones the innermost stay whole: a class is not kept for one method of it.
    if (mode === 'functions' && !holdsAnother) keep(definition);
  });
  return gaps(kept, source);
}

function gaps(kept: Uint8Array, source: FoldSource): LineRange[] {
  const folds: LineRange[] = [];
  for (let line = 1; line <= source.lineCount; line++) {
    if (kept[line] !== 0) continue;
    let last = line;
    while (last < source.lineCount && kept[last + 1] === 0) last++;
    if (last - line + 1 >= SMALLEST) folds.push({first: line, last});
    line = last;
  }
  return folds;
}

export function statementAt(statements: readonly LineRange[], line: number): LineRange | null {
  let low = 0;
  let high = statements.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (statements[middle].last < line) low = middle + 1;
    else high = middle;
  }
  const found = statements[low];
  return found !== undefined && found.first <= line ? found : null;
}

export function foldAt(folds: readonly LineRange[], line: number): LineRange | null {
  return statementAt(folds, line);
}
