// A whole cut into named parts: a bar for the eye and a list with the numbers for everyone.
import {formatShare, formatTime, isKnown} from '../lib/format.ts';

export interface Part {
  name: string;
  value: number | null;
  // Class of the colour.
  tone: string;
  hint?: string;
}

export function SplitBar({parts, whole}: {parts: readonly Part[]; whole: number | null}) {
  const shown = parts.filter(({value}) => isKnown(value) && value > 0);
  return (
    <div class="split">
      <div class="split-bar" aria-hidden="true">
        {isKnown(whole) && whole > 0 && shown.map(({name, value, tone}) => (
          <span key={name} class={tone} style={{width: `${100 * (value ?? 0) / whole}%`}} />
        ))}
      </div>
      <ul>
        {parts.map(({name, value, tone, hint}) => (
          <li key={name} title={hint}><span class={`swatch ${tone}`} />{name}
            <strong>{formatShare(value, whole)}</strong><span class="quiet">{formatTime(value)}</span></li>
        ))}
      </ul>
    </div>
  );
}
