// One file with its measurements beside every line.
import {useMemo} from 'preact/hooks';

import type {SourceFile} from '../data/source.ts';
import {formatCount, formatShare, formatTime, isKnown, plural} from '../lib/format.ts';
import {heat} from '../lib/heat.ts';
import type {SortOrder} from '../lib/sort.ts';
import {lineOrder, sortRows} from '../lib/sort.ts';
import {visible} from '../lib/visible.ts';
import {useReport} from '../state/context.ts';
import {useLoaded} from '../state/loaded.ts';
import {moveToLine, viewState} from '../state/navigation.ts';
import {announce} from '../ui/announce.tsx';
import {NumberCell, TimeCell} from '../ui/cells.tsx';
import {Code} from '../ui/code.tsx';
import {FindBar} from '../ui/find_bar.tsx';
import {HeatControl} from '../ui/heat_control.tsx';
import {WarningIcon} from '../ui/icons.tsx';
import {useKeys} from '../ui/keys.ts';
import {ScrollMap} from '../ui/scroll_map.tsx';
import {Empty, Loading, Unreadable} from '../ui/states.tsx';
import type {Column} from '../ui/table.tsx';
import {Table, WHOLE_ROWS} from '../ui/table.tsx';

const LINE_HEIGHT = 20;
// A shorter file is in sight as it is.
const MAPPED_LINES = 60;

const FIXED_COLUMNS: readonly Column[] = [
  {id: 'line', title: '', spoken: 'Line number', numeric: true, width: 'var(--line-column)'},
  {id: 'time', title: 'Time', numeric: true, width: 'var(--time-column)',
   hint: 'On this line, with the library code that it calls'},
  {id: 'samples', title: 'Samples', numeric: true, width: 'var(--samples-column)'},
];

export function SourceView({file}: {file: number}) {
  const report = useReport();
  const {files, totals} = report.index;
  const known = file < files.path.length;
  const loaded = useLoaded(() => report.source(file), file);
  if (!known) {
    return (
      <section class="view" aria-labelledby="title">
        <h1 id="title">No such file</h1>
        <Empty>
          <p>This report has no file with this number. File numbers hold within one report only.</p>
          <a class="button" href="#files">All files</a>
        </Empty>
      </section>
    );
  }
  const label = files.label[file];
  const time = files.time[file];
  return (
    <section class="view fill" aria-labelledby="title">
      <header class="view-head">
        <div class="grow">
          <h1 id="title" title={visible(files.path[file])}>{visible(baseName(label))}</h1>
          <p class="subtitle facts">
            <span class="path" title={visible(files.path[file])}><bdi>{visible(files.path[file])}</bdi></span>
            <span>{plural(files.lines[file] ?? NaN, 'line')}</span>
            <span>Total time {formatTime(time)}
              {isKnown(time) && <span class="share"> {formatShare(time, totals.time)}</span>}</span>
          </p>
          {files.note[file] !== '' && files.chunk[file] !== null &&
            <p class="note"><WarningIcon /> {visible(files.note[file])}</p>}
        </div>
        <div class="tools">
          {loaded.state === 'ready' && <Find file={file} source={loaded.value} />}
          <HeatControl />
        </div>
      </header>
      {loaded.state === 'loading' ? <Loading /> :
       loaded.state === 'ready' ? <SourceTable key={file} file={file} source={loaded.value} /> :
       files.chunk[file] === null ? <Empty><p>{visible(loaded.message)}</p></Empty> :
         <Unreadable message={loaded.message} />}
    </section>
  );
}

function Find({file, source}: {file: number; source: SourceFile}) {
  const {active, sort} = viewState.value;
  const goTo = (line: number) => {
    moveToLine(file, line);
    announce(describeLine(source, line));
    scrollToLine(line, sourceOrder(source, sort));
  };
  return (
    <FindBar key={file} source={source} current={active === null ? 0 : active + 1} goTo={goTo}
             takesOver={source.lineCount > WHOLE_ROWS} />
  );
}

