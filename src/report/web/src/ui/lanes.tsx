// A lane for each thread below the timeline, on the same axis.
import {useMemo, useState} from 'preact/hooks';

import type {ReportIndex, StateGroup} from '../data/index_types.ts';
import type {StackData} from '../data/stacks.ts';
import {formatShare, plural} from '../lib/format.ts';
import {lanesOf} from '../lib/lanes.ts';
import {STATE_NAMES, threadName} from '../lib/names.ts';
import {busiestFirst} from '../lib/process_rows.ts';
import type {Span} from '../lib/span.ts';
import {sumThreads} from '../lib/thread_sums.ts';
import {useReport} from '../state/context.ts';
import {filter} from '../state/filter.ts';
import {useLoaded} from '../state/loaded.ts';
import {setFilter} from '../state/navigation.ts';
import {LaneStrip} from './lane_strip.tsx';
import {Loading, Unreadable} from './states.tsx';
import {LEFT, RIGHT} from './timeline_draw.ts';

// Lanes before the rest is asked for.
const FIRST_LANES = 12;
// Up to so many lanes leave room for what is below, and up to so many cells cost less to read than a click.
const FEW_THREADS = 6;
const FEW_CELLS = 20_000;

interface LanesProps {
  index: ReportIndex;
  width: number;
  span: Span;
  at: number | null;
  selected: readonly [number, number] | null;
}

export function Lanes(props: LanesProps) {
  const {threads, calls} = props.index;
  const [open, setOpen] = useState(
      threads.length > 1 && threads.length <= FEW_THREADS && (calls?.cells ?? 0) <= FEW_CELLS);
  if (calls === null || threads.length === 0) return null;
  return (
    <div class="lanes">
      <button type="button" class="disclosure" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? 'Hide' : 'Show'} {plural(threads.length, 'thread')}
      </button>
      {open && <ThreadLanes {...props} />}
    </div>
  );
}

function ThreadLanes(props: LanesProps) {
  const report = useReport();
  const loaded = useLoaded(() => report.stacks(), report);
  if (loaded.state === 'loading') return <Loading />;
  if (loaded.state === 'failed') return <Unreadable message={loaded.message} />;
  return loaded.value === null ? null : <LaneList {...props} data={loaded.value} />;
}

function LaneList({index, data, width, span, at, selected}: LanesProps & {data: StackData}) {
  const [all, setAll] = useState(false);
  const order = useMemo(() => busiestFirst(index.threads), [index.threads]);
  const shown = all ? order : order.slice(0, FIRST_LANES);
  const elapsed = index.run.elapsed ?? 0;
  const lanes = useMemo(() => lanesOf(data, elapsed, shown.map((thread) => [thread])), [data, all]);
  const now = filter.value;
  const selectedSums = useMemo(
      () => now.range === null && now.states === null ? null : sumThreads(data, now), [data, now.range, now.states]);
  return (
    <>
      <ul>
        {shown.map((thread, i) => {
          const chosen = now.thread === thread;
          return (
            <li key={thread} class={chosen ? 'lane chosen' : 'lane'}>
              <div class="lane-head">
                <button type="button" class="lane-name" aria-pressed={chosen}
                        title={chosen ? 'Show all threads' : 'Show this thread only'}
                        onClick={() => setFilter({...now, thread: chosen ? null : thread})}>
                  <bdi>{threadName(index, thread)}</bdi>
                </button>
                <span class="quiet">{shares((selectedSums ?? index.threads)[thread])}</span>
              </div>
              <LaneStrip data={data} lane={lanes[i]} threads={1} life={lifeOf(index.threads[thread], elapsed)}
                         elapsed={elapsed} span={span} width={width} left={LEFT} right={RIGHT} at={at}
                         selected={selected} />
            </li>
          );
        })}
      </ul>
      {order.length > shown.length &&
        <button type="button" class="disclosure" onClick={() => setAll(true)}>
          Show all {plural(order.length, 'thread')}
        </button>}
    </>
  );
}

// To the end of the run where no end is known.
export function lifeOf({start, end}: {start: number | null; end: number | null}, elapsed: number): [number, number] {
  return [start ?? 0, end ?? elapsed];
}

const TOLD: readonly StateGroup[] = ['running', 'gc', 'gil', 'waiting', 'idle', 'stopped', 'unknown'];

// "running 97.0%, waiting 3.0%": of the time that the thread was watched.
export function shares(states: Record<StateGroup, number | null>): string {
  const whole = TOLD.reduce((sum, state) => sum + (states[state] ?? 0), 0);
  return TOLD.filter((state) => (states[state] ?? 0) > 0)
      .map((state) => `${STATE_NAMES[state]} ${formatShare(states[state], whole)}`).join(', ');
}
