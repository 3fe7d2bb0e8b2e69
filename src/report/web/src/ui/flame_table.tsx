// The flame graph's twin for those who read rather than look: the same tree as a table, row by row.
import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';

import type {ReportIndex} from '../data/index_types.ts';
import type {StackData} from '../data/stacks.ts';
import {TONES} from '../lib/flame_frames.ts';
import {hasChildren, heavyPath, treeRows} from '../lib/flame_rows.ts';
import {barWidth} from '../lib/heat.ts';
import {formatCount, formatShare, formatTime} from '../lib/format.ts';
import type {SortKeys, SortOrder} from '../lib/sort.ts';
import {nextSort} from '../lib/sort.ts';
import {visible} from '../lib/visible.ts';
import {printing} from '../state/printing.ts';
import {sourceHref} from '../state/route.ts';
import type {FlameModel} from './flame_model.ts';
import {Chevron, SortArrow} from './icons.tsx';

const ROW = 26;
const OVERSCAN = 8;
const INDENT = 14;
// Deeper rows are not moved further in; their level is said instead.
const DEEPEST_INDENT = 24;
const PRINTED_ROWS = 2000;
const MAIN_SHARE = 0.5;
const FIRST_LEVELS = 10;
const MORE_LEVELS = 50;

const COLUMNS: ReadonlyArray<{id: string; title: string; numeric: boolean}> = [
  {id: 'name', title: 'Function', numeric: false},
  {id: 'total', title: 'Total', numeric: true},
  {id: 'self', title: 'Self', numeric: true},
  {id: 'samples', title: 'Samples', numeric: true},
  {id: 'place', title: 'Location', numeric: false},
];

interface FlameTableProps {
  index: ReportIndex;
  data: StackData;
  model: FlameModel;
  label: string;
  callers: boolean;
  // Nodes; 0: none.
  selected: number;
  onSelect: (node: number) => void;
  onOpen: (node: number) => void;
}

export function FlameTable({index, data, model, label, callers, selected, onSelect, onOpen}: FlameTableProps) {
  const {tree} = model;
  const scroller = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const [sort, setSort] = useState<SortOrder>({column: 'total', descending: true});
  const [sight, setSight] = useState({top: 0, height: 600});
  const [open, setOpen] = useState<{tree: FlameModel['tree']; nodes: ReadonlySet<number>} | null>(null);
  const expanded = open?.tree === tree ? open.nodes : firstExpanded(model, selected);
  const rows = useMemo(() => treeRows(tree, expanded, keysFor(model, data, sort.column), sort.descending),
                       [tree, expanded, sort, model]);
  const found = selected > 0 ? rows.node.indexOf(selected) : -1;
  const at = found < 0 ? 0 : found;

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setSight({top: element.scrollTop, height: element.clientHeight}));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const bringIntoView = (row: number) => {
    const element = scroller.current;
    if (element === null) return;
    const room = element.clientHeight - (head.current?.offsetHeight ?? 0);
    if (row * ROW < element.scrollTop) element.scrollTop = row * ROW;
    else if ((row + 1) * ROW > element.scrollTop + room) element.scrollTop = (row + 1) * ROW - room;
    setSight({top: element.scrollTop, height: element.clientHeight});
  };
  useLayoutEffect(() => { if (found > 0) bringIntoView(found); }, []);

  const setExpanded = (change: (nodes: Set<number>) => void) => {
    const nodes = new Set(expanded);
    change(nodes);
    setOpen({tree, nodes});
  };
  const toggle = (node: number) => setExpanded((nodes) => { if (!nodes.delete(node)) nodes.add(node); });
  const go = (row: number) => {
    const next = Math.min(rows.count - 1, Math.max(0, row));
    onSelect(rows.node[next]);
    bringIntoView(next);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target !== event.currentTarget) return;
    const node = rows.node[at];
    const page = Math.max(1, Math.floor(sight.height / ROW) - 2);
    const isOpen = expanded.has(node);
    const inside = hasChildren(tree, node);
    const actions: Record<string, () => void> = {
      ArrowDown: () => go(found < 0 ? 0 : at + 1), j: () => go(found < 0 ? 0 : at + 1),
      ArrowUp: () => go(at - 1), k: () => go(at - 1),
      PageDown: () => go(at + page), PageUp: () => go(at - page),
      Home: () => go(0), End: () => go(rows.count - 1),
      ArrowRight: () => { if (inside && !isOpen) toggle(node); else if (inside) go(at + 1); },
      ArrowLeft: () => {
        if (inside && isOpen) toggle(node);
        else if (tree.parent[node] > 0) go(rows.node.indexOf(tree.parent[node]));
      },
      // All that costs much below this row.
      '*': () => setExpanded((nodes) => { for (const each of [node, ...heavyPath(tree, node, MAIN_SHARE, MORE_LEVELS)]) nodes.add(each); }),
      Enter: () => onOpen(node), o: () => onOpen(node),
      ' ': () => { if (inside) toggle(node); },
    };
    const run = actions[event.key];
    if (run === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  };

  const first = printing.value ? 0 : Math.max(0, Math.floor(sight.top / ROW) - OVERSCAN);
  const end = printing.value ? Math.min(rows.count, PRINTED_ROWS) :
    Math.min(rows.count, Math.ceil((sight.top + sight.height) / ROW) + OVERSCAN);
  const shown = Array.from({length: Math.max(0, end - first)}, (_, i) => first + i);
  const activeShown = found >= first && found < end;
  return (
    <div class="scroller index-table flame-table" ref={scroller}
         onScroll={(event) => setSight({top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight})}>
      <div class="table" role="treegrid" tabIndex={0} aria-label={label} aria-rowcount={rows.count + 1}
           onKeyDown={onKeyDown} {...(activeShown ? {'aria-activedescendant': `flame-row-${found}`} : {})}>
        <div class="thead" role="rowgroup" ref={head}>
          <div class="tr" role="row" aria-rowindex={1}>
            {COLUMNS.map((column) => (
              <div key={column.id} class={`th${column.numeric ? ' num' : ''}`} role="columnheader"
                   aria-sort={sort.column !== column.id ? 'none' : sort.descending ? 'descending' : 'ascending'}>
                <button type="button" tabIndex={-1} onClick={() => setSort(nextSort(sort, column.id, column.numeric))}>
                  {column.title}
                  <SortArrow direction={sort.column !== column.id ? null : sort.descending ? 'descending' : 'ascending'} />
                </button>
              </div>
            ))}
          </div>
        </div>
        <div class="tbody placed" role="rowgroup" style={{height: `${rows.count * ROW}px`}}>
          {shown.map((row) => (
            <Row key={rows.node[row]} index={index} data={data} model={model} node={rows.node[row]} row={row}
                 position={rows.position[row]} size={rows.size[row]} expanded={expanded.has(rows.node[row])}
                 active={row === found} callers={callers} toggle={toggle} onSelect={onSelect} onOpen={onOpen} />
          ))}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  index: ReportIndex;
  data: StackData;
  model: FlameModel;
  node: number;
  row: number;
  position: number;
  size: number;
  expanded: boolean;
  active: boolean;
  callers: boolean;
  toggle: (node: number) => void;
  onSelect: (node: number) => void;
  onOpen: (node: number) => void;
}