function SourceTable({file, source}: {file: number; source: SourceFile}) {
  const {index} = useReport();
  const {sort, heat: heatBy, active} = viewState.value;
  const order = useMemo(() => sourceOrder(source, sort), [source, sort]);
  const columns = useMemo(() => [
    ...FIXED_COLUMNS,
    {id: 'source', title: 'Source', numeric: false,
     width: `minmax(calc(${Math.min(source.width, 10_040)} * var(--code-em) + 32px), 1fr)`},
  ], [source]);
  const max = heatBy === 'time' ? index.totals.max_line_time : null;

  const goToHot = (direction: 1 | -1) => {
    const line = nextHot(source, active === null ? null : active + 1, direction);
    if (line === null) return announce('No more lines with time');
    moveToLine(file, line);
    announce(describeLine(source, line));
    scrollToLine(line, order);
  };
  useKeys({n: () => goToHot(1), p: () => goToHot(-1)});

  const heats = useMemo(
      () => Float32Array.from(order, (id) => heat(source.value('time', id + 1), max)),
      [source, order, max]);
  if (source.lineCount === 0) return <Empty><p>This file is empty.</p></Empty>;
  const mapped = heatBy !== 'none' && source.lineCount > MAPPED_LINES;
  return (
    <div class="with-map">
      <Table label={`Lines of ${visible(index.files.label[file])}`} class="source-table"
             columns={columns} order={order} rowHeight={LINE_HEIGHT} version={heatBy}
             minWidth="100%" placeActiveFirst={true}
             row={(id) => ({
               heat: heat(source.value('time', id + 1), max),
               cells: <LineCells source={source} line={id + 1} whole={index.totals.time} barMax={max}
                                 classes={index.token_classes} />,
             })}
             describe={(id) => describeLine(source, id + 1)}
             onSelect={(id) => moveToLine(file, id + 1)} />
      {mapped && <ScrollMap scroller=".source-table" heats={heats} />}
    </div>
  );
}

interface LineCellsProps {
  source: SourceFile;
  line: number;
  whole: number | null;
  barMax: number | null;
  classes: readonly string[];
}

function LineCells({source, line, whole, barMax, classes}: LineCellsProps) {
  const spans = source.tokens.spans(source.text, source.lineOffset(line), source.lineEnd(line));
  const measured = source.hasNumbers(line);
  return (
    <>
      <div class="td line-number" role="rowheader">{line}</div>
      {measured ? <TimeCell value={source.value('time', line)} whole={whole} barMax={barMax} /> :
        <div class="td" role="cell" />}
      {measured ? <NumberCell value={source.value('samples', line)} /> : <div class="td" role="cell" />}
      <div class="td code" role="cell"><Code spans={spans} classes={classes} /></div>
    </>
  );
}

function sourceOrder(source: SourceFile, sort: SortOrder): Uint32Array {
  if (sort.column !== 'time' && sort.column !== 'samples') {
    return lineOrder(source.lineCount, sort.descending);
  }
  const metric = sort.column;
  const keys = Float64Array.from(
      {length: source.lineCount}, (_, row) => source.value(metric, row + 1));
  return sortRows(keys, sort.descending);
}

function nextHot(source: SourceFile, from: number | null, direction: 1 | -1): number | null {
  let line = from ?? (direction > 0 ? 0 : source.lineCount + 1);
  for (line += direction; line >= 1 && line <= source.lineCount; line += direction) {
    if (source.value('time', line) > 0) return line;
  }
  return null;
}

function scrollToLine(line: number, order: Uint32Array): void {
  const scroller = document.querySelector<HTMLElement>('.source-table');
  if (scroller === null) return;
  const top = order.indexOf(line - 1) * LINE_HEIGHT;
  const third = scroller.clientHeight / 3;
  scroller.scrollTop = Math.max(0, top - third);
}

function describeLine(source: SourceFile, line: number): string {
  const numbers = source.hasNumbers(line) ?
      `time ${formatTime(source.value('time', line))}, ` +
          `${formatCount(source.value('samples', line))} samples, ` :
      '';
  return `Line ${line}, ${numbers}${source.lineText(line).trim().slice(0, 200)}`;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
