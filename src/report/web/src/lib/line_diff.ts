// A shortest edit script between two lists of lines (Myers 1986, "An O(ND) Difference Algorithm").

export interface DiffRow {
  sign: ' ' | '-' | '+';
  text: string;
}

// Beyond so many edits a diff says nothing, and its search takes long.
const MOST_EDITS = 2000;

export function diffLines(before: readonly string[], after: readonly string[]): DiffRow[] {
  const trace = search(before, after);
  if (trace === null) {
    return [...before.map((text) => ({sign: '-', text}) as const), ...after.map((text) => ({sign: '+', text}) as const)];
  }
  const rows: DiffRow[] = [];
  let x = before.length;
  let y = after.length;
  for (let edits = trace.length - 1; edits > 0; edits--) {
    const ends = trace[edits - 1];
    const k = x - y;
    const added = cameByAdding(ends, edits - 1, k, edits);
    const startX = at(ends, edits - 1, added ? k + 1 : k - 1);
    const startY = startX - (added ? k + 1 : k - 1);
    const [afterX, afterY] = added ? [startX, startY + 1] : [startX + 1, startY];
    for (; x > afterX && y > afterY; x--, y--) rows.push({sign: ' ', text: before[x - 1]});
    rows.push(added ? {sign: '+', text: after[y - 1]} : {sign: '-', text: before[x - 1]});
    [x, y] = [startX, startY];
  }
  for (; x > 0; x--) rows.push({sign: ' ', text: before[x - 1]});
  return rows.reverse();
}

// For each number of edits, how far each diagonal k = x − y reaches: a list with k at position (k + edits) / 2.
function search(before: readonly string[], after: readonly string[]): Int32Array[] | null {
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= Math.min(MOST_EDITS, before.length + after.length); edits++) {
    const ends = new Int32Array(edits + 1);
    const last = edits === 0 ? null : trace[edits - 1];
    for (let k = -edits; k <= edits; k += 2) {
      let x = 0;
      if (last !== null) {
        x = cameByAdding(last, edits - 1, k, edits) ? at(last, edits - 1, k + 1) : at(last, edits - 1, k - 1) + 1;
      }
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++;
      ends[(k + edits) / 2] = x;
      if (x >= before.length && x - k >= after.length) return [...trace, ends];
    }
    trace.push(ends);
  }
  return null;
}

function cameByAdding(ends: Int32Array, edits: number, k: number, now: number): boolean {
  return k === -now || (k !== now && at(ends, edits, k - 1) < at(ends, edits, k + 1));
}

function at(ends: Int32Array, edits: number, k: number): number {
  return ends[(k + edits) / 2];
}
