// How far a share from few samples can be trusted.
import {formatCount, isKnown} from './format.ts';

// Of the normal distribution, 95 % to both sides.
const Z = 1.959964;
// With more the interval is within a quarter of the share itself to either side.
const FEW = 60;

// Wilson's interval of 95 % for a part of `samples` in `whole`: it holds for small counts too.
export function wilson(samples: number, whole: number): [number, number] {
  if (!(whole > 0)) return [0, 1];
  const share = samples / whole;
  const square = Z * Z / whole;
  const middle = (share + square / 2) / (1 + square);
  const half = Z / (1 + square) * Math.sqrt(share * (1 - share) / whole + square / (4 * whole));
  return [samples <= 0 ? 0 : Math.max(0, middle - half),
          samples >= whole ? 1 : Math.min(1, middle + half)];
}

export function isFew(samples: number): boolean {
  return samples > 0 && samples < FEW;
}

// "3 samples: 0.1% to 0.9%"; empty where there is nothing to say.
export function confidenceText(samples: number | null, whole: number | null): string {
  if (!isKnown(samples) || !isKnown(whole) || !(samples > 0) || !(whole > 0)) return '';
  const [low, high] = wilson(samples, whole);
  const count = `${formatCount(samples)} ${samples === 1 ? 'sample' : 'samples'}`;
  return `${count}: ${percent(low, high - low)} to ${percent(high, high - low)}`;
}

// With as many digits as tell the ends of the interval apart, and the lower one from nothing.
function percent(value: number, width: number): string {
  if (value === 0 || value === 1) return `${100 * value}%`;
  const digits = Math.ceil(-Math.log10(100 * Math.max(1e-7, Math.min(width, value))));
  return `${(100 * value).toFixed(Math.min(5, Math.max(1, digits)))}%`;
}
