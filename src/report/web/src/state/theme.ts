// Light, dark, or as the system is. Only the word is stored, and only where storage is allowed.
import {effect, signal} from '@preact/signals';

import {printing} from './printing.ts';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'linescope-theme';
const ORDER: readonly Theme[] = ['system', 'light', 'dark'];

export const theme = signal<Theme>(stored());
// What is shown now, 'light' or 'dark': drawn things (canvas) follow it.
export const shownTheme = signal<'light' | 'dark'>('light');

export function startTheme(): void {
  const systemDark = window.matchMedia('(prefers-color-scheme: dark)');
  const systemIsDark = signal(systemDark.matches);
  systemDark.addEventListener('change', (event) => { systemIsDark.value = event.matches; });
  effect(() => {
    const chosen = theme.value === 'system' ? systemIsDark.value : theme.value === 'dark';
    // Paper is light.
    const dark = chosen && !printing.value;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    shownTheme.value = dark ? 'dark' : 'light';
  });
}

export function setTheme(next: Theme): void {
  theme.value = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Storage is closed to pages opened from disk in some browsers: the choice lasts for this tab.
  }
}

export function nextTheme(): void {
  setTheme(ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length]);
}

function stored(): Theme {
  try {
    const word = localStorage.getItem(KEY);
    return ORDER.find((known) => known === word) ?? 'system';
  } catch {
    return 'system';
  }
}
