// Where to start: how the run went, where its time went, and the lines that took it.
import type {ComponentChildren} from 'preact';
import {useMemo} from 'preact/hooks';

import {changeKey, hotChange} from '../data/changes.ts';
import type {HotLine, ReportIndex, RunFacts} from '../data/index_types.ts';
import {TokenList} from '../data/tokens.ts';
import {
  formatCount, formatDate, formatRate, formatShare, formatTime, isKnown,
} from '../lib/format.ts';
import {heat} from '../lib/heat.ts';
import type {SortOrder} from '../lib/sort.ts';
import {sortRows} from '../lib/sort.ts';
import {visible} from '../lib/visible.ts';
import {useReport} from '../state/context.ts';
import {useLoaded} from '../state/loaded.ts';
import {useAskTarget} from '../state/assistant.ts';
import {navigate, updateView, viewState} from '../state/navigation.ts';
import {filter, isFiltered} from '../state/filter.ts';
import {useNumbers} from '../state/numbers.ts';
import {sourceHref} from '../state/route.ts';
import {NumberCell, TextCell, TimeCell} from '../ui/cells.tsx';
import {Code} from '../ui/code.tsx';
import {changeInWords, ComparedWith, DiffCell, withDiff} from '../ui/diff_cell.tsx';
import {Diagnostics} from '../ui/diagnostics.tsx';
import {HeatControl} from '../ui/heat_control.tsx';
import {StatusBanner} from '../ui/run_status.tsx';
import {SplitBar} from '../ui/split_bar.tsx';
import {Empty} from '../ui/states.tsx';
import type {Column} from '../ui/table.tsx';
import {Table} from '../ui/table.tsx';
import {Timeline} from '../ui/timeline.tsx';

const COLUMNS: readonly Column[] = [
  {id: 'time', title: 'Time', numeric: true, width: 'var(--time-column)',
   hint: 'On this line, with the library code that it calls'},
  {id: 'location', title: 'Location', numeric: false, width: 'minmax(150px, 220px)'},
  {id: 'samples', title: 'Samples', numeric: true, width: 'var(--samples-column)'},
  {id: 'source', title: 'Source', numeric: false, width: 'minmax(320px, 1fr)'},
];

// Of a long statement, lines before and after the measured one.
const QUOTED_AROUND = 20;
// Lines shown before the list is unfolded.
const FIRST_LINES = 10;

export function OverviewView() {
  const {index} = useNumbers();
  const {run, totals, timeline, diagnostics} = index;
  const notable = diagnostics.filter(({level}) => level !== 'info');
  return (
    <section class="view" aria-labelledby="title">
      <h1 id="title">Overview</h1>
      <StatusBanner status={run.status} />
      <ComparedWith index={index} />
      {notable.length > 0 && <Diagnostics list={notable} />}
      <Cards index={index} />
      {timeline !== null && timeline.start.length > 0 &&
        <section class="block" aria-labelledby="timeline-title">
          <div class="block-head">
            <h2 id="timeline-title">Timeline of the run</h2>
            <p class="quiet">Threads by what they did, on average in each step</p>
          </div>
          <div class="panel"><Timeline index={index} data={timeline} /></div>
        </section>}
      <HotLines index={index} />
      <GoneLines index={index} />
      {isKnown(totals.time) && totals.time > 0 &&
        <section class="block" aria-labelledby="split-title">
          <div class="block-head"><h2 id="split-title">Where the time went</h2></div>
          <div class="panel padded"><TimeSplit index={index} /></div>
        </section>}
      <p class="footnote">
        A dash means not measured. 0 samples does not mean that the line never ran.{' '}
        <a href="#about">How this was measured</a>
      </p>
    </section>
  );
}

function Cards({index}: {index: ReportIndex}) {
  const {run, totals, ticks, hot} = index;
  const lost = index.drops.reduce((sum, {count}) => sum + count, 0);
  const first = hot[0];
  const {range} = filter.value;
  return (
    <dl class="cards">
      {range === null ?
        <Card name="Elapsed" value={formatTime(run.elapsed)} note={formatDate(run.started_unix_ms)} /> :
        <Card name="Selected" value={formatTime(range[1] - range[0])} note={`of ${formatTime(run.elapsed)}`} />}
      {isFiltered.value ?
        <Card name="Samples" value={formatCount(totals.samples)} note={`of ${formatCount(run.samples)}`} /> :
        <Card name="Samples" value={formatCount(run.samples)} note={samplesNote(ticks.missed, lost)} />}
      <Card name="Rate" value={<>{formatRate(run.rate_reached)}<small> /s</small></>}
            note={`${formatRate(run.rate_asked)} asked`} />
      <Card name="Project lines" value={formatShare(totals.project_time, totals.time)}
            note={`${formatTime(totals.project_time)} of ${formatTime(totals.time)} ` +
                countedWhere(run)} />
      {first !== undefined &&
        <Card name="Hottest line"
              value={<a href={sourceHref(first.file, first.first)}><bdi>{visible(first.label)}</bdi></a>}
              note={`${formatTime(first.time)}, ${formatShare(first.time, totals.time)} of ` +
                  (isFiltered.value ? 'the selection' : 'all time')} />}
    </dl>
  );
}

