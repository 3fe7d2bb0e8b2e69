// How the numbers came about, so that a reader can judge them.
import type {ComponentChildren} from 'preact';

import type {CallFacts, ProcessFacts, ReportIndex, RunFacts, ThreadFacts} from '../data/index_types.ts';
import {
  DASH, formatCount, formatDate, formatRate, formatShare, formatTime, isKnown, plural,
} from '../lib/format.ts';
import {shortCommand} from '../lib/names.ts';
import {shellCommand} from '../lib/shell.ts';
import type {ThreadStateName} from '../lib/timeline.ts';
import {visible} from '../lib/visible.ts';
import {useReport} from '../state/context.ts';
import {CopyButton} from '../ui/copy_button.tsx';
import {Diagnostics} from '../ui/diagnostics.tsx';
import {FileContents, LeftOutTable, limitsOf} from './about_file.tsx';

export function AboutView() {
  const {index} = useReport();
  return (
    <section class="view narrow" aria-labelledby="title">
      <header class="view-head"><div>
        <h1 id="title">About this report</h1>
        <p class="subtitle">How these numbers came about, what they leave out, and what this file holds.</p>
      </div></header>
      <Run index={index} />
      <Measured index={index} />
      <Accounting index={index} />
      <Limits index={index} />
      <Scope index={index} />
      <Processes index={index} />
      <Block title="This file"><FileContents index={index} /></Block>
      <Meaning />
    </section>
  );
}

function Block({title, children}: {title: string; children: ComponentChildren}) {
  return (
    <section class="block">
      <div class="block-head"><h2>{title}</h2></div>
      {children}
    </section>
  );
}

function Fact({name, children}: {name: string; children: ComponentChildren}) {
  return <div class="fact"><dt>{name}</dt><dd>{children}</dd></div>;
}

function Run({index: {run, processes}}: {index: ReportIndex}) {
  const ended = run.status;
  const command = shellCommand(run.command);
  const pythons = [...new Set(processes.map(({python}) => python).filter((python) => python !== null))];
  return (
    <Block title="The run">
      <dl class="facts-list panel">
        <Fact name="Command"><span class="with-copy"><code>{visible(command)}</code><CopyButton text={command} name="Copy" /></span></Fact>
        <Fact name="Working directory"><code>{visible(run.working_directory)}</code></Fact>
        <Fact name="Ended">
          <span class={`status-${ended.kind}`}>{STATUS_WORDS[ended.kind]}
            {ended.text !== '' && <>: {visible(ended.text)}</>}</span>
        </Fact>
        <Fact name="Started">{formatDate(run.started_unix_ms)} on {visible(run.host)}</Fact>
        <Fact name="Elapsed">{formatTime(run.elapsed)}</Fact>
        <Fact name="Python">{pythons.length > 0 ? visible(pythons.join(', ')) : run.python === null ? 'not known' : visible(run.python)}
          {executableOf(processes) !== null && <> <code class="quiet">{visible(executableOf(processes)!)}</code></>}</Fact>
        {run.labels.map(([key, value]) => <Fact key={key} name={visible(key)}>{visible(value)}</Fact>)}
      </dl>
    </Block>
  );
}

// Of the first interpreter.
function executableOf(processes: readonly ProcessFacts[]): string | null {
  return processes.find(({python}) => python !== null)?.executable || null;
}

function Measured({index}: {index: ReportIndex}) {
  const {run, totals} = index;
  return (
    <Block title="How it was measured">
      <dl class="facts-list panel">
        <Fact name="Collector">
          {visible(run.collector)}: reads the interpreter’s frames from outside the process
          {run.attached ? ', attached to a running process' : ', from the program’s first line'}
        </Fact>
        <Fact name="Method">{visible(run.method)}{run.method === 'Sampling' &&
          ', so that times are estimates which get better with more samples'}</Fact>
        <Fact name="Time counted">{timeCounted(run)}</Fact>
        <Fact name="Rate">
          {formatRate(run.rate_reached)} ticks per second reached, {formatRate(run.rate_asked)} asked
        </Fact>
        <Fact name="Consistency">
          <code>{visible(run.consistency)}</code>
          {run.consistency_used && <> asked; {visible(run.consistency_used)}</>}
        </Fact>
        {index.calls && <Fact name="Samples over time">{resolution(index.calls)}</Fact>}
        {isKnown(totals.samples) && totals.samples > 0 &&
          <Fact name="Precision">a share of 10% is known to about ±{uncertainty(totals.samples)} points: 19 runs of 20 would
            lie within that by the chance of sampling alone</Fact>}
      </dl>
    </Block>
  );
}

