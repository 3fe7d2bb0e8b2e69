import type {Container} from './container.ts';
import {Changes} from './changes.ts';
import type {MetricSource} from './metrics.ts';
import {Metrics} from './metrics.ts';

export const KINDS = ['function', 'async function', 'class body', 'lambda', 'module', 'other'];

// All functions, sorted by file, line and name; a function's id is its row.
export interface FunctionTable {
  count: number;
  name: string[];
  file: Uint32Array;
  line: Uint32Array;
  // Number of lines from `def` through the last statement of the body; NaN: unknown.
  lines: Float64Array;
  kind: Uint8Array;
  metrics: MetricSource;
  changes: Changes;
}

export function decodeFunctions(chunk: Container, columns: readonly string[]): FunctionTable {
  const line = chunk.u32('line');
  const last = chunk.u32('last');
  const lines = Float64Array.from(last, (end, row) => end >= line[row] ? end - line[row] + 1 : NaN);
  return {
    count: line.length,
    name: chunk.strings('name'),
    file: chunk.u32('file'),
    line,
    lines,
    kind: chunk.u8('kind'),
    metrics: new Metrics(chunk, columns),
    changes: new Changes(chunk),
  };
}
