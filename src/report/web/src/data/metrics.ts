// Columns of measurements with a flag for each value that is unavailable. Unavailable reads as NaN
// here, so that no sum, comparison or format can mistake it for 0.
import type {Container} from './container.ts';

export type MetricId = 'time' | 'samples' | 'total';

export interface MetricSource {
  // NaN: unavailable.
  get(id: MetricId, row: number): number;
}

export class Metrics implements MetricSource {
  private readonly columns = new Map<string, Float64Array>();

  // `columns` is the index' list: its order is the order of the bits in m.missing.
  constructor(chunk: Container, columns: readonly string[]) {
    const missing = chunk.u32('m.missing');
    columns.forEach((id, bit) => {
      const stored = chunk.f64(`m.${id}`);
      const values = new Float64Array(stored.length);
      for (let row = 0; row < stored.length; row++) {
        values[row] = (missing[row] >>> bit) & 1 ? NaN : stored[row];
      }
      this.columns.set(id, values);
    });
  }

  get(id: MetricId, row: number): number {
    const column = this.columns.get(id);
    return column === undefined ? NaN : column[row];
  }
}
