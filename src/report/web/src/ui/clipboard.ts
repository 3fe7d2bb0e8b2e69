// Copying text. Pages opened from disk may be refused the clipboard's own interface; the copy command is not.
import {announce} from './announce.tsx';

// False: the browser refused.
export function copyText(text: string): boolean {
  const onCopy = (event: ClipboardEvent) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    event.clipboardData?.setData('text/plain', text);
  };
  document.addEventListener('copy', onCopy, {capture: true});
  const done = document.execCommand('copy');
  document.removeEventListener('copy', onCopy, {capture: true});
  return done;
}

export function copyAndSay(text: string, what: string): void {
  announce(copyText(text) ? `Copied ${what}` : 'The browser refused to copy');
}

// Lines as text, with their numbers in front when asked for.
export function linesAsText(lineText: (line: number) => string, first: number, last: number, numbers: boolean): string {
  const width = String(last).length;
  let text = '';
  for (let line = first; line <= last; line++) {
    text += `${numbers ? `${String(line).padStart(width)}  ` : ''}${lineText(line)}\n`;
  }
  return text;
}
