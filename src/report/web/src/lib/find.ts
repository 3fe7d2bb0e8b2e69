// Lines of a text that hold another one, whatever the case.
export function findLines(text: string, lineOf: (offset: number) => number, wanted: string): number[] {
  if (wanted === '') return [];
  const hay = text.toLowerCase();
  // A lower-case form of another length would shift every offset behind it.
  const same = hay.length === text.length;
  const where = same ? hay : text;
  const needle = same ? wanted.toLowerCase() : wanted;
  const lines: number[] = [];
  for (let at = where.indexOf(needle); at >= 0; at = where.indexOf(needle, at + 1)) {
    const line = lineOf(at);
    if (lines[lines.length - 1] !== line) lines.push(line);
  }
  return lines;
}

// Position in `lines` of the next match after line `from`, or before it; around at the ends.
export function nextMatch(lines: readonly number[], from: number, direction: 1 | -1): number {
  if (direction > 0) {
    const next = lines.findIndex((line) => line > from);
    return next < 0 ? 0 : next;
  }
  for (let i = lines.length - 1; i >= 0; i--) if (lines[i] < from) return i;
  return lines.length - 1;
}

// Where one line holds the text, without overlap.
export function findIn(line: string, wanted: string): number[] {
  const hay = line.toLowerCase();
  const same = hay.length === line.length;
  const [where, needle] = same ? [hay, wanted.toLowerCase()] : [line, wanted];
  const out: number[] = [];
  for (let at = where.indexOf(needle); at >= 0; at = where.indexOf(needle, at + needle.length)) out.push(at);
  return out;
}
