// What the keyboard lands on, said to screen readers.
import {signal} from '@preact/signals';

const message = signal('');

export function announce(text: string): void {
  message.value = text;
}

export function LiveRegion() {
  return <div class="sr-only" role="status" aria-live="polite">{message}</div>;
}
