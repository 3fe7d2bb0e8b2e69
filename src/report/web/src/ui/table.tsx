// The one table of the report: headings that sort, rows of a fixed height of which only those in
// sight exist when there are many, sideways scrolling for long lines, and the keyboard.
//
// The scrolling element has the focus and shows which row the keyboard is on; the row is spoken
// through the live region, because rows that scroll out of sight cease to exist.
import type {ComponentChildren, CSSProperties, VNode} from 'preact';
import {useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';

import {nextSort} from '../lib/sort.ts';
import {entryId, rememberScroll, updateView, viewState} from '../state/navigation.ts';
import {printing} from '../state/printing.ts';
import {announce} from './announce.tsx';
import {SortArrow} from './icons.tsx';
import {useKeys} from './keys.ts';

export interface Column {
  id: string;
  // Heading; a column without one has no control and is only named for screen readers.
  title: string;
  spoken?: string;
  numeric: boolean;
  // Grid track.
  width: string;
  hint?: string;
}

export interface TableProps {
  label: string;
  class: string;
  columns: readonly Column[];
  // Row ids, in the order shown.
  order: Uint32Array;
  // Pixels; null: rows are as high as their content, and all of them exist.
  rowHeight: number | null;
  minWidth?: string;
  // Cells of one row. Rows are kept until `version` changes.
  row: (id: number) => RowContent;
  version: unknown;
  // What a screen reader hears when the keyboard lands on the row.
  describe: (id: number) => string;
  onOpen?: (id: number) => void;
  // `extend`: up to this row from the one selected before.
  onSelect?: (id: number, extend: boolean) => void;
  // The row that the selection goes on to; null: one row is selected.
  until?: number | null;
  // Another order keeps the row at the top in its place, instead of beginning at the first one.
  keepsPlace?: boolean;
  // Pixels kept free below the last row, so that a row near the end can stand at the top.
  placeActiveFirst?: boolean;
  children?: ComponentChildren;
}

export interface RowContent {
  cells: ComponentChildren;
  heat: number;
  class?: string;
}

// Tables up to this many rows exist whole: the browser's own find, selection and print work on them.
export const WHOLE_ROWS = 500;
const OVERSCAN = 6;
const STEP = 4;
const PRINTED_ROWS = 5000;

const CACHED_ROWS = 4000;

interface Range {
  first: number;
  end: number;
}

interface RowCache {
  version: unknown;
  order: Uint32Array;
  rows: Map<number, VNode>;
}

export function Table(props: TableProps) {
  const {order, rowHeight, columns} = props;
  const scroller = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const virtual = rowHeight !== null && order.length > WHOLE_ROWS;
  const [range, setRange] = useState<Range>({first: 0, end: 60});
  const [tail, setTail] = useState(0);
  const active = viewState.value.active;
  const activeIndex = useMemo(
      () => active === null ? -1 : order.indexOf(active), [order, active]);

  const until = props.until ?? null;
  const untilIndex = useMemo(() => until === null ? -1 : order.indexOf(until), [order, until]);

  const measure = useCallback(() => {
    const element = scroller.current;
    if (element === null || !virtual || rowHeight === null) return;
    const next = visibleRange(element.scrollTop, element.clientHeight, rowHeight, order.length);
    setRange((old) => old.first === next.first && old.end === next.end ? old : next);
  }, [virtual, rowHeight, order.length]);

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [measure]);

  // Another entry of the history: back to where one was, or to the row that the route names.
  const entry = entryId.value;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || rowHeight === null) return;
    const {top, left} = viewState.peek();
    if (top === null && props.placeActiveFirst && activeIndex >= 0) {
      const space = element.clientHeight - (head.current?.offsetHeight ?? 0);
      const missing = space - (order.length - activeIndex) * rowHeight;
      const free = Math.max(0, missing);
      // Set at once: the browser would cut off a scroll position beyond the end.
      element.style.setProperty('--tail', `${free}px`);
      setTail(free);
      element.scrollTop = activeIndex * rowHeight;
      element.scrollLeft = 0;
    } else {
      element.scrollTop = top ?? 0;
      element.scrollLeft = left;
    }
    measure();
  }, [entry, order.length === 0]);

  // Another order or selection of rows within one entry begins at its top.
  const last = useRef({entry, order});
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && rowHeight !== null && last.current.entry === entry &&
        last.current.order !== order) {
      element.scrollTop = props.keepsPlace && rowHeight !== null ?
        samePlace(last.current.order, order, element.scrollTop, rowHeight) : 0;
    }
    last.current = {entry, order};
    measure();
  }, [measure, order]);

  const move = (index: number, extend = false) => {
    const element = scroller.current;
    if (element === null || order.length === 0) return;
    const next = Math.min(order.length - 1, Math.max(0, index));
    const id = order[next];
    if (props.onSelect !== undefined) props.onSelect(id, extend);
    else updateView({active: id});
    bringIntoView(element, head.current, next, rowHeight);
    measure();
    announce(props.describe(id));
  };

  // The first step lands on the first row in sight.
  const step = (by: number, extend = false) => {
    const from = extend && untilIndex >= 0 ? untilIndex : activeIndex;
    if (from >= 0) return move(from + by, extend);
    const top = scroller.current?.scrollTop ?? 0;
    move(rowHeight === null ? 0 : Math.ceil(top / rowHeight));
  };

  const page = () => {
    const height = scroller.current?.clientHeight ?? 0;
    return rowHeight === null ? 5 : Math.max(1, Math.floor(height / rowHeight) - 2);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroller.current || event.ctrlKey || event.altKey || event.metaKey) return;
    const actions: Record<string, () => void> = {
      ArrowDown: () => step(1, event.shiftKey),
      ArrowUp: () => step(-1, event.shiftKey),
      PageDown: () => step(page()),
      PageUp: () => step(-page()),
      Home: () => move(0),
      End: () => move(order.length - 1),
      Enter: () => { if (activeIndex >= 0) props.onOpen?.(order[activeIndex]); },
    };
    const run = actions[event.key];
    if (run === undefined) return;
    event.preventDefault();
    run();
  };

  const focusAnd = (by: number) => () => {
    scroller.current?.focus({preventScroll: true});
    step(by);
  };
  useKeys({j: focusAnd(1), k: focusAnd(-1)});

  // Reusing a row's node lets the renderer skip it while scrolling.
  const cache = useRef<RowCache>({version: null, order, rows: new Map()});
  if (cache.current.version !== props.version || cache.current.order !== order ||
      cache.current.rows.size > CACHED_ROWS) {
    cache.current = {version: props.version, order, rows: new Map()};
  }
  const nodes = cache.current.rows;
  const top = (index: number) => rowHeight === null ? null : index * rowHeight;
  const shown = rangeToShow(virtual, printing.value, range, order.length);
  const rows: VNode[] = [];
  for (let index = shown.first; index < shown.end; index++) {
    if (rowHeight === null && index === activeIndex) {
      rows.push(renderRow(order[index], index, null, true, props.row(order[index])));
      continue;
    }
    let node = nodes.get(index);
    if (node === undefined) {
      node = renderRow(order[index], index, top(index), false, props.row(order[index]));
      nodes.set(index, node);
    }
    rows.push(node);
  }

  const onClick = (event: MouseEvent) => {
    const target = event.target as Element;
    if (target.closest('a, button') !== null) return;
    if (!event.shiftKey && !(getSelection()?.isCollapsed ?? true)) return;
    const row = target.closest<HTMLElement>('[data-row]');
    if (row === null) return;
    const id = Number(row.dataset['row']);
    if (props.onSelect !== undefined) props.onSelect(id, event.shiftKey);
    else updateView({active: id});
  };
  const spanEnd = untilIndex >= 0 ? untilIndex : activeIndex;
  const spanTop = Math.min(activeIndex, spanEnd);
  const spanRows = Math.abs(activeIndex - spanEnd) + 1;

  const style: CSSProperties = {
    '--columns': columns.map((column) => column.width).join(' '),
    '--table-width': props.minWidth ?? '0px',
  } as CSSProperties;
  return (
    <div class={`scroller ${props.class}`} ref={scroller} tabIndex={0} role="group"
         aria-label={`${props.label}. Arrow keys move by rows.`} style={{'--tail': `${tail}px`}}
         onKeyDown={onKeyDown} onScroll={() => {
           const element = scroller.current;
           if (element === null || rowHeight === null) return;
           rememberScroll(element.scrollTop, element.scrollLeft);
           measure();
         }}>
      <div class="table" role="table" aria-label={props.label} aria-rowcount={order.length + 1}
           style={style} onClick={onClick}>
        <div class="thead" role="rowgroup" ref={head}>
          <div class="tr" role="row" aria-rowindex={1}>
            {columns.map((column) => <Heading key={column.id} column={column} />)}
          </div>
        </div>
        <div class={rowHeight === null ? 'tbody' : 'tbody placed'} role="rowgroup"
             style={rowHeight === null ? {} : {height: `${order.length * rowHeight}px`}}>
          {rowHeight !== null && activeIndex >= 0 &&
            <div class="active-row" role="presentation"
                 style={{top: `${spanTop * rowHeight}px`, height: `${spanRows * rowHeight}px`}} />}
          {rows}
        </div>
      </div>
      {props.children}
    </div>
  );
}

