import {useMemo} from 'preact/hooks';

import {changeKey, fileChange} from '../data/changes.ts';
import type {ReportIndex} from '../data/index_types.ts';
import {formatCount, formatTime, plural} from '../lib/format.ts';
import {heat} from '../lib/heat.ts';
import type {SortKeys, SortOrder} from '../lib/sort.ts';
import {sortRows} from '../lib/sort.ts';
import {visible} from '../lib/visible.ts';
import {navigate, viewState} from '../state/navigation.ts';
import {useNumbers} from '../state/numbers.ts';
import {sourceHref} from '../state/route.ts';
import {NumberCell, Place, TextCell, TimeCell} from '../ui/cells.tsx';
import {changeInWords, DiffCell, withDiff} from '../ui/diff_cell.tsx';
import {FilterBox} from '../ui/filter_box.tsx';
import {HeatControl} from '../ui/heat_control.tsx';
import {WarningIcon} from '../ui/icons.tsx';
import {Empty, NoMatch} from '../ui/states.tsx';
import type {Column} from '../ui/table.tsx';
import {Table} from '../ui/table.tsx';

const COLUMNS: readonly Column[] = [
  {id: 'time', title: 'Time', numeric: true, width: 'var(--time-column)',
   hint: 'On lines of this file, with the library code that they call'},
  {id: 'total', title: 'Total', numeric: true, width: 'var(--time-column)',
   hint: 'While this file was anywhere in the stack'},
  {id: 'location', title: 'Location', numeric: false, width: 'minmax(160px, 1fr)'},
  {id: 'samples', title: 'Samples', numeric: true, width: 'var(--samples-column)'},
  {id: 'kind', title: 'Kind', numeric: false, width: '84px'},
  {id: 'lines', title: 'Lines', numeric: true, width: '72px'},
];
const KIND_NAMES: Record<string, string> = {python: 'Python', notebook: 'Notebook'};

export function FilesView() {
  const {index} = useNumbers();
  const {sort, filter, heat: heatBy} = viewState.value;
  const {files, totals} = index;
  const order = useMemo(() => fileOrder(index, sort, filter), [index, sort, filter]);
  const max = heatBy === 'time' ? totals.max_file_time : null;

  return (
    <section class="view fill" aria-labelledby="title">
      <header class="view-head">
        <div>
          <h1 id="title">Files</h1>
          <p class="subtitle">{plural(files.path.length, 'file')} of the project with samples or source</p>
        </div>
        <div class="tools"><FilterBox label="Filter files" /><HeatControl /></div>
      </header>
      {files.path.length === 0 ? <NoFiles index={index} /> :
       order.length === 0 ? <NoMatch what="file" filter={filter} /> :
        <Table label="Files" class="index-table" columns={withDiff(COLUMNS, index)} order={order} rowHeight={28}
               minWidth="690px" version={heatBy} row={(file) => ({
                 heat: heat(files.time[file] ?? NaN, max),
                 cells: <FileCells index={index} file={file} barMax={max} />,
               })}
               describe={(file) => `${files.label[file]}, time ${formatTime(files.time[file])}, ` +
                   `${formatCount(files.samples[file])} samples${changeInWords(fileChange(index, file))}`}
               onOpen={(file) => navigate({view: 'source', file, line: null})} />}
    </section>
  );
}

function FileCells({index, file, barMax}: {index: ReportIndex; file: number; barMax: number | null}) {
  const {files, totals} = index;
  const changed = files.verified[file] === false;
  return (
    <>
      <TimeCell value={files.time[file]} whole={totals.time} barMax={barMax} />
      <DiffCell change={fileChange(index, file)} index={index} />
      <TimeCell value={files.total[file]} whole={totals.time} />
      <TextCell class="location" title={visible(files.path[file])}>
        <a href={sourceHref(file)}><Place label={files.label[file]} /></a>
        {changed && <span class="badge" title={files.note[file]}><WarningIcon />changed</span>}
      </TextCell>
      <NumberCell value={files.samples[file]} />
      <TextCell class="quiet">{KIND_NAMES[files.kind[file]] ?? visible(files.kind[file])}</TextCell>
      <NumberCell value={files.lines[file]} />
    </>
  );
}

function NoFiles({index}: {index: ReportIndex}) {
  return (
    <Empty>
      <p>No file of the project was seen. The project is {visible(index.scope.text)}.</p>
      <p>Use <code>--include</code> or <code>--project-root</code> to change what belongs to it.</p>
    </Empty>
  );
}

function fileOrder(index: ReportIndex, sort: SortOrder, filter: string): Uint32Array {
  const {files} = index;
  const order = sortRows(fileKeys(index, sort.column), sort.descending);
  if (filter === '') return order;
  const wanted = filter.toLowerCase();
  return order.filter((file) => files.path[file].toLowerCase().includes(wanted));
}

function fileKeys(index: ReportIndex, column: string): SortKeys {
  const {files} = index;
  switch (column) {
    case 'diff': return Float64Array.from(files.path, (_, file) => changeKey(fileChange(index, file)));
    case 'location': return files.path;
    case 'kind': return files.kind;
    case 'samples': return numbers(files.samples);
    case 'lines': return numbers(files.lines);
    case 'total': return numbers(files.total);
    default: return numbers(files.time);
  }
}

function numbers(values: ReadonlyArray<number | null>): Float64Array {
  return Float64Array.from(values, (value) => value ?? NaN);
}