// How finely a part of the run can be told from the rest.
function resolution({bucket_width, joined_buckets, cells, nodes, time_unit}: CallFacts): string {
  const joined = joined_buckets > 1 ? `, ${formatCount(joined_buckets)} times those of the profile, which has too ` +
      'many samples to keep them all apart here' : '';
  const rounded = time_unit > 1 ? `; times of a part of the run are rounded to ${formatTime(time_unit)}` : '';
  return `${plural(nodes, 'call')} with ${plural(cells, 'group')} of samples, in steps of ` +
      `${formatTime(bucket_width)}${joined}${rounded}`;
}

// In percentage points, of a share of a tenth, at 95 %.
function uncertainty(samples: number): string {
  return (196 * Math.sqrt(0.09 / samples)).toPrecision(2);
}

function Limits({index}: {index: ReportIndex}) {
  const limits = limitsOf(index);
  return (
    <Block title="Limits, warnings and notes">
      {index.diagnostics.length > 0 && <Diagnostics list={index.diagnostics} />}
      {limits.length > 0 && <ul class="panel padded limits">{limits.map((each) => <li key={each}>{each}</li>)}</ul>}
      {limits.length + index.diagnostics.length === 0 && <p class="quiet">None.</p>}
    </Block>
  );
}

function timeCounted({mode, idle}: RunFacts): string {
  if (mode === 'cpu') return 'time on a CPU';
  if (mode === 'gil') return 'time holding the GIL';
  return idle ? 'all time, waiting included' : 'all time but that of idle threads, waiting included';
}

const STATUS_WORDS: Record<string, string> = {
  success: 'by itself, without an error',
  failed: 'with an error',
  interrupted: 'before its own end',
};

function Accounting({index}: {index: ReportIndex}) {
  const {ticks, drops, totals, run} = index;
  const dropped = drops.reduce((sum, {count}) => sum + count, 0);
  return (
    <Block title="Every tick accounted for">
      <div class="panel padded">
        {isKnown(ticks.due) ?
          <ul class="sum">
            <li><strong>{formatCount(ticks.due)}</strong> ticks due</li>
            <li class="sign-of">=</li>
            <li><strong>{formatCount(ticks.taken)}</strong> taken</li>
            <li class="sign-of">+</li>
            <li><strong>{formatCount(ticks.missed)}</strong> missed
              <span class="quiet"> ({formatShare(ticks.missed, ticks.due)})</span></li>
          </ul> :
          <p>The run was cut off before its ticks were counted.</p>}
        <p>
          A tick looks at every thread, and each look is a sample: {plural(run.samples, 'sample')} are
          in this report, {formatCount(dropped)} more were dropped{dropped > 0 ? ':' : '.'}
        </p>
        {dropped > 0 &&
          <ul class="reasons">
            {drops.map(({reason, text, count}) => (
              <li key={reason}><strong>{formatCount(count)}</strong> {visible(text)}{' '}
                <code>{visible(reason)}</code></li>
            ))}
          </ul>}
        <p>
          {formatTime(totals.time)} of sampled time = {formatTime(totals.project_time)} on project
          lines + {formatTime(totals.outside_time)} in other Python code +{' '}
          {formatTime(totals.no_python_time)} in no Python code.
        </p>
      </div>
    </Block>
  );
}

