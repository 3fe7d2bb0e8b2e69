// The files of the report as a tree, in the left rail. One element has the focus and names the row
// that the keyboard is on; only rows in sight exist.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';

import type {TreeRow} from '../lib/tree.ts';
import {buildTree, treeRows} from '../lib/tree.ts';
import {visible} from '../lib/visible.ts';
import {useReport} from '../state/context.ts';
import {navigate, route} from '../state/navigation.ts';
import {Chevron, SearchIcon} from './icons.tsx';

const ROW = 26;
const OVERSCAN = 10;

export function FileTreeRail() {
  const {index} = useReport();
  const [filter, setFilter] = useState('');
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const tree = useMemo(() => buildTree(index.files.path), [index]);
  const rows = useMemo(
      () => filter === '' ? treeRows(tree, closed) :
                            matchingRows(index.files.label, index.files.path, filter),
      [tree, closed, filter]);
  const toggle = (path: string) => {
    const next = new Set(closed);
    if (!next.delete(path)) next.add(path);
    setClosed(next);
  };
  return (
    <nav class="rail-files" aria-labelledby="tree-title">
      <h2 id="tree-title">Source</h2>
      <label class="filter-box">
        <SearchIcon /><span class="sr-only">Filter the file tree</span>
        <input type="search" placeholder="Filter" value={filter} spellcheck={false}
               autocomplete="off" onInput={(event) => setFilter(event.currentTarget.value)} />
      </label>
      {rows.length === 0 ? <p class="quiet none">No file matches “{filter}”.</p> :
        <TreeList rows={rows} toggle={toggle} />}
    </nav>
  );
}

function TreeList({rows, toggle}: {rows: readonly TreeRow[]; toggle: (path: string) => void}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  const current = route.value.view === 'source' ? route.value.file : null;
  const [active, setActive] = useState(0);
  const at = Math.min(active, rows.length - 1);

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const show = (index: number) => {
    const element = scroller.current;
    if (element === null) return;
    const y = index * ROW;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + ROW > element.scrollTop + element.clientHeight) {
      element.scrollTop = y + ROW - element.clientHeight;
    }
  };

  useEffect(() => {
    const index = current === null ? -1 : rows.findIndex(({file}) => file === current);
    if (index < 0) return;
    setActive(index);
    show(index);
  }, [current]);

  const activate = (row: TreeRow) => {
    if (row.file === null) toggle(row.key);
    else navigate({view: 'source', file: row.file, line: null});
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const row = rows[at];
    const parent = () => {
      for (let i = at - 1; i >= 0; i--) if (rows[i].depth < row.depth) return i;
      return at;
    };
    const go = (index: number) => {
      const next = Math.min(rows.length - 1, Math.max(0, index));
      setActive(next);
      show(next);
    };
    const folder = row.file === null;
    switch (event.key) {
      case 'ArrowDown': case 'j': go(at + 1); break;
      case 'ArrowUp': case 'k': go(at - 1); break;
      case 'Home': go(0); break;
      case 'End': go(rows.length - 1); break;
      case 'ArrowRight': if (folder && !row.expanded) toggle(row.key); else if (folder) go(at + 1); break;
      case 'ArrowLeft': if (folder && row.expanded) toggle(row.key); else go(parent()); break;
      case 'Enter': case ' ': activate(row); break;
      default: return;
    }
    event.preventDefault();
  };

  const first = Math.max(0, Math.floor(top / ROW) - OVERSCAN);
  const end = Math.min(rows.length, Math.ceil((top + height) / ROW) + OVERSCAN);
  const shown = rows.slice(first, end);
  const activeShown = at >= first && at < end;
  return (
    <div class="tree" ref={scroller} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <div role="tree" tabIndex={0} aria-labelledby="tree-title" onKeyDown={onKeyDown}
           {...(activeShown ? {'aria-activedescendant': `tree-${at}`} : {})}
           style={{height: `${rows.length * ROW}px`, paddingTop: `${first * ROW}px`}}>
        {shown.map((row, i) => {
          const index = first + i;
          const selected = row.file !== null && row.file === current;
          return (
            <div key={row.key} id={`tree-${index}`} role="treeitem" aria-level={row.depth + 1}
                 aria-selected={selected} aria-posinset={row.positionInSet} aria-setsize={row.setSize}
                 {...(row.file === null ? {'aria-expanded': row.expanded} : {})}
                 class={`tree-row${selected ? ' selected' : ''}${index === at ? ' active' : ''}`}
                 style={{paddingLeft: `${8 + row.depth * 12}px`}} title={visible(row.name)}
                 onClick={() => { setActive(index); activate(row); }}>
              {row.file === null ? <Chevron open={row.expanded} /> : <span class="no-chevron" />}
              <bdi>{visible(row.name)}</bdi>
            </div>
          );
        })}
      </div>
    </div>
  );
}

function matchingRows(labels: readonly string[], paths: readonly string[], filter: string): TreeRow[] {
  const wanted = filter.toLowerCase();
  const rows: TreeRow[] = [];
  paths.forEach((path, file) => {
    if (!path.toLowerCase().includes(wanted)) return;
    rows.push({key: `#${file}`, name: labels[file], depth: 0, file, expanded: false,
               positionInSet: rows.length + 1, setSize: 0});
  });
  for (const row of rows) row.setSize = rows.length;
  return rows;
}
