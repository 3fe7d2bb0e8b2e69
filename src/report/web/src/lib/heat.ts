// The heat map's scale: logarithmic over three decades below the largest value in the report.

const DECADES = 3;
// What is above zero is always visible, however small.
const FLOOR = 0.06;

// 0 (uncoloured) to 1 (the hottest). Zero, unknown and negative values have no heat.
export function heat(value: number, max: number | null): number {
  if (!(value > 0) || max === null || !(max > 0)) return 0;
  return Math.min(1, Math.max(FLOOR, 1 + Math.log10(value / max) / DECADES));
}

// Width of the bar behind a number: linear, 0 to 1.
export function barWidth(value: number, max: number | null): number {
  if (!(value > 0) || max === null || !(max > 0)) return 0;
  return Math.min(1, value / max);
}