function Scope({index: {scope, files, functions, totals}}: {index: ReportIndex}) {
  return (
    <Block title="The project">
      <dl class="facts-list panel">
        <Fact name="Files">{visible(scope.text)}</Fact>
        <Fact name="Root"><code>{visible(scope.root)}</code></Fact>
        {scope.include.length > 0 &&
          <Fact name="Included"><code>{visible(scope.include.join(' '))}</code></Fact>}
        {scope.exclude.length > 0 &&
          <Fact name="Excluded"><code>{visible(scope.exclude.join(' '))}</code></Fact>}
        <Fact name="Shown">{plural(files.path.length, 'file')}, {plural(functions, 'function')},{' '}
          {plural(files.lines.reduce((sum: number, lines) => sum + (lines ?? 0), 0), 'line')}</Fact>
      </dl>
      {scope.left_out !== undefined && scope.left_out.length > 0 && <LeftOutTable list={scope.left_out} whole={totals.time} />}
    </Block>
  );
}

function Processes({index}: {index: ReportIndex}) {
  const {processes, threads, totals} = index;
  if (threads.length === 0 && processes.length < 2) return null;
  const sampled = (id: number) => threads.some((thread) => thread.process === id);
  return (
    <Block title="Processes and threads">
      {processes.length > 1 && <ProcessTable processes={processes} whole={totals.time} />}
      {processes.map((process, id) => (processes.length > 1 && !sampled(id)) || (
        <div class="panel process" key={id}>
          <p><strong>Process {process.pid}</strong>{' '}
            <code>{visible(process.command.join(' '))}</code>{' '}
            <span class="quiet">{process.python === null ? 'not Python' : `Python ${visible(process.python)}`}
              {process.exit_code !== null && `, exit status ${process.exit_code}`}
              {process.signal !== null && `, ended by signal ${process.signal}`}</span></p>
          <ThreadTable threads={threads.filter((thread) => thread.process === id)} whole={totals.time} />
        </div>
      ))}
    </Block>
  );
}

