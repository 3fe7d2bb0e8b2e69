// Subsequence match for the go-to box: every character of the query in order, the better the closer
// together and the nearer to the starts of words.

export interface Match {
  score: number;
  // Positions of the matched characters.
  at: number[];
}

const WORD_START = 8;
const ADJACENT = 6;
const BASENAME = 3;

// `hay`: the text in lower case, where it is at hand.
export function fuzzyMatch(query: string, text: string, hay: string = text.toLowerCase()): Match | null {
  if (query === '') return {score: 0, at: []};
  const needle = query.toLowerCase();
  const base = text.lastIndexOf('/') + 1;
  const whole = hay.lastIndexOf(needle);
  if (whole >= 0) {
    const start = isWordStart(text, whole) ? WORD_START : 0;
    return {
      score: needle.length * (ADJACENT + BASENAME) + start + (whole >= base ? BASENAME : 0) -
          text.length / 64,
      at: Array.from(needle, (_, i) => whole + i),
    };
  }
  // From the end, so that the last part of a path is preferred to folders above it.
  const at: number[] = [];
  let from = hay.length - 1;
  for (let i = needle.length - 1; i >= 0; i--) {
    const found = hay.lastIndexOf(needle[i], from);
    if (found < 0 || from < 0) return null;
    at.unshift(found);
    from = found - 1;
  }
  let score = -text.length / 64;
  at.forEach((position, i) => {
    score += 1;
    if (isWordStart(text, position)) score += WORD_START / 2;
    if (i > 0 && position === at[i - 1] + 1) score += ADJACENT;
    if (position >= base) score += BASENAME / 2;
  });
  return {score, at};
}

function isWordStart(text: string, at: number): boolean {
  if (at === 0) return true;
  const [before, here] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  if (before < 0x80 && here < 0x80) {
    return !isAsciiLetter(before) && !isDigit(before) || isUpper(here) && isAsciiLetter(before) && !isUpper(before);
  }
  return /[^\p{L}\p{N}]/u.test(text[at - 1]) || (/\p{Lu}/u.test(text[at]) && /\p{Ll}/u.test(text[at - 1]));
}

// The same for plain ASCII, which most names are, at a fraction of the cost.
function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

function isAsciiLetter(code: number): boolean {
  return isUpper(code & ~0x20);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

// "io.py:83" → its file part and line; null when there is no line.
export function splitLine(query: string): {name: string; line: number} | null {
  const match = /^(.*?):(\d+)(?:-\d+)?$/.exec(query.trim());
  return match === null ? null : {name: match[1], line: Number(match[2])};
}
