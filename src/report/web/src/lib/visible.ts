// Text from the target may hold characters that do not show, or that reorder what stands around them
// so that code reads otherwise than it runs. They are named instead.

const HIDDEN =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
const HIDDEN_ALL = new RegExp(HIDDEN.source, 'g');

const CONTROL_PICTURES = 0x2400;

export function hasHidden(text: string): boolean {
  return HIDDEN.test(text);
}

// The sign shown for one hidden character: "␀", or "U+202E".
export function signFor(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(CONTROL_PICTURES + code);
  if (code === 0x7f) return '␡';
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

// For one-line texts: paths, names, messages.
export function visible(text: string): string {
  return hasHidden(text) ? text.replace(HIDDEN_ALL, signFor) : text;
}

// Splits at hidden characters: even entries are plain text, odd entries one hidden character each.
export function splitHidden(text: string): string[] {
  return text.split(new RegExp(`(${HIDDEN.source})`));
}
