import {useMemo} from 'preact/hooks';

import {changeKey} from '../data/changes.ts';
import type {FunctionTable} from '../data/functions.ts';
import {KINDS} from '../data/functions.ts';
import type {ReportIndex} from '../data/index_types.ts';
import {formatCount, formatTime, plural} from '../lib/format.ts';
import {heat} from '../lib/heat.ts';
import type {SortKeys, SortOrder} from '../lib/sort.ts';
import {lineOrder, sortRows} from '../lib/sort.ts';
import {visible} from '../lib/visible.ts';
import {useReport} from '../state/context.ts';
import {useLoaded} from '../state/loaded.ts';
import {useAskTarget} from '../state/assistant.ts';
import {navigate, updateView, viewState} from '../state/navigation.ts';
import {useNumbers} from '../state/numbers.ts';
import {sourceHref} from '../state/route.ts';
import {announce} from '../ui/announce.tsx';
import {AskHere} from '../ui/ask_here.tsx';
import {CallsPanel, toggleCalls} from '../ui/calls_panel.tsx';
import {NumberCell, Place, TextCell, TimeCell} from '../ui/cells.tsx';
import {useCommands} from '../ui/commands.ts';
import {changeInWords, DiffCell, withDiff} from '../ui/diff_cell.tsx';
import {FilterBox} from '../ui/filter_box.tsx';
import {HeatControl} from '../ui/heat_control.tsx';
import {CallsIcon} from '../ui/icons.tsx';
import {useKeys} from '../ui/keys.ts';
import {Empty, Loading, NoMatch, Unreadable} from '../ui/states.tsx';
import type {Column} from '../ui/table.tsx';
import {Table} from '../ui/table.tsx';

const COLUMNS: readonly Column[] = [
  {id: 'time', title: 'Time', numeric: true, width: 'var(--time-column)',
   hint: 'Time of a function\'s own lines, without other project functions it calls'},
  {id: 'total', title: 'Total', numeric: true, width: 'var(--time-column)',
   hint: 'With everything that it calls'},
  {id: 'location', title: 'Location', numeric: false, width: 'minmax(140px, 0.8fr)'},
  {id: 'samples', title: 'Samples', numeric: true, width: 'var(--samples-column)'},
  {id: 'source', title: 'Source', numeric: false, width: 'minmax(170px, 1.2fr)'},
  {id: 'lines', title: 'Lines', numeric: true, width: '72px'},
];

export function FunctionsView() {
  const report = useReport();
  const loaded = useLoaded(() => report.functions(), report);
  const numbers = useNumbers();
  return (
    <section class="view fill" aria-labelledby="title">
      <header class="view-head">
        <div>
          <h1 id="title">Functions</h1>
          <p class="subtitle">
            {plural(report.index.functions, 'function')}. Time is that of a function’s own lines,
            without other project functions it calls. Library and native functions are under the callers and calls of
            these: their time belongs to the lines that call them.
          </p>
        </div>
        <div class="tools"><FilterBox label="Filter functions" /><HeatControl /></div>
      </header>
      {loaded.state === 'loading' ? <Loading /> :
       loaded.state === 'failed' ? <Unreadable message={loaded.message} /> :
       loaded.value === null || loaded.value.count === 0 ?
         <Empty><p>No function of the project was seen.</p></Empty> :
         <FunctionRows index={numbers.index} table={numbers.functions(loaded.value)} />}
    </section>
  );
}