function ProcessTable({processes, whole}: {processes: ProcessFacts[]; whole: number | null}) {
  const depths: number[] = [];
  processes.forEach(({parent}, id) => {
    depths[id] = parent === null ? 0 : (depths[parent] ?? 0) + 1;
  });
  const children = new Map<number | null, number[]>();
  processes.forEach(({parent}, id) => {
    children.set(parent, [...children.get(parent) ?? [], id]);
  });
  const inOrder = (id: number): number[] => [id, ...(children.get(id) ?? []).flatMap(inOrder)];
  return (
    <div class="panel processes plain-scroll" tabIndex={0} role="group" aria-label="Processes">
      <table class="plain">
        <thead>
          <tr><th scope="col">Process</th><th scope="col">Command</th><th scope="col">Python</th>
            <th scope="col" class="num">Parent</th><th scope="col" class="num">Start</th>
            <th scope="col" class="num">Life</th><th scope="col">Ended</th>
            <th scope="col" class="num">Samples</th><th scope="col" class="num">Share</th></tr>
        </thead>
        <tbody>
          {(children.get(null) ?? []).flatMap(inOrder).map((id) => {
            const process = processes[id]!;
            const parent = process.parent === null ? null : processes[process.parent];
            return (
              <tr key={id}>
                <th scope="row" style={{paddingLeft: `${16 + 12 * Math.min(depths[id]!, 12)}px`}}>
                  {process.pid}</th>
                <td class="command" title={visible(process.command.join(' '))}>
                  <code>{visible(shortCommand(process.command)) || DASH}</code></td>
                <td>{process.python === null ? DASH : visible(process.python)}</td>
                <td class="num">{parent?.pid ?? DASH}</td>
                <td class="num">{formatTime(process.start)}</td>
                <td class="num">{isKnown(process.start) && isKnown(process.end) ?
                  formatTime(process.end - process.start) : DASH}</td>
                <td>{ending(process)}</td>
                <td class="num">{formatCount(process.samples)}</td>
                <td class="num">{formatShare(process.time, whole)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

// Without the folder of the program, which fills the column and says little.
function ending({end, exit_code, signal}: ProcessFacts): string {
  if (signal !== null) return `signal ${signal}`;
  if (exit_code !== null) return `status ${exit_code}`;
  return isKnown(end) ? DASH : 'still running';
}

const STATE_COLUMNS: ReadonlyArray<{id: ThreadStateName | 'holding'; name: string}> = [
  {id: 'running', name: 'Running'},
  {id: 'holding', name: 'Holds GIL'},
  {id: 'gil', name: 'GIL wait'},
  {id: 'waiting', name: 'Waiting'},
  {id: 'idle', name: 'Idle'},
  {id: 'gc', name: 'GC'},
  {id: 'stopped', name: 'Stopped'},
  {id: 'unknown', name: 'Unknown'},
];
// What every program can be in; the others have a column when a thread was.
const ALWAYS = new Set<string>(['running', 'holding', 'gil', 'waiting', 'idle']);
const WATCHED = ['running', 'gc', 'gil', 'waiting', 'idle', 'stopped', 'unknown'] as const;
const MOST_THREADS = 20;

function watchedTime(thread: ThreadFacts): number {
  return WATCHED.reduce((sum, id) => sum + (thread[id] ?? 0), 0);
}

// One row that stands for many.
function together(threads: ThreadFacts[], name: string): ThreadFacts {
  const sum = (id: Exclude<keyof ThreadFacts, 'name' | 'main'>) => {
    const known = threads.map((thread) => thread[id]).filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
  };
  return {
    ...threads[0]!, name, tid: 0, main: false, time: sum('time'), samples: sum('samples'), running: sum('running'), gc: sum('gc'),
    gil: sum('gil'), waiting: sum('waiting'), idle: sum('idle'), stopped: sum('stopped'), unknown: sum('unknown'), cpu: sum('cpu'),
    holding: sum('holding'),
  };
}

function ThreadTable({threads, whole}: {threads: ThreadFacts[]; whole: number | null}) {
  if (threads.length === 0) return <p class="quiet">No thread was sampled.</p>;
  const busiest = [...threads].sort((a, b) => (b.cpu ?? 0) - (a.cpu ?? 0));
  const rows = busiest.slice(0, MOST_THREADS);
  const rest = busiest.slice(MOST_THREADS);
  if (rest.length > 0) rows.push(together(rest, `${plural(rest.length, 'more thread')}`));
  if (threads.length > 1) rows.push(together(threads, 'All threads'));
  const columns = STATE_COLUMNS.filter(({id}) => ALWAYS.has(id) || threads.some((thread) => (thread[id] ?? 0) > 0));
  return (
    <div class="plain-scroll" tabIndex={0} role="group" aria-label="Threads">
      <table class="plain threads">
        <thead>
          <tr><th scope="col">Thread</th><th scope="col" class="num">Time</th>
            <th scope="col" class="num">CPU time</th>
            {columns.map(({id, name}) => <th key={id} scope="col" class="num">{name}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((thread) => (
            <tr key={`${thread.tid} ${thread.name}`}>
              <th scope="row">{visible(thread.name)}
                {thread.tid !== 0 && <span class="quiet"> {thread.tid}</span>}</th>
              <td class="num">{formatTime(thread.time)}{' '}
                <span class="quiet">{formatShare(thread.time, whole)}</span></td>
              <td class="num">{formatTime(thread.cpu)}</td>
              {columns.map(({id}) => (
                <td key={id} class="num" title={formatTime(thread[id])}>
                  {isKnown(thread[id]) ? formatShare(thread[id], watchedTime(thread)) : DASH}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Meaning() {
  return (
    <Block title="Words">
      <dl class="facts-list panel">
        <Fact name="Sample">one observation of one thread’s stack at one moment</Fact>
        <Fact name="Time">of a line: samples whose innermost project frame is on it, each weighted by
          the time it stands for; library code belongs to the project line that called it</Fact>
        <Fact name="Total">with all project code called from there, once a stack</Fact>
        <Fact name="Share">part of all sampled time, in all threads</Fact>
        <Fact name="–">not measured; 0 is only shown where it was measured. 0 samples does not mean
          that the line never ran</Fact>
        <Fact name="Thread states">shares of the time that a thread was watched. Holding the GIL overlaps with running and
          waiting; – where there is no GIL, or it could not be told. Idle: asleep for a second or more, or without
          Python code to return to</Fact>
        <Fact name="Heat">logarithmic, three decades below the largest value in the whole report;
          the bar behind a number is linear</Fact>
      </dl>
    </Block>
  );
}
