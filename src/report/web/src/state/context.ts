import {createContext} from 'preact';
import {useContext} from 'preact/hooks';

import type {Report} from '../data/report.ts';

export const ReportContext = createContext<Report | null>(null);

export function useReport(): Report {
  const report = useContext(ReportContext);
  if (report === null) throw new Error('a view is used outside of a report');
  return report;
}
