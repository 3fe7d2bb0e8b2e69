// The tree of processes and threads as rows.
import type {ReportIndex, ThreadFacts} from '../data/index_types.ts';

// A process, or a thread of the process above it.
export interface Row {
  key: string;
  depth: number;
  process: number;
  thread: number | null;
  // Threads that the row stands for.
  threads: number[];
}

export function busiestFirst(threads: readonly ThreadFacts[]): number[] {
  return threads.map((_, id) => id).sort((a, b) =>
    (threads[b].running ?? 0) - (threads[a].running ?? 0) ||
        (threads[b].samples ?? 0) - (threads[a].samples ?? 0) || a - b);
}

// Those with samples, and those that they descend from.
export function sampledProcesses({processes, threads}: ReportIndex): Set<number> {
  const found = new Set<number>();
  for (const thread of threads) {
    for (let at: number | null = thread.process; at !== null && !found.has(at); at = processes[at]?.parent ?? null) {
      found.add(at);
    }
  }
  return found;
}

// Processes below those that made them, each with its threads, the busiest first.
export function rowsOf({processes, threads}: ReportIndex): Row[] {
  const children = new Map<number | null, number[]>();
  processes.forEach(({parent}, id) => children.set(parent, [...children.get(parent) ?? [], id]));
  const ofProcess: number[][] = processes.map(() => []);
  for (const thread of busiestFirst(threads)) ofProcess[threads[thread].process]?.push(thread);
  const rows: Row[] = [];
  // Without recursion: a chain of processes can be long.
  const open = (children.get(null) ?? []).map((process) => ({process, depth: 0})).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const {process, depth} = next;
    rows.push({key: `p${process}`, depth, process, thread: null, threads: ofProcess[process]});
    for (const thread of ofProcess[process]) {
      rows.push({key: `t${thread}`, depth: depth + 1, process, thread, threads: [thread]});
    }
    for (const child of [...children.get(process) ?? []].reverse()) open.push({process: child, depth: depth + 1});
  }
  return rows;
}