function Row(props: RowProps) {
  const {index, data: {frames}, model, node, row, expanded, active, callers, toggle} = props;
  const {tree} = model;
  const frame = tree.frame[node];
  const level = tree.depth[node];
  const inside = hasChildren(tree, node);
  const file = frame >= 0 ? frames.file[frame] : -1;
  const kind = model.kind(node);
  const self = callers && level > 1 ? NaN : callers ? tree.total[node] : tree.self[node];
  const classes = ['tr', `kind-${kind}`, active ? 'marked' : '', model.found !== null && !model.found(node) ? 'faded' : ''];
  return (
    <div id={`flame-row-${row}`} class={classes.filter((name) => name !== '').join(' ')} role="row" aria-rowindex={row + 2}
         aria-level={level} aria-posinset={props.position} aria-setsize={props.size} aria-selected={active}
         {...(inside ? {'aria-expanded': expanded} : {})} style={{top: `${row * ROW}px`}}
         onClick={(event) => { if ((event.target as Element).closest('a') === null) props.onSelect(node); }}
         onDblClick={() => props.onOpen(node)}>
      <div class="td name" role="rowheader" title={model.label(node)}
           style={{paddingLeft: `${8 + Math.min(level - 1, DEEPEST_INDENT) * INDENT}px`}}>
        {inside ?
          <span class="twist" onClick={(event) => { event.stopPropagation(); toggle(node); }}><Chevron open={expanded} /></span> :
          <span class="no-twist" />}
        {level - 1 > DEEPEST_INDENT && <span class="level">{level}</span>}
        <span class="swatch" style={{background: `var(--${TONES[model.tone(node)]})`}} />
        <bdi>{model.label(node)}</bdi>
      </div>
      <div class="td num time" role="gridcell">
        <span class="bar" style={{width: `${(100 * barWidth(tree.total[node], tree.total[0])).toFixed(2)}%`}} />
        <span class="duration">{formatTime(tree.total[node])}</span>
        <span class="share">{formatShare(tree.total[node], tree.total[0])}</span>
      </div>
      <div class={`td num time${Number.isNaN(self) ? ' faint' : ''}`} role="gridcell">
        <span class="duration">{formatTime(self)}</span>
        {!Number.isNaN(self) && <span class="share">{formatShare(self, tree.total[0])}</span>}
      </div>
      <div class="td num" role="gridcell">{formatCount(tree.samples[node])}</div>
      <div class="td location" role="gridcell">
        {frame < 0 || kind === 'fold' ? '' : file >= 0 && index.files.chunk[file] !== null ?
          <a href={sourceHref(file, frames.line[frame] || null)} tabIndex={-1}><bdi>{visible(frames.place(frame))}</bdi></a> :
          <span class="quiet"><bdi>{visible(frames.place(frame))}</bdi></span>}
      </div>
    </div>
  );
}

// The way to what is selected, else along the most expensive calls.
function firstExpanded({tree}: FlameModel, selected: number): ReadonlySet<number> {
  if (selected <= 0) return new Set(heavyPath(tree, 0, MAIN_SHARE, FIRST_LEVELS));
  const nodes = new Set<number>();
  for (let each = tree.parent[selected]; each > 0; each = tree.parent[each]) nodes.add(each);
  return nodes;
}

function keysFor({tree, label}: FlameModel, {frames}: StackData, column: string): SortKeys | null {
  switch (column) {
    case 'self': return tree.self;
    case 'samples': return tree.samples;
    case 'name': return Array.from(tree.frame, (_, node) => label(node));
    case 'place': return Array.from(tree.frame, (frame) => frame < 0 ? null : frames.place(frame));
    default: return null;
  }
}
