// The part of a time axis that is in sight, and zooming it.

export interface Span {
  begin: number;
  end: number;
}

// A span of `width` around `center`, moved to lie within `whole`.
export function spanAround(center: number, width: number, whole: Span): Span {
  const size = Math.min(width, whole.end - whole.begin);
  const begin = Math.min(Math.max(center - size / 2, whole.begin), whole.end - size);
  return {begin, end: begin + size};
}

// Zooms so that `at` stays where it is in sight. `factor` below 1 shows less.
export function zoomed({begin, end}: Span, factor: number, at: number, whole: Span, least: number): Span {
  const width = Math.min(Math.max((end - begin) * factor, least), whole.end - whole.begin);
  const part = end > begin ? Math.min(1, Math.max(0, (at - begin) / (end - begin))) : 0.5;
  return spanAround(at - part * width + width / 2, width, whole);
}

// Moves just enough that `at` is in sight.
export function withInSight(span: Span, at: number, whole: Span): Span {
  if (at >= span.begin && at <= span.end) return span;
  const width = span.end - span.begin;
  return spanAround(at < span.begin ? at + width * 0.4 : at - width * 0.4, width, whole);
}

export function isWhole(span: Span, whole: Span): boolean {
  return span.end - span.begin >= whole.end - whole.begin;
}
