import {signal} from '@preact/signals';

import {visible} from '../lib/visible.ts';
import {useReport} from '../state/context.ts';
import {nextTheme, theme} from '../state/theme.ts';
import {AssistantButton} from './assistant.tsx';
import {Mark, MoonIcon, SearchIcon, SunIcon, SystemIcon} from './icons.tsx';
import {StatusPill} from './run_status.tsx';

export const paletteOpen = signal(false);
export const helpOpen = signal(false);

export function Header() {
  const {run} = useReport().index;
  const python = run.python === null ? 'Python version unknown' : `Python ${visible(run.python)}`;
  return (
    <header class="app-header">
      <a class="brand" href="#overview" aria-label="LineScope, overview">
        <Mark /><span>LineScope</span>
      </a>
      <span class="run-title" title={visible(run.command.join(' '))}>
        <bdi>{visible(run.title)}</bdi>
      </span>
      <StatusPill status={run.status} />
      <span class="run-facts">
        <a href="#about">{visible(run.collector)}</a> · <a href="#about">{visible(run.method)}</a> · {python}
      </span>
      <span class="spring" />
      <button type="button" class="button goto" aria-keyshortcuts="Control+K /"
              aria-label="Go to a file, function, line or command"
              onClick={() => { paletteOpen.value = true; }}>
        <SearchIcon /><span class="wide">Go to…</span><kbd>/</kbd>
      </button>
      <AssistantButton />
      <button type="button" class="button square" aria-label="Keyboard shortcuts"
              title="Keyboard shortcuts (?)" onClick={() => { helpOpen.value = true; }}>?</button>
      <ThemeButton />
    </header>
  );
}

const THEME_NAMES = {system: 'as the system', light: 'light', dark: 'dark'};

function ThemeButton() {
  const now = theme.value;
  const label = `Theme: ${THEME_NAMES[now]}`;
  return (
    <button type="button" class="button square" aria-label={label} title={`${label} (t)`}
            onClick={nextTheme}>
      {now === 'system' ? <SystemIcon /> : now === 'light' ? <SunIcon /> : <MoonIcon />}
    </button>
  );
}