// Scroll position in another order at which the first row in sight is the same, or the next one that is there.
function samePlace(before: Uint32Array, now: Uint32Array, top: number, rowHeight: number): number {
  const first = Math.floor(top / rowHeight);
  const where = new Map<number, number>();
  now.forEach((id, index) => where.set(id, index));
  for (let index = first; index < before.length; index++) {
    const there = where.get(before[index]);
    if (there !== undefined) return Math.max(0, there * rowHeight - (index * rowHeight - top));
  }
  return top;
}

function renderRow(id: number, index: number, top: number | null, marked: boolean,
                   content: RowContent): VNode {
  const classes = ['tr', content.heat > 0 ? 'hot' : '', marked ? 'marked' : '', content.class ?? ''];
  return (
    <div key={id} class={classes.filter((name) => name !== '').join(' ')} role="row" data-row={id}
         aria-rowindex={index + 2}
         style={{...(top === null ? {} : {top: `${top}px`}),
                 ...(content.heat > 0 ? {'--h': content.heat.toFixed(3)} : {})}}>
      {content.cells}
    </div>
  );
}

function Heading({column}: {column: Column}) {
  const {sort} = viewState.value;
  if (column.title === '') {
    return (
      <div class="th" role="columnheader"><span class="sr-only">{column.spoken}</span></div>
    );
  }
  const sorted = sort.column === column.id;
  const direction = sort.descending ? 'descending' : 'ascending';
  return (
    <div class={`th${column.numeric ? ' num' : ''}`} role="columnheader"
         aria-sort={sorted ? direction : 'none'}>
      <button type="button" title={column.hint} onClick={() => updateView({
        sort: nextSort(sort, column.id, column.numeric), top: 0,
      })}>
        {column.title}<SortArrow direction={sorted ? direction : null} />
      </button>
    </div>
  );
}

function visibleRange(top: number, height: number, rowHeight: number, count: number): Range {
  const first = Math.floor(top / rowHeight / STEP) * STEP - OVERSCAN;
  const rows = Math.ceil(height / rowHeight) + STEP + 2 * OVERSCAN;
  return {first: Math.max(0, first), end: Math.min(count, first + rows)};
}

function rangeToShow(virtual: boolean, onPaper: boolean, range: Range, count: number): Range {
  if (!virtual) return {first: 0, end: count};
  if (onPaper) return {first: 0, end: Math.min(count, PRINTED_ROWS)};
  return {first: Math.min(range.first, count), end: Math.min(range.end, count)};
}

function bringIntoView(scroller: HTMLElement, head: HTMLElement | null, index: number,
                       rowHeight: number | null): void {
  if (rowHeight === null) {
    scroller.querySelectorAll<HTMLElement>('[data-row]')[index]?.scrollIntoView({block: 'nearest'});
    return;
  }
  const top = index * rowHeight;
  const space = scroller.clientHeight - (head?.offsetHeight ?? 0);
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (top + rowHeight > scroller.scrollTop + space) scroller.scrollTop = top + rowHeight - space;
}
