import {signal} from '@preact/signals';

// True while the page is laid out for paper, where rows cannot be scrolled into view.
export const printing = signal(false);

export function startPrinting(): void {
  window.addEventListener('beforeprint', () => { printing.value = true; });
  window.addEventListener('afterprint', () => { printing.value = false; });
}
