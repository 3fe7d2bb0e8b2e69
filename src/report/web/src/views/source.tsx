// One file with its measurements beside every line.
import {useEffect, useMemo, useRef} from 'preact/hooks';

import {changeKey} from '../data/changes.ts';
import type {ReportIndex} from '../data/index_types.ts';
import type {SourceFile, SourceLink} from '../data/source.ts';
import {confidenceText} from '../lib/confidence.ts';
import {findLines} from '../lib/find.ts';
import type {FoldMode, LineRange} from '../lib/fold.ts';
import {FOLD_MODES, foldAt, foldsOf, statementAt} from '../lib/fold.ts';
import {formatCount, formatShare, formatTime, isKnown, plural} from '../lib/format.ts';
import {heat} from '../lib/heat.ts';
import type {SortOrder} from '../lib/sort.ts';
import {lineOrder, sortRows} from '../lib/sort.ts';
import {visible} from '../lib/visible.ts';
import {useReport} from '../state/context.ts';
import {isFiltered} from '../state/filter.ts';
import {useLoaded} from '../state/loaded.ts';
import type {ViewState} from '../state/navigation.ts';
import {moveToLine, updateView, viewState} from '../state/navigation.ts';
import {sourceHref} from '../state/route.ts';
import {useNumbers} from '../state/numbers.ts';
import {useAskTarget} from '../state/assistant.ts';
import {announce} from '../ui/announce.tsx';
import {NumberCell, TimeCell} from '../ui/cells.tsx';
import {AskHere} from '../ui/ask_here.tsx';
import type {CallData} from '../ui/calls_panel.tsx';
import {CallsPanel, toggleCalls, useCallData} from '../ui/calls_panel.tsx';
import {copyAndSay, linesAsText} from '../ui/clipboard.ts';
import {CodeLine} from '../ui/code_line.tsx';
import {useCommands} from '../ui/commands.ts';
import {changeInWords, DiffCell, withDiff} from '../ui/diff_cell.tsx';
import {expressionsInWords, hottestExpression, openExpressions} from '../ui/expressions.tsx';
import {FindBar} from '../ui/find_bar.tsx';
import {cycleFold, FOLD_NAMES, FoldControl, setFold} from '../ui/fold_control.tsx';
import {HeatControl} from '../ui/heat_control.tsx';
import {WarningIcon} from '../ui/icons.tsx';
import {useKeys} from '../ui/keys.ts';
import {LineBar} from '../ui/line_bar.tsx';
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
  const numbers = useNumbers();
  const {files, totals} = numbers.index;
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
          {loaded.state === 'ready' && <Find file={file} source={numbers.source(file, loaded.value)} />}
          <FoldControl />
          <HeatControl />
        </div>
      </header>
      {loaded.state === 'loading' ? <Loading /> :
       loaded.state === 'ready' ? <SourceTable key={file} file={file} source={numbers.source(file, loaded.value)} /> :
       files.chunk[file] === null ? <Empty><p>{visible(loaded.message)}</p></Empty> :
         <Unreadable message={loaded.message} />}
    </section>
  );
}

function Find({file, source}: {file: number; source: SourceFile}) {
  const {active} = viewState.value;
  return (
    <FindBar key={file} source={source} current={active === null ? 0 : active + 1}
             goTo={(line) => showLine(file, source, line)} takesOver={source.lineCount > WHOLE_ROWS} />
  );
}

// Goes to a line of the file that is shown, opening the fold that hides it.
function showLine(file: number, source: SourceFile, line: number): void {
  moveToLine(file, line, {unfolded: opened(source, line)});
  announce(describeLine(source, line));
  scrollToLine(line, sourceRows(source, viewState.peek()).order);
}

