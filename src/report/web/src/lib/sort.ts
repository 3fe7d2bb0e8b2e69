// Order of a table's rows. Rows come in line order; ties keep it in both directions, and rows
// without a value come last in both directions.

export interface SortOrder {
  column: string;
  descending: boolean;
}

// A number a row (NaN: unknown), or a text a row (null: unknown).
export type SortKeys = Float64Array | ReadonlyArray<string | null>;

const byAlphabet = new Intl.Collator('en', {numeric: true});

export function sortRows(keys: SortKeys, descending: boolean): Uint32Array {
  const order = new Uint32Array(keys.length);
  let known = 0;
  for (let row = 0; row < keys.length; row++) {
    if (isKnownKey(keys[row])) order[known++] = row;
  }
  const last = known;
  for (let row = 0; row < keys.length; row++) {
    if (!isKnownKey(keys[row])) order[known++] = row;
  }
  const sign = descending ? -1 : 1;
  order.subarray(0, last).sort((a, b) => sign * compare(keys[a], keys[b]) || a - b);
  return order;
}

export function lineOrder(count: number, descending: boolean): Uint32Array {
  return Uint32Array.from({length: count}, (_, i) => descending ? count - 1 - i : i);
}

// What selecting a heading does: its own first direction, then the other one.
export function nextSort(current: SortOrder, column: string, descendingFirst: boolean): SortOrder {
  if (current.column !== column) return {column, descending: descendingFirst};
  return {column, descending: !current.descending};
}

function isKnownKey(key: number | string | null): boolean {
  return key !== null && !(typeof key === 'number' && Number.isNaN(key));
}

function compare(a: number | string | null, b: number | string | null): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return byAlphabet.compare(String(a), String(b));
}
