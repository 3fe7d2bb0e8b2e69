// What each thread did in a part of the run.
import type {ReportIndex, StateGroup} from '../data/index_types.ts';
import type {Filter, StackData} from '../data/stacks.ts';
import {cellsIn} from '../data/stacks.ts';

export interface ThreadSums extends Record<StateGroup, number> {
  time: number;
  samples: number;
  cpu: number;
}

const NOTHING: ThreadSums =
    {time: 0, samples: 0, cpu: 0, running: 0, gc: 0, gil: 0, waiting: 0, idle: 0, stopped: 0, unknown: 0};
const NAMES = Object.keys(NOTHING) as Array<keyof ThreadSums>;

// By thread, as the report stores them for the whole run.
export function storedSums({threads}: ReportIndex): ThreadSums[] {
  return threads.map((thread) => {
    const sums = {...NOTHING};
    for (const name of NAMES) sums[name] = thread[name] ?? 0;
    return sums;
  });
}

// By thread, in a range and in some states. Which thread is selected makes no difference.
export function sumThreads(data: StackData, {range, states}: Filter): ThreadSums[] {
  const {cells} = data;
  const sums = data.process.map(() => ({...NOTHING}));
  const [first, end] = cellsIn(data.buckets, range);
  for (let cell = first; cell < end; cell++) {
    const state = cells.state[cell];
    const group = data.group[state];
    if (states !== null && !states.has(group)) continue;
    const sum = sums[cells.thread[cell]];
    sum[group] += cells.wall[cell];
    sum.cpu += cells.cpu[cell];
    if (!data.counts[state]) continue;
    sum.time += cells.time[cell];
    sum.samples += cells.samples[cell];
  }
  return sums;
}

export function together(sums: readonly ThreadSums[]): ThreadSums {
  const all = {...NOTHING};
  for (const sum of sums) for (const name of NAMES) all[name] += sum[name];
  return all;
}
