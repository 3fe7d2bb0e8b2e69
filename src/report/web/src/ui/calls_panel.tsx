// Who calls a function and what it calls, from measured stacks.
import {useEffect, useRef} from 'preact/hooks';

import type {Call, CallTable} from '../data/calls.ts';
import type {FunctionTable} from '../data/functions.ts';
import type {Report} from '../data/report.ts';
import {confidenceText} from '../lib/confidence.ts';
import {formatCount, formatShare, formatTime, isKnown, plural} from '../lib/format.ts';
import {visible} from '../lib/visible.ts';
import {useReport} from '../state/context.ts';
import {useLoaded} from '../state/loaded.ts';
import {isFiltered} from '../state/filter.ts';
import {updateView, viewState} from '../state/navigation.ts';
import {sourceHref} from '../state/route.ts';
import {Place} from './cells.tsx';
import {Empty, Loading, Unreadable} from './states.tsx';

const SHOWN = 200;

export interface CallData {
  functions: FunctionTable;
  calls: CallTable;
}

async function load(report: Report): Promise<CallData | null> {
  const [functions, calls] = await Promise.all([report.functions(), report.callers()]);
  return functions === null || calls === null ? null : {functions, calls};
}

// null: not there, or not yet.
export function useCallData(): CallData | null {
  const report = useReport();
  const loaded = useLoaded(() => load(report), report);
  return loaded.state === 'ready' ? loaded.value : null;
}

export function toggleCalls(id: number): void {
  updateView({calls: viewState.value.calls === id ? null : id});
}

export function CallsPanel({id}: {id: number}) {
  const report = useReport();
  const loaded = useLoaded(() => load(report), report);
  const panel = useRef<HTMLElement>(null);
  useEffect(() => { panel.current?.focus({preventScroll: true}); }, [id]);
  const close = () => {
    updateView({calls: null});
    document.querySelector<HTMLElement>('.scroller')?.focus({preventScroll: true});
  };
  const known = loaded.state === 'ready' && loaded.value !== null && id < loaded.value.functions.count;
  const name = known && loaded.state === 'ready' && loaded.value !== null ? loaded.value.functions.name[id] : '';
  return (
    <section class="calls-panel panel" aria-label={`Callers and calls${name === '' ? '' : ` of ${visible(name)}`}`}
             tabIndex={-1} ref={panel}
             onKeyDown={(event) => {
               if (event.key !== 'Escape') return;
               event.preventDefault();
               close();
             }}>
      {loaded.state === 'loading' ? <Loading /> :
       loaded.state === 'failed' ? <Unreadable message={loaded.message} /> :
       loaded.value === null || !known ? <Empty><p>This report holds no calls.</p></Empty> :
         <Content data={loaded.value} id={id} />}
      <button type="button" class="button close" onClick={close}>Close</button>
    </section>
  );
}

function Content({data: {functions, calls}, id}: {data: CallData; id: number}) {
  const {index} = useReport();
  const callers = calls.callers(id);
  const callees = calls.calls(id);
  const total = functions.metrics.get('total', id);
  const own = total - callees.reduce((sum, call) => sum + call.time, 0);
  const file = functions.file[id];
  return (
    <>
      <header class="calls-head">
        <h2><bdi>{visible(functions.name[id])}</bdi></h2>
        <p class="subtitle">
          <a href={sourceHref(file, functions.line[id])}>
            <Place label={index.files.label[file]} suffix={`:${functions.line[id]}`} /></a>
          {isKnown(total) && <> · {formatTime(total)} with everything that it calls</>}
          {' '}· {isFiltered.value ? 'of the whole run, not of the part that is selected' : 'from the stacks of the whole run'}
        </p>
      </header>
      <div class="calls-sides">
        <Side title="Callers" none="No caller was on a stack." calls={callers} total={total} functions={functions}
              placeOf={(call) => call.id === null || call.line === 0 ? null :
                {file: functions.file[call.id], line: call.line}} />
        <Side title="Calls" none="It called nothing that took time." calls={callees} total={total} functions={functions}
              own={own > 0 ? own : null}
              placeOf={(call) => call.line === 0 ? null : {file, line: call.line}} />
      </div>
    </>
  );
}

interface SideProps {
  title: string;
  none: string;
  calls: readonly Call[];
  total: number;
  functions: FunctionTable;
  // Time of the function's own code.
  own?: number | null;
  // Where the call stands.
  placeOf: (call: Call) => {file: number; line: number} | null;
}

function Side({title, none, calls, total, functions, own = null, placeOf}: SideProps) {
  const {index} = useReport();
  const heading = `calls-${title}`;
  return (
    <div class="calls-side">
      <h3 id={heading}>{title}</h3>
      {calls.length === 0 && own === null ? <p class="quiet">{none}</p> :
        <table class="plain" aria-labelledby={heading}>
          <thead>
            <tr><th class="num" scope="col">Time</th><th class="num" scope="col">Share</th>
              <th class="num" scope="col">Samples</th><th scope="col">Function</th><th scope="col">Line</th></tr>
          </thead>
          <tbody>
            {own !== null &&
              <tr>
                <td class="num">{formatTime(own)}</td><td class="num">{formatShare(own, total)}</td><td class="num" />
                <td class="secondary">its own code</td><td />
              </tr>}
            {calls.slice(0, SHOWN).map((call, i) => {
              const place = placeOf(call);
              return (
                <tr key={i}>
                  <td class="num">{formatTime(call.time)}</td>
                  <td class="num">{formatShare(call.time, total)}</td>
                  <td class="num" title={confidenceText(call.samples, index.totals.samples)}>
                    {formatCount(call.samples)}</td>
                  <td class="name"><Other call={call} functions={functions} /></td>
                  <td>{place !== null &&
                    <a href={sourceHref(place.file, place.line)}>
                      <Place label={index.files.label[place.file]} suffix={`:${place.line}`} /></a>}</td>
                </tr>
              );
            })}
          </tbody>
        </table>}
      {calls.length > SHOWN && <p class="quiet">and {plural(calls.length - SHOWN, 'more', 'more')}</p>}
    </div>
  );
}

function Other({call, functions}: {call: Call; functions: FunctionTable}) {
  if (call.id !== null) {
    return (
      <>
        <a href={sourceHref(functions.file[call.id], functions.line[call.id])}>
          <bdi>{visible(functions.name[call.id])}</bdi></a>
        {!call.direct && <span class="through"> through library code</span>}
      </>
    );
  }
  if (call.outside === null) return <span class="secondary">the start of the program or thread</span>;
  const {name, file, kind} = call.outside;
  return (
    <>
      <bdi>{visible(name)}</bdi> <span class="through">{kind} <bdi>{visible(file)}</bdi></span>
    </>
  );
}
