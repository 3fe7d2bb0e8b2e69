// The tree of processes and their threads: when they lived, what they did over time, and what share of
// the run's time is theirs. Any of them can be made what the whole report shows.
import {useMemo, useRef, useState} from 'preact/hooks';

import type {ReportIndex, StateGroup} from '../data/index_types.ts';
import type {StackData} from '../data/stacks.ts';
import {DASH, formatCount, formatMoment, formatShare, formatTime, isKnown, plural} from '../lib/format.ts';
import type {Lane} from '../lib/lanes.ts';
import {lanesOf} from '../lib/lanes.ts';
import {shortCommand, STATE_NAMES} from '../lib/names.ts';
import type {Row} from '../lib/process_rows.ts';
import {rowsOf, sampledProcesses} from '../lib/process_rows.ts';
import type {ThreadSums} from '../lib/thread_sums.ts';
import {storedSums, sumThreads, together} from '../lib/thread_sums.ts';
import {visible} from '../lib/visible.ts';
import {useReport} from '../state/context.ts';
import {filter} from '../state/filter.ts';
import {useLoaded} from '../state/loaded.ts';
import {setFilter} from '../state/navigation.ts';
import {Chevron, FunnelIcon} from '../ui/icons.tsx';
import {LaneStrip, useWidth} from '../ui/lane_strip.tsx';
import {lifeOf} from '../ui/lanes.tsx';
import {Loading, Unreadable} from '../ui/states.tsx';

// Rows up to which all threads are shown at first.
const MANY_ROWS = 60;
const FIRST_ROWS = 200;

export function ProcessesView() {
  const report = useReport();
  const loaded = useLoaded(() => report.stacks(), report);
  const {threads} = report.index;
  const sampled = sampledProcesses(report.index).size;
  return (
    <section class="view" aria-labelledby="title">
      <header class="view-head">
        <div>
          <h1 id="title">Processes</h1>
          <p class="subtitle">
            {plural(sampled, 'process', 'processes')} and {plural(threads.length, 'thread')}, and what
            they did over time. “Only” shows the whole report of one of them.
          </p>
        </div>
        <StateKeys index={report.index} />
      </header>
      {loaded.state === 'loading' ? <Loading /> :
       loaded.state === 'failed' ? <Unreadable message={loaded.message} /> :
         <Tree index={report.index} data={loaded.value} />}
    </section>
  );
}

const STATES: readonly StateGroup[] = ['running', 'gc', 'gil', 'waiting', 'stopped', 'unknown', 'idle'];

function StateKeys({index}: {index: ReportIndex}) {
  const present = STATES.filter((state) => index.threads.some((thread) => (thread[state] ?? 0) > 0));
  return (
    <ul class="keys-of-chart" aria-label="Colours of the states">
      {present.map((state) => <li key={state}><span class={`swatch state-${state}`} />{STATE_NAMES[state]}</li>)}
    </ul>
  );
}

function Tree({index, data}: {index: ReportIndex; data: StackData | null}) {
  const now = filter.value;
  const [all, setAll] = useState(false);
  const everything = useMemo(() => rowsOf(index), [index]);
  const folds = index.processes.length > 1;
  const [closed, setClosed] = useState<ReadonlySet<number>>(
      () => new Set(folds && everything.length > MANY_ROWS ? index.processes.keys() : []));
  const [unsampled, setUnsampled] = useState(false);
  const sampled = useMemo(() => sampledProcesses(index), [index]);
  const hidden = index.processes.length - sampled.size;
  const open = everything.filter(({process, thread}) =>
    (unsampled || sampled.has(process)) && (thread === null || !closed.has(process)));
  const rows = all ? open : open.slice(0, FIRST_ROWS);
  const elapsed = index.run.elapsed ?? data?.buckets.begin.at(-1) ?? 0;
  const sums = useMemo(
      () => data === null || (now.range === null && now.states === null) ? storedSums(index) : sumThreads(data, now),
      [index, data, now.range, now.states]);
  const lanes = useMemo(
      () => data === null ? [] : lanesOf(data, elapsed, rows.map(({threads}) => threads)),
      [data, closed, all, unsampled]);
  // Of what can be selected here: the range and the states, whatever process is.
  const whole = together(sums).time;
  const fold = (process: number) => {
    const next = new Set(closed);
    if (!next.delete(process)) next.add(process);
    setClosed(next);
  };
  const states = SHOWN.filter((state) => sums.some((sum) => sum[state] > 0));
  const strip = useRef<HTMLTableCellElement>(null);
  const width = useWidth(strip);
  return (
    <>
      <div class="process-table plain-scroll" tabIndex={0} role="group" aria-label="Processes and threads">
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Process, thread</th>
              <th scope="col" class="over-time" ref={strip}>
                <span class="sr-only">Over time, </span>
                <span class="axis"><span>0 s</span><span>{formatMoment(elapsed, elapsed / 100)}</span></span>
              </th>
              <th scope="col" class="num">Time</th>
              <th scope="col" class="num">CPU time</th>
              {states.map((state) => <th key={state} scope="col" class="num">{HEADINGS[state]}</th>)}
              <th scope="col" class="num">Samples</th>
              <th scope="col"><span class="sr-only">Select</span></th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              <TreeRow key={row.key} index={index} row={row} sums={sumOf(row, sums)} states={states} whole={whole}
                       folded={closed.has(row.process)} fold={folds && row.thread === null ? fold : null}
                       picture={data === null ? null : {data, lane: lanes[i], elapsed, width}} />
            ))}
          </tbody>
        </table>
      </div>
      {open.length > rows.length &&
        <button type="button" class="button start" onClick={() => setAll(true)}>
          Show all {formatCount(open.length)} rows
        </button>}
      {hidden > 0 &&
        <button type="button" class="button start" onClick={() => setUnsampled(!unsampled)}>
          {unsampled ? 'Hide' : 'Show'} {plural(hidden, 'process', 'processes')} without samples
        </button>}
      <p class="footnote">
        Time is a share of all that was sampled; states are shares of the time that a thread was watched. A pale
        lane: nothing was sampled, or the thread was idle.
      </p>
    </>
  );
}

