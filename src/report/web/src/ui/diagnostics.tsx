import type {Diagnostic, DiagnosticLevel} from '../data/index_types.ts';
import {visible} from '../lib/visible.ts';
import {ErrorIcon, InfoIcon, WarningIcon} from './icons.tsx';

const NAMES: Record<DiagnosticLevel, string> = {info: 'Note', warning: 'Warning', error: 'Error'};

export function Diagnostics({list}: {list: readonly Diagnostic[]}) {
  return (
    <ul class="diagnostics">
      {list.map(({level, text}, i) => (
        <li key={i} class={`level-${level}`}>
          {level === 'error' ? <ErrorIcon /> : level === 'warning' ? <WarningIcon /> : <InfoIcon />}
          <span><strong>{NAMES[level] ?? level}:</strong> {visible(text)}</span>
        </li>
      ))}
    </ul>
  );
}
