// Reads the index out of the page. The file may have been cut or edited by hand, so everything the
// views rely on without asking is checked here, once.
import type {ReportIndex} from './index_types.ts';

export const FORMAT = 1;

export type IndexResult = {index: ReportIndex} | {problem: string};

export function parseIndex(text: string | null): IndexResult {
  if (text === null) return {problem: 'The index of this report is missing.'};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {problem: 'The index of this report is damaged and cannot be read.'};
  }
  if (typeof value !== 'object' || value === null) {
    return {problem: 'The index of this report is damaged and cannot be read.'};
  }
  const index = value as Partial<ReportIndex>;
  if (index.format !== FORMAT) {
    return {
      problem: `This page reads format ${FORMAT}, and the data in this file has format ` +
          `${String(index.format)}. Write the report again with one version of LineScope.`,
    };
  }
  const missing = (['run', 'totals', 'files', 'chunks', 'columns', 'hot'] as const)
                      .filter((name) => typeof index[name] !== 'object' || index[name] === null);
  if (missing.length > 0) {
    return {problem: `The index of this report is damaged: it lacks ${missing.join(', ')}.`};
  }
  return {index: value as ReportIndex};
}