function SourceTable({file, source}: {file: number; source: SourceFile}) {
  const {index} = useNumbers();
  const view = viewState.value;
  const {sort, heat: heatBy, active, find, fold, unfolded, until} = view;
  const hidden = fold === 'all' ? 0 : active;
  const rows = useMemo(
      () => sourceRows(source, view), [source, sort, fold, unfolded, hidden]);
  const {order, folds} = rows;
  const columns = useMemo(() => [
    ...withDiff(FIXED_COLUMNS, index),
    {id: 'source', title: 'Source', numeric: false,
     width: `minmax(calc(${Math.min(source.width, 10_040)} * var(--code-em) + 96px), 1fr)`},
  ], [source, index]);
  const max = heatBy === 'time' ? index.totals.max_line_time : null;
  const data = useCallData();
  const label = index.files.label[file];
  const line = active === null ? null : active + 1;
  const [first, last] = line === null ? [0, 0] :
    until === null ? wholeStatement(source, line) : ordered(line, Math.min(until + 1, source.lineCount));

  const goToHot = (direction: 1 | -1) => {
    const next = nextHot(source, line, direction);
    if (next === null) return announce('No more lines with time');
    showLine(file, source, next);
  };
  const showExpressions = () => {
    if (line === null || source.expressions(line).length === 0) {
      return announce(isFiltered.value ? 'Expressions are known of the whole run only' :
        'No expressions are known on this line');
    }
    openExpressions(source, line, label);
  };
  useAskTarget(() => ({file, line: active !== null ? active + 1 : hottestLine(source) ?? 1}));
  const withLine = (run: (line: number) => void) => () => {
    if (line === null) announce('Select a line first');
    else run(line);
  };
  const showCalls = withLine((at) => {
    const id = source.definitionAt(at)?.id ?? null;
    if (id === null) announce('This line is in no function');
    else toggleCalls(id);
  });
  const copy = (numbers: boolean) => withLine(() => copyAndSay(
      linesAsText((at) => source.lineText(at), first, last, numbers),
      `${last > first ? `lines ${first} to ${last}` : `line ${first}`}${numbers ? ' with numbers' : ''}`))();
  const copyLink = withLine((at) => {
    const here = location.href.replace(/#.*$/, '');
    copyAndSay(here + sourceHref(file, at), `a link to line ${at}`);
  });
  const open = (id: number) => {
    if (id < source.lineCount) return followLinks(id);
    const {first: start} = folds[id - source.lineCount];
    updateView({unfolded: [...unfolded, start], active: start - 1});
  };
  useKeys({n: () => goToHot(1), p: () => goToHot(-1), e: showExpressions, z: cycleFold, c: showCalls,
           y: () => copy(false), Y: () => copy(true), l: copyLink});
  useCommands([
    {text: 'Next line with time', detail: 'n', run: () => goToHot(1)},
    {text: 'Previous line with time', detail: 'p', run: () => goToHot(-1)},
    {text: 'Callers and calls of this function', detail: 'c', run: showCalls},
    {text: 'Expressions of this line', detail: 'e', run: showExpressions},
    ...FOLD_MODES.map((mode) => (
      {text: `Show: ${FOLD_NAMES[mode]}`, detail: 'z', run: () => setFold(mode)})),
    {text: 'Copy', detail: 'y', run: () => copy(false)},
    {text: 'Copy with line numbers', detail: 'Y', run: () => copy(true)},
    {text: 'Copy a link to this line', detail: 'l', run: copyLink},
  ]);
  const table = useRef<HTMLDivElement>(null);
  useEffect(() => copyWholeLines(table.current, source), [source]);

  const heats = useMemo(
      () => Float32Array.from(order, (id) => heat(source.value('time', id + 1), max)),
      [source, order, max]);
  const hits = useMemo(() => hitRows(source, rows, find), [source, rows, find]);
  const describeLink = (link: SourceLink) => `${visible(index.files.label[link.file] ?? '')}:${link.line}`;
  if (source.lineCount === 0) return <Empty><p>This file is empty.</p></Empty>;
  const mapped = (heatBy !== 'none' || hits.length > 0) && order.length > MAPPED_LINES;
  return (
    <>
      <div class="with-map" ref={table} onKeyDown={(event) => stepLinks(event, active)}>
        <Table label={`Lines of ${visible(label)}`} class="source-table"
               columns={columns} order={order} rowHeight={LINE_HEIGHT}
               version={`${heatBy} ${data === null} ${find}`} minWidth="100%" placeActiveFirst={true}
               keepsPlace={sort.column === 'source'} until={until}
               row={(id) => id >= source.lineCount ?
                 {heat: 0, class: 'fold', cells: <FoldCells range={folds[id - source.lineCount]} columns={columns.length} open={() => open(id)} />} :
                 {heat: heat(source.value('time', id + 1), max),
                  cells: <LineCells source={source} line={id + 1} label={label} index={index} barMax={max}
                                    find={find} data={data} describe={describeLink} />}}
               describe={(id) => id >= source.lineCount ?
                 `${foldText(folds[id - source.lineCount])}. Enter shows them` : describeLine(source, id + 1)}
               onOpen={open}
               onSelect={(id, extend) => {
                 if (id >= source.lineCount) updateView({active: id, until: null});
                 else if (extend && active !== null) updateView({until: id});
                 else moveToLine(file, id + 1, {unfolded: opened(source, id + 1)});
               }}>
          <AskHere index={active === null || active >= source.lineCount ? -1 : order.indexOf(active)} rowHeight={LINE_HEIGHT}
                   name={`line ${(active ?? 0) + 1}`} target={() => ({file, line: (active ?? 0) + 1})} />
        </Table>
        {mapped && <ScrollMap scroller=".source-table" heats={heats} hits={hits} />}
      </div>
      {line !== null && line <= source.lineCount &&
        <LineBar source={source} first={until === null ? line : first} last={until === null ? line : last} data={data}
                 copy={copy} copyLink={copyLink} />}
      {view.calls !== null && <CallsPanel id={view.calls} />}
    </>
  );
}

interface LineCellsProps {
  source: SourceFile;
  line: number;
  label: string;
  index: ReportIndex;
  barMax: number | null;
  find: string;
  data: CallData | null;
  describe: (link: SourceLink) => string;
}

function LineCells({source, line, label, index, barMax, find, data, describe}: LineCellsProps) {
  const {token_classes: classes, totals} = index;
  const measured = source.hasNumbers(line);
  const id = data === null ? null : source.definitionOn(line)?.id ?? null;
  const samples = source.value('samples', line);
  return (
    <>
      <div class="td line-number" role="rowheader">{line}</div>
      {measured ? <TimeCell value={source.value('time', line)} whole={totals.time} barMax={barMax} /> :
        <div class="td" role="cell" />}
      {measured ? <DiffCell change={source.change(line)} index={index} /> :
        index.compare !== undefined && <div class="td" role="cell" />}
      {measured ? <NumberCell value={samples} title={confidenceText(samples, totals.samples)} /> :
        <div class="td" role="cell" />}
      <div class="td code" role="cell">
        <CodeLine source={source} line={line} label={label} classes={classes} find={find} describe={describe} />
        {id !== null && data !== null && data.calls.has(id) &&
          <button type="button" class="expression-share calls-button" tabIndex={-1}
                  title="Callers and calls (c)" onClick={() => toggleCalls(id)}
                  aria-label={`Callers and calls of ${visible(data.functions.name[id])}`}>callers</button>}
      </div>
    </>
  );
}

function FoldCells({range, columns, open}: {range: LineRange; columns: number; open: () => void}) {
  return (
    <>
      <div class="td line-number" role="rowheader" aria-label={`Lines ${range.first} to ${range.last}`}>⋮</div>
      {Array.from({length: columns - 2}, (_, i) => <div class="td" role="cell" key={i} />)}
      <div class="td code" role="cell">
        <button type="button" class="unfold" tabIndex={-1} onClick={open}>{foldText(range)}</button>
      </div>
    </>
  );
}

function foldText({first, last}: LineRange): string {
  return `… ${plural(last - first + 1, 'line')}`;
}

// A name in the line that the keyboard is on: the one there is, or the first of several.
function followLinks(id: number): void {
  const links = linksOfRow(id);
  if (links.length === 1) links[0].click();
  else if (links.length > 1) links[0].focus();
  else announce('No name on this line leads to a definition');
}

function linksOfRow(id: number): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(`.source-table [data-row="${id}"] a.symbol`)];
}

