// What is known of the selected lines, and what can be done with them.
import type {CallData} from './calls_panel.tsx';
import {toggleCalls} from './calls_panel.tsx';
import type {SourceFile} from '../data/source.ts';
import {confidenceText, isFew} from '../lib/confidence.ts';
import {formatShare, formatTime} from '../lib/format.ts';
import {visible} from '../lib/visible.ts';
import {useReport} from '../state/context.ts';

interface LineBarProps {
  source: SourceFile;
  // Selected lines, both included.
  first: number;
  last: number;
  data: CallData | null;
  copy: (numbers: boolean) => void;
  copyLink: () => void;
}

export function LineBar({source, first, last, data, copy, copyLink}: LineBarProps) {
  const {totals} = useReport().index;
  const one = first === last;
  let [time, samples] = [0, 0];
  for (let line = first; line <= last; line++) {
    const value = source.value('time', line);
    if (value > 0) time += value;
    const count = source.value('samples', line);
    if (count > 0) samples += count;
  }
  const around = one ? source.definitionAt(first) : null;
  const id = around?.id ?? null;
  return (
    <div class="line-bar panel" role="region" aria-label="Selected lines">
      <p class="facts">
        <strong>{one ? `Line ${first}` : `Lines ${first}–${last}`}</strong>
        {id !== null && data !== null && <span>in <bdi class="mono">{visible(data.functions.name[id])}</bdi></span>}
        {samples > 0 ?
          <>
            <span>{formatTime(time)} <span class="share">{formatShare(time, totals.time)}</span></span>
            <span class="confidence" title="Where the true share lies, with 95% confidence">
              {confidenceText(samples, totals.samples)}{isFew(samples) ? ', from few samples' : ''}</span>
          </> :
          one && !source.hasNumbers(first) ? <span>no statement</span> :
            <span>no samples; {one ? 'it' : 'they'} may have run all the same</span>}
      </p>
      <div class="line-actions">
        {id !== null && data !== null &&
          <button type="button" class="button small" aria-keyshortcuts="c" title="Callers and calls (c)"
                  onClick={() => toggleCalls(id)}>Callers and calls</button>}
        <button type="button" class="button small" aria-keyshortcuts="y" title="Copy (y)"
                onClick={() => copy(false)}>Copy</button>
        <button type="button" class="button small" aria-keyshortcuts="Shift+Y" title="Copy with line numbers (Y)"
                onClick={() => copy(true)}>With numbers</button>
        <button type="button" class="button small" aria-keyshortcuts="l" title="Copy a link to this line (l)"
                onClick={copyLink}>Link</button>
      </div>
    </div>
  );
}
