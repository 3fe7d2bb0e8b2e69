import './styles/index.css';

import {render} from 'preact';

import {App} from './app.tsx';
import {Report} from './data/report.ts';
import {parseIndex} from './data/report_index.ts';
import {startNavigation} from './state/navigation.ts';
import {startTheme} from './state/theme.ts';
import {startKeys} from './ui/keys.ts';
import {startPrinting} from './ui/printing.ts';

function start(): void {
  const root = document.getElementById('app');
  if (root === null) return;
  startTheme();
  const parsed = parseIndex(document.getElementById('ls-index')?.textContent ?? null);
  if ('problem' in parsed) {
    render(<main class="fatal"><h1>LineScope</h1><p role="alert">{parsed.problem}</p></main>, root);
    return;
  }
  startNavigation();
  startKeys();
  startPrinting();
  render(<App report={new Report(parsed.index)} />, root);
}

start();