// Left and right step through the names that lead somewhere; Escape goes back to the lines.
function stepLinks(event: KeyboardEvent, active: number | null): void {
  if (active === null || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  const target = event.target as HTMLElement;
  const links = linksOfRow(active);
  const at = links.indexOf(target);
  const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (by !== 0 && links.length > 0 && (at >= 0 || target.classList.contains('scroller'))) {
    const next = at < 0 ? (by > 0 ? 0 : links.length - 1) : (at + by + links.length) % links.length;
    links[next].focus();
  } else if (at >= 0 && (event.key === 'Escape' || event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
    document.querySelector<HTMLElement>('.source-table')?.focus({preventScroll: true});
  } else {
    return;
  }
  event.preventDefault();
}

// A selection over several rows is copied as the lines it touches, without numbers and measurements, and with the
// rows between that are out of sight.
function copyWholeLines(within: HTMLElement | null, source: SourceFile): () => void {
  const onCopy = (event: ClipboardEvent) => {
    const selection = getSelection();
    if (selection === null || selection.isCollapsed || within === null) return;
    const rowOf = (node: Node | null) => {
      const element = node instanceof Element ? node : node?.parentElement;
      const row = element?.closest<HTMLElement>('.source-table [data-row]');
      return row === null || row === undefined || !within.contains(row) ? null : Number(row.dataset['row']);
    };
    const [from, to] = [rowOf(selection.anchorNode), rowOf(selection.focusNode)];
    if (from === null || to === null || from === to) return;
    if (Math.max(from, to) >= source.lineCount || viewState.peek().sort.column !== 'source') return;
    const [first, last] = ordered(from + 1, to + 1);
    event.preventDefault();
    event.clipboardData?.setData('text/plain', linesAsText((line) => source.lineText(line), first, last, false));
  };
  document.addEventListener('copy', onCopy);
  return () => document.removeEventListener('copy', onCopy);
}

interface SourceRows {
  // Lines by their number less one, and behind them folds by their number.
  order: Uint32Array;
  folds: readonly LineRange[];
}

function sourceRows(source: SourceFile, {sort, fold, unfolded, active}: ViewState): SourceRows {
  const all = sourceOrder(source, sort);
  const folds = foldsFor(source, fold).filter(({first, last}) =>
    !unfolded.includes(first) && (active === null || active + 1 < first || active + 1 > last));
  if (folds.length === 0) return {order: all, folds};
  const bySource = sort.column === 'source';
  const rowOf = new Map(folds.map(({first}, i) => [first, source.lineCount + i]));
  const rows: number[] = [];
  for (const id of all) {
    const hiding = foldAt(folds, id + 1);
    if (hiding === null) rows.push(id);
    else if (bySource && id + 1 === hiding.first) rows.push(rowOf.get(hiding.first) ?? id);
  }
  return {order: Uint32Array.from(rows), folds};
}

const foldCache = new WeakMap<SourceFile, Map<FoldMode, LineRange[]>>();

function foldsFor(source: SourceFile, mode: FoldMode): LineRange[] {
  let known = foldCache.get(source);
  if (known === undefined) foldCache.set(source, known = new Map());
  let folds = known.get(mode);
  if (folds === undefined) {
    folds = foldsOf({
      lineCount: source.lineCount,
      statements: source.statements,
      definitions: source.definitions,
      hasTime: (line) => source.value('time', line) > 0,
      isDecorator: (line) => source.lineText(line).trimStart().startsWith('@'),
    }, mode);
    known.set(mode, folds);
  }
  return folds;
}

// Folds that are open once the keyboard is on `line`: those that were, and the one it leaves.
function opened(source: SourceFile, line: number): readonly number[] {
  const {fold, unfolded, active} = viewState.peek();
  const folds = foldsFor(source, fold);
  const also = [line, active === null ? 0 : active + 1]
      .map((at) => foldAt(folds, at)?.first)
      .filter((first): first is number => first !== undefined && !unfolded.includes(first));
  return also.length === 0 ? unfolded : [...unfolded, ...new Set(also)];
}

function hitRows(source: SourceFile, {order}: SourceRows, find: string): number[] {
  if (find === '') return [];
  const lines = new Set(findLines(source.text, (offset) => source.lineAt(offset), find));
  const rows: number[] = [];
  order.forEach((id, row) => { if (lines.has(id + 1)) rows.push(row); });
  return rows;
}

function wholeStatement(source: SourceFile, line: number): [number, number] {
  const statement = statementAt(source.statements, line);
  return statement === null ? [line, line] : [statement.first, statement.last];
}

function ordered(a: number, b: number): [number, number] {
  return a < b ? [a, b] : [b, a];
}

function sourceOrder(source: SourceFile, sort: SortOrder): Uint32Array {
  if (sort.column === 'diff') {
    const keys = Float64Array.from(
        {length: source.lineCount}, (_, row) => changeKey(source.change(row + 1)));
    return sortRows(keys, sort.descending);
  }
  if (sort.column !== 'time' && sort.column !== 'samples') {
    return lineOrder(source.lineCount, sort.descending);
  }
  const metric = sort.column;
  const keys = Float64Array.from(
      {length: source.lineCount}, (_, row) => source.value(metric, row + 1));
  return sortRows(keys, sort.descending);
}

function hottestLine(source: SourceFile): number | null {
  let hottest: number | null = null;
  for (let line = 1; line <= source.lineCount; line++) {
    if (source.value('time', line) > (hottest === null ? 0 : source.value('time', hottest))) hottest = line;
  }
  return hottest;
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
          `${formatCount(source.value('samples', line))} samples${changeInWords(source.change(line))}, ` :
      '';
  const expressions = hottestExpression(source, line) === null ? '' :
      `. Within it: ${expressionsInWords(source, line, 3)}. Press e for the list`;
  return `Line ${line}, ${numbers}${source.lineText(line).trim().slice(0, 200)}${expressions}`;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
