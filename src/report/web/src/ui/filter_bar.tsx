// What part of the run is shown, above every view, with the way back to all of it.
import type {ComponentChildren} from 'preact';
import {useEffect} from 'preact/hooks';

import type {ReportIndex} from '../data/index_types.ts';
import {EVERYTHING} from '../data/stacks.ts';
import {formatMoment, formatShare, formatTime, plural} from '../lib/format.ts';
import {processName, STATE_NAMES, threadName} from '../lib/names.ts';
import {visible} from '../lib/visible.ts';
import {useReport} from '../state/context.ts';
import {filter, isFiltered} from '../state/filter.ts';
import {useLoaded} from '../state/loaded.ts';
import {setFilter} from '../state/navigation.ts';
import {stackData, useNumbers} from '../state/numbers.ts';
import {announce} from './announce.tsx';
import {CloseIcon, FunnelIcon} from './icons.tsx';
import {Loading, Unreadable} from './states.tsx';

export function showEverything(): void {
  if (!isFiltered.value) return;
  setFilter(EVERYTHING);
  announce('The whole run is shown');
}

// Views are only there when they can show what is selected.
export function Selected({children}: {children: ComponentChildren}) {
  return isFiltered.value ? <WithSamples>{children}</WithSamples> : <>{children}</>;
}

function WithSamples({children}: {children: ComponentChildren}) {
  const report = useReport();
  const loaded = useLoaded(() => report.stacks(), report);
  useEffect(() => {
    if (loaded.state === 'ready') stackData.value = loaded.value;
  }, [loaded]);
  if (loaded.state === 'failed') return <NothingSelected message={loaded.message} />;
  if (loaded.state === 'ready' && loaded.value === null) {
    return <NothingSelected message="This report holds no samples to select from." />;
  }
  if (stackData.value === null) return <><FilterBar /><Loading /></>;
  return <><FilterBar numbers={<Amount />} />{children}</>;
}

function NothingSelected({message}: {message: string}) {
  return (
    <>
      <FilterBar />
      <section class="view" aria-labelledby="title">
        <h1 id="title">This part of the run cannot be shown</h1>
        <Unreadable message={message} />
      </section>
    </>
  );
}

function FilterBar({numbers}: {numbers?: ComponentChildren}) {
  const {index} = useReport();
  const now = filter.value;
  const width = index.calls?.bucket_width ?? 1e6;
  return (
    <div class="filter-bar" role="region" aria-label="Selected part of the run">
      <FunnelIcon />
      <ul>
        {now.range !== null &&
          <Chip name="Time" onRemove={() => setFilter({...now, range: null})}>
            {formatMoment(now.range[0], width)} to {formatMoment(now.range[1], width)}
          </Chip>}
        {now.process !== null &&
          <Chip name="Process" onRemove={() => setFilter({...now, process: null})}>
            {processName(index, now.process)}
          </Chip>}
        {now.thread !== null &&
          <Chip name="Thread" onRemove={() => setFilter({...now, thread: null})}>
            {threadName(index, now.thread)}
          </Chip>}
        {now.states !== null &&
          <Chip name="While" onRemove={() => setFilter({...now, states: null})}>
            {[...now.states].map((state) => STATE_NAMES[state]).join(' or ')}
          </Chip>}
      </ul>
      {numbers}
      <span class="spring" />
      <button type="button" class="button" aria-keyshortcuts="Escape" onClick={showEverything}>
        Show all <kbd>Esc</kbd>
      </button>
    </div>
  );
}

interface ChipProps {
  name: string;
  onRemove: () => void;
  children: ComponentChildren;
}

function Chip({name, onRemove, children}: ChipProps) {
  return (
    <li class="chip">
      <span class="quiet">{name}</span> <strong><bdi>{children}</bdi></strong>
      <button type="button" aria-label={`Any ${name.toLowerCase()}`} title="Remove" onClick={onRemove}>
        <CloseIcon />
      </button>
    </li>
  );
}

function Amount() {
  const {index: whole} = useReport();
  const {totals} = useNumbers().index;
  return (
    <span class="amount">
      {formatTime(totals.time)}
      <span class="quiet"> = {formatShare(totals.time, whole.totals.time)} of all time,{' '}
        {plural(totals.samples ?? 0, 'sample')}{stepNote(whole)}</span>
    </span>
  );
}

// Samples are kept by steps of time, so that a range can only begin and end with one.
function stepNote({calls}: ReportIndex): string {
  return filter.value.range === null || calls === null ? '' :
    `; in steps of ${visible(formatTime(calls.bucket_width))}`;
}
