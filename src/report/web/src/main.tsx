import './styles/index.css';

import {render} from 'preact';

import {App} from './app.tsx';
import {Report} from './data/report.ts';
import {parseIndex} from './data/report_index.ts';
import {startConnection} from './state/connection.ts';
import {startNavigation} from './state/navigation.ts';
import {startPrinting} from './state/printing.ts';
import {startTheme} from './state/theme.ts';
import {openAssistant} from './state/assistant.ts';
import {startKeys} from './ui/keys.ts';

const TOO_OLD = 'This browser cannot unpack the report. Chrome 111, Edge 111, Firefox 113, Safari 16.4 and ' +
    'newer ones can.';

function start(): void {
  const root = document.getElementById('app');
  if (root === null) return;
  // First of all: what comes after it cannot connect to anything that was not chosen.
  const resumed = startConnection();
  startTheme();
  const text = document.getElementById('ls-index')?.textContent ?? null;
  const parsed = typeof DecompressionStream === 'undefined' ? {problem: TOO_OLD} : parseIndex(text);
  if ('problem' in parsed) {
    render(<main class="fatal"><h1>LineScope</h1><p role="alert">{parsed.problem}</p></main>, root);
    return;
  }
  startNavigation();
  startKeys();
  startPrinting();
  render(<App report={new Report(parsed.index)} />, root);
  if (resumed !== null) openAssistant(resumed.target);
}

start();