function countedWhere({mode, idle}: RunFacts): string {
  if (mode === 'cpu') return 'on a CPU';
  if (mode === 'gil') return 'holding the GIL';
  return idle ? 'in all threads' : 'in threads that are not idle';
}

function samplesNote(missed: number | null, dropped: number): string {
  const parts = [];
  if (isKnown(missed)) parts.push(`${formatCount(missed)} missed`);
  parts.push(`${formatCount(dropped)} dropped`);
  return parts.join(', ');
}

function Card({name, value, note}: {name: string; value: ComponentChildren; note: string}) {
  return (
    <div class="card">
      <dt>{name}</dt>
      <dd class="figure">{value}</dd>
      <dd class="quiet">{note}</dd>
    </div>
  );
}

function TimeSplit({index: {totals}}: {index: ReportIndex}) {
  return (
    <SplitBar whole={totals.time} parts={[
      {name: 'Project lines', value: totals.project_time, tone: 'tone-project',
       hint: 'With the library code that they call'},
      {name: 'Other Python code', value: totals.outside_time, tone: 'tone-outside',
       hint: 'Stacks without a project line'},
      {name: 'No Python code', value: totals.no_python_time, tone: 'tone-none',
       hint: 'Threads that were in no Python code'},
    ]} />
  );
}

function HotLines({index}: {index: ReportIndex}) {
  const {hot, totals} = index;
  const {sort, heat: heatBy, expanded, active} = viewState.value;
  const all = useMemo(() => hotOrder(hot, sort), [hot, sort]);
  const order = useMemo(() => expanded ? all : all.slice(0, FIRST_LINES), [all, expanded]);
  const max = heatBy === 'time' ? totals.max_line_time : null;
  const columns = useMemo(() => withDiff(COLUMNS, index), [index]);
  useAskTarget(() => {
    const line = hot[active ?? order[0]];
    return line === undefined ? null : {file: line.file, line: line.line};
  });
  return (
    <section class="block" aria-labelledby="hot-title">
      <div class="block-head">
        <h2 id="hot-title">Most expensive lines</h2>
        {hot.length > 0 && <HeatControl />}
      </div>
      {hot.length === 0 ? <NoSamples index={index} /> :
        <Table label="Most expensive lines" class={`index-table statements${index.compare === undefined ? '' : ' with-diff'}`} columns={columns}
               order={order} rowHeight={null} version={heatBy} minWidth="720px" row={(id) => ({
                 heat: heat(hot[id].time ?? NaN, max),
                 cells: <HotCells index={index} line={hot[id]} barMax={max} />,
               })}
               describe={(id) => `${hot[id].label}, time ${formatTime(hot[id].time)}` +
                   `${changeInWords(hotChange(hot[id]))}, ${hot[id].text ?? ''}`}
               onOpen={(id) => navigate(
                   {view: 'source', file: hot[id].file, line: hot[id].first})}>
          {all.length > order.length &&
            <button type="button" class="more" onClick={() => updateView({expanded: true})}>
              Show all {all.length} lines
            </button>}
        </Table>}
    </section>
  );
}

function HotCells({index, line, barMax}: {index: ReportIndex; line: HotLine; barMax: number | null}) {
  return (
    <>
      <TimeCell value={line.time} whole={index.totals.time} barMax={barMax} />
      <DiffCell change={hotChange(line)} index={index} />
      <TextCell class="location" title={visible(index.files.path[line.file])}>
        <a href={sourceHref(line.file, line.first)}><bdi>{visible(line.label)}</bdi></a>
        {line.function !== null && <span class="in-function"><bdi>{visible(line.function)}</bdi></span>}
      </TextCell>
      <NumberCell value={line.samples} />
      <div class="td code" role="cell"><Statement index={index} line={line} /></div>
    </>
  );
}

