// The numbers that tables show: those that the report stores, or, of a part of the run, those that its
// samples add up to.
import {signal} from '@preact/signals';

import type {FunctionTable} from '../data/functions.ts';
import type {HotLine, ReportIndex, Totals} from '../data/index_types.ts';
import type {MetricId} from '../data/metrics.ts';
import type {Report} from '../data/report.ts';
import type {SourceFile} from '../data/source.ts';
import type {Filter, StackData} from '../data/stacks.ts';
import type {Costs, Tally} from '../lib/tally.ts';
import {hottestLines, largest, linesOf, tally} from '../lib/tally.ts';
import {useReport} from './context.ts';
import {filter, isFiltered} from './filter.ts';

export interface Numbers {
  // The report's, with numbers of what is selected. The timeline is that of the whole run.
  index: ReportIndex;
  functions(table: FunctionTable): FunctionTable;
  source(file: number, source: SourceFile): SourceFile;
}

// Read when a part of the run is first looked at.
export const stackData = signal<StackData | null>(null);

export function useNumbers(): Numbers {
  const report = useReport();
  const data = stackData.value;
  // A view is only there when the data for it is.
  return isFiltered.value && data !== null ? selected(report, data, filter.value) : stored(report);
}

const storedOf = new WeakMap<Report, Numbers>();

function stored(report: Report): Numbers {
  let numbers = storedOf.get(report);
  if (numbers === undefined) {
    numbers = {index: report.index, functions: (table) => table, source: (_, source) => source};
    storedOf.set(report, numbers);
  }
  return numbers;
}

const selectedOf = new WeakMap<Filter, Numbers>();

function selected(report: Report, data: StackData, part: Filter): Numbers {
  let numbers = selectedOf.get(part);
  if (numbers === undefined) {
    numbers = addUp(report.index, data, part);
    selectedOf.set(part, numbers);
  }
  return numbers;
}

export function addUp(index: ReportIndex, data: StackData, part: Filter): Numbers {
  const sums = tally(data, part, index.files.path.length, index.functions);
  const files = {
    ...index.files, time: orNull(sums.files.time), samples: [...sums.files.samples],
    total: orNull(sums.files.total),
  };
  const tables = new WeakMap<FunctionTable, FunctionTable>();
  const sources = new WeakMap<SourceFile, SourceFile>();
  return {
    index: {...index, files, totals: totalsOf(sums), hot: hotLines(index, data, sums)},
    functions: (table) => cached(tables, table, () => (
        {...table, metrics: {get: (id: MetricId, row: number) => sums.functions[id][row]}})),
    source: (file, source) => cached(sources, source, () => source.with(valuesOf(index, data, sums, file))),
  };
}

function cached<K extends object, V>(cache: WeakMap<K, V>, key: K, make: () => V): V {
  let value = cache.get(key);
  if (value === undefined) cache.set(key, value = make());
  return value;
}

function orNull(values: Float64Array): Array<number | null> {
  return Array.from(values, (value) => Number.isNaN(value) ? null : value);
}

function totalsOf({all, project, outside, noPython, states, cpu, holding, ...costs}: Tally): Totals {
  return {
    time: all.time, samples: all.samples,
    project_time: project.time, project_samples: project.samples,
    outside_time: outside.time, outside_samples: outside.samples,
    no_python_time: noPython.time, no_python_samples: noPython.samples,
    ...states, cpu, holding,
    max_line_time: largest(costs.lines.time), max_line_total: largest(costs.lines.total),
    max_function_time: largest(costs.functions.time), max_function_total: largest(costs.functions.total),
    max_file_time: largest(costs.files.time), max_file_total: largest(costs.files.total),
  };
}

// By line number in one file.
function valuesOf(index: ReportIndex, data: StackData, sums: Tally, file: number) {
  const lines = linesOf(data, index.files.path.length);
  const rows = new Map<number, number>();
  for (let row = lines.start[file]; row < lines.start[file + 1]; row++) rows.set(lines.line[row], row);
  return (id: MetricId, line: number): number => {
    const row = rows.get(line);
    return row === undefined ? (id === 'samples' ? 0 : NaN) : sums.lines[id][row];
  };
}

// As many as a report quotes.
const MOST_LINES = 50;

function hotLines(index: ReportIndex, data: StackData, sums: Tally): HotLine[] {
  const lines = linesOf(data, index.files.path.length);
  const quoted = new Map(index.hot.map((hot) => [`${hot.file}:${hot.line}`, hot]));
  return hottestLines(sums, MOST_LINES).map((row) => {
    const [file, line] = [lines.file[row], lines.line[row]];
    const known = quoted.get(`${file}:${line}`) ?? unquoted(index, file, line);
    return {...known, time: sums.lines.time[row], samples: sums.lines.samples[row],
            total: valueOf(sums.lines, row)};
  });
}

function valueOf({total}: Costs, row: number): number | null {
  return Number.isNaN(total[row]) ? null : total[row];
}

// A line whose statement is not in the index: it is read with its file.
function unquoted(index: ReportIndex, file: number, line: number): Omit<HotLine, 'time' | 'samples' | 'total'> {
  const label = index.files.label[file];
  return {
    file, line, first: line, last: line, label: `${label.slice(label.lastIndexOf('/') + 1)}:${line}`,
    function: null, text: null, text_first: line, text_last: line, tokens: [],
  };
}
