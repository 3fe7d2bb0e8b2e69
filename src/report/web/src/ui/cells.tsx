// Cells that all tables share.
import type {ComponentChildren} from 'preact';

import {barWidth} from '../lib/heat.ts';
import {DASH, formatCount, formatShare, formatTime, isKnown} from '../lib/format.ts';
import {visible} from '../lib/visible.ts';

export function NumberCell({value, title = ''}: {value: number | null; title?: string}) {
  const faint = !isKnown(value) || value === 0;
  return (
    <div class={`td num${faint ? ' faint' : ''}`} role="cell" {...(title === '' ? {} : {title})}>{formatCount(value)}</div>
  );
}

interface TimeCellProps {
  value: number | null;
  // What the share is a share of.
  whole: number | null;
  // Full width of the bar; null: no bar.
  barMax?: number | null;
}

export function TimeCell({value, whole, barMax = null}: TimeCellProps) {
  const bar = isKnown(value) ? barWidth(value, barMax) : 0;
  const share = isKnown(value) ? formatShare(value, whole) : DASH;
  return (
    <div class={`td num time${isKnown(value) ? '' : ' faint'}`} role="cell">
      {bar > 0 && <span class="bar" style={{width: `${(100 * bar).toFixed(2)}%`}} />}
      <span class="duration">{formatTime(value)}</span>
      {share !== DASH && <span class="share">{share}</span>}
    </div>
  );
}

export function TextCell({children, class: name = '', title}:
                         {children: ComponentChildren; class?: string; title?: string}) {
  return <div class={`td ${name}`} role="cell" title={title}>{children}</div>;
}

// "pkg/io.py:12": the folders are there to tell files apart and step back.
export function Place({label, suffix = ''}: {label: string; suffix?: string}) {
  const cut = label.lastIndexOf('/') + 1;
  return (
    <bdi>
      {cut > 0 && <span class="folder">{visible(label.slice(0, cut))}</span>}
      {visible(label.slice(cut))}{suffix}
    </bdi>
  );
}