const SHOWN: readonly StateGroup[] = ['running', 'gc', 'gil', 'waiting', 'idle', 'stopped', 'unknown'];
const HEADINGS: Record<StateGroup, string> = {
  running: 'Running', gc: 'GC', gil: 'GIL wait', waiting: 'Waiting', idle: 'Idle', stopped: 'Stopped', unknown: 'Unknown',
};

interface TreeRowProps {
  index: ReportIndex;
  row: Row;
  // null: it was not sampled.
  sums: ThreadSums | null;
  states: readonly StateGroup[];
  whole: number;
  folded: boolean;
  fold: ((process: number) => void) | null;
  picture: {data: StackData; lane: Lane; elapsed: number; width: number} | null;
}

function TreeRow({index, row, sums, states, whole, folded, fold, picture}: TreeRowProps) {
  const now = filter.value;
  const of = row.thread === null;
  const facts = of ? index.processes[row.process] : index.threads[row.thread!];
  const chosen = of ? now.process === row.process && now.thread === null : now.thread === row.thread;
  const watched = sums === null ? null : states.reduce((sum, state) => sum + sums[state], 0);
  // Nothing is known of a time in which it was not sampled.
  const value = (name: keyof ThreadSums) => sums === null || (watched === 0 && name !== 'samples') ? null : sums[name];
  const elapsed = index.run.elapsed ?? 0;
  const name = of ? `process ${index.processes[row.process].pid}` : `thread ${visible(index.threads[row.thread!].name)}`;
  const choose = () => setFilter({
    ...now, process: chosen || !of ? null : row.process, thread: chosen || of ? null : row.thread,
  });
  return (
    <tr class={`${of ? 'of-process' : 'of-thread'}${chosen ? ' chosen' : ''}`}>
      <th scope="row" class="who" style={{paddingLeft: `${10 + 16 * Math.min(row.depth, 10) + (of ? 0 : 14)}px`}}
          title={of ? processTitle(index, row.process) : undefined}>
        <div>
          {fold !== null && row.threads.length > 0 &&
            <button type="button" class="fold" aria-expanded={!folded}
                    aria-label={`Threads of ${name}`} onClick={() => fold(row.process)}><Chevron open={!folded} /></button>}
          <Who index={index} row={row} />
        </div>
      </th>
      <td class="over-time">
        {picture !== null &&
          <LaneStrip {...picture} threads={row.threads.length} life={lifeOf(facts, elapsed)}
                     span={{begin: 0, end: elapsed}} left={0} right={0} at={null} selected={now.range} />}
        <span class="sr-only">{lifeText(facts)}</span>
      </td>
      <td class="num">{formatTime(value('time'))}{' '}
        {value('time') !== null && <span class="quiet">{formatShare(value('time'), whole)}</span>}</td>
      <td class="num">{formatTime(value('cpu'))}</td>
      {states.map((state) => (
        <td key={state} class="num" title={formatTime(value(state))}>{formatShare(value(state), watched)}</td>
      ))}
      <td class="num">{formatCount(value('samples'))}</td>
      <td>
        {sums !== null && <button type="button" class="button only" aria-pressed={chosen} aria-label={`Only ${name}`}
                title={chosen ? 'Show all processes' : `Show only ${name} in the whole report`} onClick={choose}>
          <FunnelIcon />Only
        </button>}
      </td>
    </tr>
  );
}

function sumOf(row: Row, sums: readonly ThreadSums[]): ThreadSums | null {
  return row.threads.length === 0 ? null : together(row.threads.map((thread) => sums[thread]));
}

function Who({index, row}: {index: ReportIndex; row: Row}) {
  if (row.thread !== null) {
    const thread = index.threads[row.thread];
    return <><bdi>{visible(thread.name)}</bdi> <span class="quiet">{thread.tid}</span></>;
  }
  const process = index.processes[row.process];
  return (
    <>
      <strong>{process.pid}</strong> <bdi><code>{visible(shortCommand(process.command)) || DASH}</code></bdi>
    </>
  );
}

function processTitle(index: ReportIndex, id: number): string {
  const process = index.processes[id];
  const python = process.python === null ? 'not Python' : `Python ${process.python}`;
  const ended = process.signal !== null ? `, ended by signal ${process.signal}` :
      process.exit_code !== null ? `, exit status ${process.exit_code}` : '';
  return visible(`${process.command.join(' ')} (${python}${ended}), ${lifeText(process)}`);
}

function lifeText({start, end}: {start: number | null; end: number | null}): string {
  const from = isKnown(start) ? `from ${formatTime(start)}` : 'from an unknown moment';
  return `${from} ${isKnown(end) ? `to ${formatTime(end)}` : 'to the end of the run'}`;
}
