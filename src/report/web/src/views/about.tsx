// How the numbers came about, so that a reader can judge them.
import type {ComponentChildren} from 'preact';

import type {ProcessFacts, ReportIndex} from '../data/index_types.ts';
import {
  DASH, formatBytes, formatCount, formatDate, formatRate, formatShare, formatTime, isKnown, plural,
} from '../lib/format.ts';
import {STATES} from '../lib/timeline.ts';
import {visible} from '../lib/visible.ts';
import {useReport} from '../state/context.ts';
import {Diagnostics} from '../ui/diagnostics.tsx';

export function AboutView() {
  const {index} = useReport();
  return (
    <section class="view narrow" aria-labelledby="title">
      <h1 id="title">About this report</h1>
      <Measured index={index} />
      <Accounting index={index} />
      <Scope index={index} />
      <Processes index={index} />
      {index.diagnostics.length > 0 &&
        <Block title="Warnings and notes"><Diagnostics list={index.diagnostics} /></Block>}
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

function Measured({index}: {index: ReportIndex}) {
  const {run} = index;
  const ended = run.status;
  return (
    <Block title="The run">
      <dl class="facts-list panel">
        <Fact name="Command"><code>{visible(run.command.join(' '))}</code></Fact>
        <Fact name="Working directory"><code>{visible(run.working_directory)}</code></Fact>
        <Fact name="Ended">
          <span class={`status-${ended.kind}`}>{STATUS_WORDS[ended.kind]}
            {ended.text !== '' && <>: {visible(ended.text)}</>}</span>
        </Fact>
        <Fact name="Started">{formatDate(run.started_unix_ms)} on {visible(run.host)}</Fact>
        <Fact name="Elapsed">{formatTime(run.elapsed)}</Fact>
        <Fact name="Python">{run.python === null ? 'not known' : visible(run.python)}</Fact>
        <Fact name="Collector">
          {visible(run.collector)}: reads the interpreter’s frames from outside the process
          {run.attached ? ', attached to a running process' : ', from the program’s first line'}
        </Fact>
        <Fact name="Method">{visible(run.method)}{run.method === 'Sampling' &&
          ', so that times are estimates which get better with more samples'}</Fact>
        <Fact name="Time counted">{run.mode === 'cpu' ? 'time on a CPU' : 'all time, waiting included'}</Fact>
        <Fact name="Rate">
          {formatRate(run.rate_reached)} ticks per second reached, {formatRate(run.rate_asked)} asked
        </Fact>
        <Fact name="Consistency">
          <code>{visible(run.consistency)}</code>
          {run.consistency_used && <> asked; {visible(run.consistency_used)}</>}
        </Fact>
        {run.labels.map(([key, value]) => <Fact key={key} name={visible(key)}>{visible(value)}</Fact>)}
        <Fact name="Written by">
          {visible(index.generator)}; this file holds {plural(index.chunks.count, 'part')} of
          compressed data, {formatBytes(index.chunks.length.reduce((sum, each) => sum + each, 0))}, and
          loads nothing from anywhere
        </Fact>
      </dl>
    </Block>
  );
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

function Scope({index: {scope, files, functions}}: {index: ReportIndex}) {
  return (
    <Block title="The project">
      <dl class="facts-list panel">
        <Fact name="Files">{visible(scope.text)}</Fact>
        <Fact name="Root"><code>{visible(scope.root)}</code></Fact>
        {scope.include.length > 0 &&
          <Fact name="Included"><code>{visible(scope.include.join(' '))}</code></Fact>}
        {scope.exclude.length > 0 &&
          <Fact name="Excluded"><code>{visible(scope.exclude.join(' '))}</code></Fact>}
        <Fact name="Shown">{plural(files.path.length, 'file')}, {plural(functions, 'function')}</Fact>
      </dl>
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
                  <code>{visible(shortCommand(process.command))}</code></td>
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
function shortCommand([program = DASH, ...rest]: string[]): string {
  return [program.slice(program.lastIndexOf('/') + 1), ...rest].join(' ');
}

function ending({end, exit_code, signal}: ProcessFacts): string {
  if (signal !== null) return `signal ${signal}`;
  if (exit_code !== null) return `status ${exit_code}`;
  return isKnown(end) ? DASH : 'still running';
}

function ThreadTable({threads, whole}: {threads: ReportIndex['threads']; whole: number | null}) {
  if (threads.length === 0) return <p class="quiet">No thread was sampled.</p>;
  return (
    <div class="plain-scroll" tabIndex={0} role="group" aria-label="Threads">
      <table class="plain">
        <thead>
          <tr><th scope="col">Thread</th><th scope="col" class="num">Time</th>
            <th scope="col" class="num">Samples</th>
            {STATES.map(({id, name}) => <th key={id} scope="col" class="num">{name}</th>)}</tr>
        </thead>
        <tbody>
          {threads.map((thread) => (
            <tr key={thread.tid}>
              <th scope="row">{visible(thread.name)} <span class="quiet">{thread.tid}</span></th>
              <td class="num">{formatTime(thread.time)}{' '}
                <span class="quiet">{formatShare(thread.time, whole)}</span></td>
              <td class="num">{formatCount(thread.samples)}</td>
              {STATES.map(({id}) => <td key={id} class="num">{formatTime(thread[id])}</td>)}
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
        <Fact name="Heat">logarithmic, three decades below the largest value in the whole report;
          the bar behind a number is linear</Fact>
      </dl>
    </Block>
  );
}
