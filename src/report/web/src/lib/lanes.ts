// What threads did over time, from the samples: the timeline of a part of the run, and a lane a thread.
import type {ReportIndex, StateGroup, TimelineData} from '../data/index_types.ts';
import type {Filter, StackData} from '../data/stacks.ts';
import {threadsOf} from '../data/stacks.ts';
import {linesOf} from './tally.ts';

// Order of a lane's states, from the bottom up.
export const LANE_STATES: readonly StateGroup[] =
    ['running', 'gc', 'gil', 'waiting', 'stopped', 'unknown', 'idle'];

// Average number of threads in each state, bucket by bucket: value[bucket × states + state].
export type Lane = Float32Array;

// One lane for each of the sets of threads, in one pass over the samples.
export function lanesOf(data: StackData, elapsed: number, sets: ReadonlyArray<readonly number[]>): Lane[] {
  const {buckets, cells} = data;
  const size = LANE_STATES.length;
  const lanes = sets.map(() => new Float32Array(buckets.count * size));
  const lanesOfThread: number[][] = data.process.map(() => []);
  sets.forEach((threads, lane) => threads.forEach((thread) => lanesOfThread[thread]?.push(lane)));
  const position = data.group.map((group) => LANE_STATES.indexOf(group));
  for (let bucket = 0; bucket < buckets.count; bucket++) {
    const width = bucketEnd(data, bucket, elapsed) - buckets.begin[bucket];
    for (let cell = buckets.start[bucket]; cell < buckets.start[bucket + 1]; cell++) {
      for (const lane of lanesOfThread[cells.thread[cell]]) {
        lanes[lane][bucket * size + position[cells.state[cell]]] += cells.wall[cell] / width;
      }
    }
  }
  return lanes;
}

export function bucketEnd({buckets}: StackData, bucket: number, elapsed: number): number {
  const begin = buckets.begin[bucket];
  const end = begin + buckets.width;
  return elapsed > begin ? Math.min(end, elapsed) : end;
}

// As the index has it for the whole run, of the threads and states that are selected, at all times.
export function timelineOf(data: StackData, index: ReportIndex, filter: Filter): TimelineData {
  const {buckets, cells, tree, frames} = data;
  const count = buckets.count;
  const zeros = (): number[] => new Array<number>(count).fill(0);
  const states: Record<StateGroup, number[]> = {
    running: zeros(), gc: zeros(), gil: zeros(), waiting: zeros(), idle: zeros(), stopped: zeros(), unknown: zeros(),
  };
  const samples = zeros();
  const file = new Array<number | null>(count).fill(null);
  const line = new Array<number | null>(count).fill(null);
  const threads = threadsOf(data, filter);
  const lines = linesOf(data, index.files.path.length);
  const lineOfNode = new Int32Array(tree.count);
  for (let node = 0; node < tree.count; node++) {
    const frame = tree.frame[node];
    lineOfNode[node] = frames.project[frame] !== 0 ? lines.ofFrame[frame] :
      tree.parent[node] < 0 ? -1 : lineOfNode[tree.parent[node]];
  }
  for (let bucket = 0; bucket < count; bucket++) {
    const times = new Map<number, number>();
    for (let cell = buckets.start[bucket]; cell < buckets.start[bucket + 1]; cell++) {
      const state = cells.state[cell];
      const group = data.group[state];
      if (threads[cells.thread[cell]] === 0 || (filter.states !== null && !filter.states.has(group))) continue;
      states[group][bucket] += cells.wall[cell];
      if (!data.counts[state]) continue;
      samples[bucket] += cells.samples[cell];
      const node = cells.node[cell];
      const row = node < 0 ? -1 : lineOfNode[node];
      if (row >= 0) times.set(row, (times.get(row) ?? 0) + cells.time[cell]);
    }
    let most = 0;
    for (const [row, time] of times) {
      if (time < most || time === 0) continue;
      most = time;
      file[bucket] = lines.file[row];
      line[bucket] = lines.line[row];
    }
  }
  const elapsed = index.run.elapsed ?? 0;
  return {
    start: [...buckets.begin],
    end: Array.from(buckets.begin, (_, bucket) => bucketEnd(data, bucket, elapsed)),
    ...states, samples, file, line,
  };
}