function FunctionRows({index, table}: {index: ReportIndex; table: FunctionTable}) {
  const {sort, filter, heat: heatBy, calls, active} = viewState.value;
  const showCalls = () => {
    if (active === null) announce('Select a function first');
    else toggleCalls(active);
  };
  useKeys({c: showCalls});
  useCommands([{text: 'Callers and calls of this function', detail: 'c', run: showCalls}]);
  const order = useMemo(() => functionOrder(index, table, sort, filter), [index, table, sort, filter]);
  const max = heatBy === 'time' ? index.totals.max_function_time : null;
  const about = (id: number) => ({file: table.file[id], line: table.line[id], whole: true});
  useAskTarget(() => order.length === 0 ? null : about(active !== null && order.includes(active) ? active : order[0]));
  if (order.length === 0) return <NoMatch what="function" filter={filter} />;
  const {metrics} = table;
  return (
    <>
    <Table label="Functions" class="index-table" columns={withDiff(COLUMNS, index)} order={order} rowHeight={28}
           minWidth="690px" version={heatBy} row={(id) => ({
             heat: heat(metrics.get('time', id), max),
             cells: <FunctionCells index={index} table={table} id={id} barMax={max} />,
           })}
           describe={(id) => `${table.name[id]}, time ${formatTime(metrics.get('time', id))}, ` +
               `${formatCount(metrics.get('samples', id))} samples${changeInWords(table.changes.at(id))}`}
           onOpen={(id) => navigate(
               {view: 'source', file: table.file[id], line: table.line[id]})}>
      {active !== null &&
        <AskHere index={order.indexOf(active)} rowHeight={28} name={visible(table.name[active] ?? '')}
                 target={() => about(active)} />}
    </Table>
    {calls !== null && <CallsPanel id={calls} />}
    </>
  );
}

interface FunctionCellsProps {
  index: ReportIndex;
  table: FunctionTable;
  id: number;
  barMax: number | null;
}

function FunctionCells({index, table, id, barMax}: FunctionCellsProps) {
  const {metrics} = table;
  const file = table.file[id];
  const href = sourceHref(file, table.line[id]);
  return (
    <>
      <TimeCell value={metrics.get('time', id)} whole={index.totals.time} barMax={barMax} />
      <DiffCell change={table.changes.at(id)} index={index} />
      <TimeCell value={metrics.get('total', id)} whole={index.totals.time} />
      <TextCell class="location" title={`${visible(index.files.path[file])}:${table.line[id]}`}>
        <a href={href}><Place label={index.files.label[file]} suffix={`:${table.line[id]}`} /></a>
      </TextCell>
      <NumberCell value={metrics.get('samples', id)} />
      <TextCell class="name" title={KINDS[table.kind[id]] ?? KINDS[5]}>
        <a href={href} tabIndex={-1}><QualifiedName name={table.name[id]} /></a>
        {metrics.get('total', id) > 0 &&
          <button type="button" class="row-button" tabIndex={-1} title="Callers and calls (c)"
                  aria-label={`Callers and calls of ${visible(table.name[id])}`}
                  onClick={() => updateView({active: id, calls: viewState.value.calls === id ? null : id})}>
            <CallsIcon /></button>}
      </TextCell>
      <NumberCell value={table.lines[id]} />
    </>
  );
}

// What the function is nested in steps back behind its own name.
export function QualifiedName({name}: {name: string}) {
  const cut = name.lastIndexOf('.') + 1;
  return (
    <bdi>
      {cut > 0 && <span class="folder">{visible(name.slice(0, cut))}</span>}
      {visible(name.slice(cut))}
    </bdi>
  );
}

function functionOrder(index: ReportIndex, table: FunctionTable, sort: SortOrder,
                       filter: string): Uint32Array {
  const order = sort.column === 'location' ?
      lineOrder(table.count, sort.descending) :
      sortRows(functionKeys(table, sort.column), sort.descending);
  if (filter === '') return order;
  const wanted = filter.toLowerCase();
  const matches = index.files.path.map((path) => path.toLowerCase().includes(wanted));
  return order.filter(
      (id) => matches[table.file[id]] || table.name[id].toLowerCase().includes(wanted));
}

function functionKeys(table: FunctionTable, column: string): SortKeys {
  switch (column) {
    case 'source': return table.name;
    case 'lines': return table.lines;
    case 'diff': return Float64Array.from(table.line, (_, id) => changeKey(table.changes.at(id)));
    case 'samples': return Float64Array.from(table.line, (_, id) => table.metrics.get('samples', id));
    case 'total': return Float64Array.from(table.line, (_, id) => table.metrics.get('total', id));
    default: return Float64Array.from(table.line, (_, id) => table.metrics.get('time', id));
  }
}
