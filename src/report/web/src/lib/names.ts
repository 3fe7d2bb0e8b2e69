// What processes, threads and states are called.
import type {ReportIndex, StateGroup} from '../data/index_types.ts';
import {visible} from './visible.ts';

export const STATE_NAMES: Record<StateGroup, string> = {
  running: 'running', gc: 'collecting garbage', gil: 'waiting for the GIL', waiting: 'waiting', idle: 'idle',
  stopped: 'stopped', unknown: 'in an unknown state',
};

// "python3 train.py --fast (4711)", without the folder of the program.
export function processName({processes}: ReportIndex, id: number): string {
  const process = processes[id];
  if (process === undefined) return `${id}, which this report has not`;
  return `${visible(shortCommand(process.command))} (${process.pid})`.trim();
}

// With its process where there are several.
export function threadName({threads, processes}: ReportIndex, id: number): string {
  const thread = threads[id];
  if (thread === undefined) return `${id}, which this report has not`;
  const process = processes[thread.process];
  const of = processes.length > 1 && process !== undefined ? ` of ${process.pid}` : '';
  return `${visible(thread.name)} (${thread.tid}${of})`;
}

export function shortCommand([program = '', ...rest]: readonly string[]): string {
  return [program.slice(program.lastIndexOf('/') + 1), ...rest].join(' ');
}

// One thread of one process has no view of its own.
export function hasProcesses({processes, threads}: ReportIndex): boolean {
  return processes.length > 1 || threads.length > 1;
}