// What the base spent time on and the new run has no more: no source of this report has a place for it.
function GoneLines({index: {compare}}: {index: ReportIndex}) {
  if (compare === undefined || compare.gone.length === 0) return null;
  const {gone} = compare;
  return (
    <section class="block" aria-labelledby="gone-title">
      <div class="block-head">
        <h2 id="gone-title">Lines that are gone</h2>
        <p class="quiet">In the base only, the greatest first</p>
      </div>
      <ul class="panel gone-lines">
        {gone.map(({place, text, base}) => (
          <li key={place}>
            <span class="num">{formatTime(base)}</span>
            <bdi class="place">{visible(place)}</bdi>
            <code>{text === '' ? <span class="quiet">source not captured</span> : visible(text)}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Statement({index, line}: {index: ReportIndex; line: HotLine}) {
  const parts = useMemo(() => statementLines(line), [line]);
  if (parts === null) {
    return index.files.chunk[line.file] === null ? <span class="quiet">source not captured</span> :
      <StatementFromSource index={index} line={line} />;
  }
  return (
    <pre>
      {line.text_first > line.first && <span class="quiet">…{'\n'}</span>}
      {parts.map((spans, i) => (
        <span key={i} class={line.last > line.first && line.text_first + i === line.line ? 'measured' : ''}>
          <Code spans={spans} classes={index.token_classes} />{i + 1 < parts.length ? '\n' : ''}
        </span>
      ))}
      {line.text_last < line.last && <span class="quiet">{'\n'}…</span>}
    </pre>
  );
}

// A line that is only among the hottest of the selected part of the run is not quoted in the index.
function StatementFromSource({index, line}: {index: ReportIndex; line: HotLine}) {
  const report = useReport();
  const loaded = useLoaded(() => report.source(line.file), line.file);
  if (loaded.state === 'loading') return <span class="quiet">…</span>;
  if (loaded.state === 'failed') return <span class="quiet">source cannot be read</span>;
  const source = loaded.value;
  const [first, last] = source.statement(line.line);
  const shown = [Math.max(first, line.line - QUOTED_AROUND), Math.min(last, line.line + QUOTED_AROUND)];
  const texts = Array.from({length: shown[1] - shown[0] + 1}, (_, i) => source.lineText(shown[0] + i));
  const indent = Math.min(...texts.filter((text) => text.trim() !== '').map((text) => text.search(/\S/)));
  return (
    <pre>
      {shown[0] > first && <span class="quiet">…{'\n'}</span>}
      {texts.map((text, i) => {
        const begin = source.lineOffset(shown[0] + i);
        const spans = source.tokens.spans(source.text, begin + Math.min(indent, text.length), begin + text.length);
        return (
          <span key={i} class={last > first && shown[0] + i === line.line ? 'measured' : ''}>
            <Code spans={spans} classes={index.token_classes} />{i + 1 < texts.length ? '\n' : ''}
          </span>
        );
      })}
      {shown[1] < last && <span class="quiet">{'\n'}…</span>}
    </pre>
  );
}

function statementLines(line: HotLine) {
  if (line.text === null) return null;
  const tokens = TokenList.fromTriples(line.tokens);
  let at = 0;
  return line.text.split('\n').map((text) => {
    const spans = tokens.spans(line.text ?? '', at, at + text.length);
    at += text.length + 1;
    return spans;
  });
}

function NoSamples({index}: {index: ReportIndex}) {
  const {run} = index;
  if (isFiltered.value) {
    return <Empty><p>No samples of the selected part of the run fell on project lines.</p></Empty>;
  }
  return (
    <Empty>
      <p>
        {run.samples === 0 ? 'No samples were taken.' : 'No samples fell on project lines.'} The run
        may have been shorter than 10 ms, or <code>--include</code> may leave out the code that ran.
      </p>
      <p class="quiet">The project is {visible(index.scope.text)}.</p>
    </Empty>
  );
}

function hotOrder(hot: readonly HotLine[], sort: SortOrder): Uint32Array {
  // Line order first: ties keep it.
  const position = sortRows(Float64Array.from(hot, ({file, line}) => file * 2 ** 24 + line), false);
  const inOrder = Array.from(position, (i) => hot[i]);
  const keys = Float64Array.from(inOrder, (line, i) => {
    if (sort.column === 'samples') return line.samples ?? NaN;
    if (sort.column === 'diff') return changeKey(hotChange(line));
    return sort.column === 'time' ? line.time ?? NaN : i;
  });
  return sortRows(keys, sort.descending).map((i) => position[i]);
}
