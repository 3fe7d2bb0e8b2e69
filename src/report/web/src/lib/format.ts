// Numbers as the report shows them. Unavailable (null or NaN) is a dash, everywhere; 0 is a value.

export const DASH = '–';
const THIN_MINUS = '−';

export function isKnown(value: number | null | undefined): value is number {
  return value !== null && value !== undefined && !Number.isNaN(value);
}

const integers = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});

export function formatCount(value: number | null): string {
  return isKnown(value) ? integers.format(value) : DASH;
}

// Largest value of a unit before rounding would show a fourth digit before the point.
const NEXT_UNIT = 999.5;
const TIME_UNITS: ReadonlyArray<readonly [string, number]> =
    [['ns', 1], ['µs', 1e3], ['ms', 1e6], ['s', 1e9]];
const MINUTE = 60e9;

// Nanoseconds with three significant digits: "1.23 s", "45.6 ms", "16.7 min".
export function formatTime(value: number | null): string {
  if (!isKnown(value)) return DASH;
  if (value === 0) return '0 s';
  if (value < 0) return THIN_MINUS + formatTime(-value);
  for (const [unit, size] of TIME_UNITS) {
    if (value / size < NEXT_UNIT) return `${significant(value / size, unit === 'ns')} ${unit}`;
  }
  return `${significant(value / MINUTE, false)} min`;
}

// Nanoseconds since the start of the run at a precision that tells neighbours `step` apart.
export function formatMoment(value: number, step: number): string {
  const decimals = Math.min(6, Math.max(0, Math.ceil(-Math.log10(Math.max(step, 1) / 1e9))));
  return `${(value / 1e9).toLocaleString('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  })} s`;
}

function significant(value: number, whole: boolean): string {
  if (value >= 999.5) return integers.format(value);
  if (whole && Number.isInteger(value)) return String(value);
  return value.toPrecision(3);
}

const BYTE_UNITS: ReadonlyArray<readonly [string, number]> =
    [['B', 1], ['KB', 1e3], ['MB', 1e6], ['GB', 1e9], ['TB', 1e12]];

// Decimal units: 1 MB is 1,000,000 bytes.
export function formatBytes(value: number | null): string {
  if (!isKnown(value)) return DASH;
  if (value < 0) return THIN_MINUS + formatBytes(-value);
  if (value < 1000) return `${integers.format(value)} B`;
  for (const [unit, size] of BYTE_UNITS) {
    if (value / size < NEXT_UNIT) return `${significant(value / size, false)} ${unit}`;
  }
  return `${significant(value / 1e12, false)} TB`;
}

// Part of a whole as a percentage; there is none of nothing or of something unknown.
export function formatShare(value: number | null, whole: number | null): string {
  if (!isKnown(value) || !isKnown(whole) || whole <= 0) return DASH;
  const percent = 100 * value / whole;
  if (percent === 0) return '0%';
  if (percent < 0.05) return '<0.1%';
  return `${percent.toFixed(1)}%`;
}

export function formatRate(value: number | null): string {
  if (!isKnown(value)) return DASH;
  return value >= 1000 ? integers.format(value) : String(Number(value.toPrecision(4)));
}

export function formatDate(unixMs: number): string {
  return new Date(unixMs).toLocaleString(
      'en-GB', {dateStyle: 'medium', timeStyle: 'medium'});
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
