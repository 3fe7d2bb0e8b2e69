// Whole call stacks: as a flame graph, and as the tree table that says the same.
import {signal} from '@preact/signals';
import {useEffect, useMemo} from 'preact/hooks';

import type {Metric, ReportIndex, StateGroup} from '../data/index_types.ts';
import type {StackData} from '../data/stacks.ts';
import {TONES} from '../lib/flame_frames.ts';
import {formatMoment, formatShare, formatTime, plural} from '../lib/format.ts';
import {STATE_NAMES, threadName} from '../lib/names.ts';
import {visible} from '../lib/visible.ts';
import {useReport} from '../state/context.ts';
import type {FlameColours, FlameGrouping, FlameOrder} from '../state/flame.ts';
import {filter} from '../state/filter.ts';
import {flame, rearrangeFlame, setFlame} from '../state/flame.ts';
import {useLoaded} from '../state/loaded.ts';
import {navigate, setFilter} from '../state/navigation.ts';
import {useNumbers} from '../state/numbers.ts';
import {announce} from '../ui/announce.tsx';
import {FlameChart} from '../ui/flame_chart.tsx';
import {factsInWords, factsOf, FlameDetails} from '../ui/flame_details.tsx';
import type {FlameModel} from '../ui/flame_model.ts';
import {follow, stepsTo, useFlameModel} from '../ui/flame_model.ts';
import {FlameTable} from '../ui/flame_table.tsx';
import {SearchIcon} from '../ui/icons.tsx';
import {useKeys} from '../ui/keys.ts';
import {Segments} from '../ui/segments.tsx';
import {Empty, Loading, Unreadable} from '../ui/states.tsx';

const SHOWN_CRUMBS = 6;
const LEGEND_MODULES = 8;

export function FlameView() {
  const report = useReport();
  const loaded = useLoaded(() => report.stacks(), report);
  return (
    <section class="view fill flame-view" aria-labelledby="title">
      {loaded.state === 'ready' && loaded.value !== null && loaded.value.tree.count > 0 ?
        <Flame index={report.index} data={loaded.value} /> :
        <>
          <header class="view-head"><h1 id="title">Flame graph</h1></header>
          {loaded.state === 'loading' ? <Loading /> :
           loaded.state === 'failed' ? <Unreadable message={loaded.message} /> :
            <Empty><p>No call stack was sampled.</p></Empty>}
        </>}
    </section>
  );
}

// Box that the pointer is on. Only the details follow it.
const hovered = signal(-1);

function Flame({index, data}: {index: ReportIndex; data: StackData}) {
  const settings = flame.value;
  const part = filter.value;
  const {totals} = useNumbers().index;
  const model = useFlameModel(index, data, part, settings);
  const byTime = settings.order === 'time' && settings.shown === 'graph';
  const callers = settings.callers && !byTime;
  const root = useMemo(() => follow(model, settings.zoom, byTime), [model, settings.zoom]);
  const selected = useMemo(() => {
    const box = settings.selected.length === 0 ? 0 : follow(model, settings.selected, byTime);
    return box > 0 ? box : -1;
  }, [model, settings.selected]);
  useEffect(() => { hovered.value = -1; }, [model]);

  const facts = (box: number) => factsOf(index, data, model, box, root, callers);
  const open = (box: number) => {
    const {file, line, href} = facts(box);
    if (href !== null) navigate({view: 'source', file, line: line > 0 ? line : null});
    else announce('Its source is not in this report');
  };
  const zoom = (box: number) => setFlame({zoom: stepsTo(model, box)});
  const select = (box: number) => setFlame({selected: stepsTo(model, box)});
  const {tree, boxes} = model;
  const whole = tree.total[0];
  const nothing = tree.count <= 1;

  return (
    <>
      <header class="view-head">
        <div>
          <h1 id="title">Flame graph</h1>
          <p class="subtitle">{subtitle(totals.no_python_time, whole, callers, byTime)}</p>
        </div>
        <div class="tools">
          <Search model={model} whole={whole} />
          <Segments legend="Shown as" value={settings.shown} onChange={(shown) => setFlame({shown, zoom: [], selected: settings.order === 'time' ? [] : settings.selected})}
                    choices={[{id: 'graph', name: 'Graph'}, {id: 'table', name: 'Table'}]} />
        </div>
      </header>
      <Controls index={index} data={data} model={model} byTime={byTime} />
      {nothing ? <Empty><p>No stack is left by the filters.</p>
        {settings.module !== null && <button type="button" class="button" onClick={() => rearrangeFlame({module: null})}>All modules</button>}
      </Empty> : settings.shown === 'table' ?
        <FlameTable index={index} data={data} model={model} callers={callers} selected={Math.max(0, selected)}
                    label={callers ? 'Callers of each function' : 'Call tree'} onSelect={select} onOpen={open} /> :
        <>
          <Crumbs model={model} root={root} byTime={byTime} zoom={zoom} />
          <FlameChart model={model} root={root} selected={selected} heat={settings.colours !== 'heat' ? null : callers ? tree.total : tree.self}
                      label={`Flame graph, ${byTime ? 'by time' : callers ? 'callers below what they call' :
                        'callers above what they call'}. Arrow keys walk, Enter zooms in, Escape out, O opens the source. The table shows the same.`}
                      describe={(box) => factsInWords(facts(box))} onHover={(box) => { hovered.value = box; }}
                      onSelect={select} onZoom={zoom} onOpen={open} />
          <Legend model={model} byHeat={settings.colours === 'heat'} callers={callers} />
          <Details facts={facts} selected={selected} root={root} whole={whole} count={boxes.count} />
        </>}
      {model.cut && <p class="footnote">Callers of what took less than 0.002% are not followed further.</p>}
    </>
  );
}

function subtitle(without: Metric, whole: number, callers: boolean, byTime: boolean): string {
  const extra = without !== null && without > 0 ? ` ${formatTime(without)} had no Python frames.` : '';
  const what = byTime ? 'One lane for each thread; the order within a moment is not known.' :
    callers ? 'What ran on top, its callers below.' : 'Callers on top, what they call below; widths are time.';
  return `${formatTime(whole)} of call stacks. ${what}${extra}`;
}

interface DetailsProps {
  facts: (box: number) => ReturnType<typeof factsOf>;
  selected: number;
  root: number;
  whole: number;
  count: number;
}

function Details({facts, selected, root, whole, count}: DetailsProps) {
  const under = hovered.value;
  const box = under >= 0 && under < count ? under : selected > 0 ? selected : root > 0 ? root : -1;
  return (
    <FlameDetails facts={box < 0 ? null : facts(box)} whole={whole}
                  onUnfold={(name) => rearrangeFlame({opened: new Set([...flame.value.opened, name])})} />
  );
}

function Search({model, whole}: {model: FlameModel; whole: number}) {
  const {search} = flame.value;
  const result = model.found === null ? '' : model.foundFunctions === 0 ? 'nothing' :
    `${plural(model.foundFunctions, 'function')} · ${formatShare(model.foundTime, whole)}`;
  useKeys({f: () => document.getElementById('flame-search')?.focus()});
  return (
    <label class="filter-box flame-search">
      <SearchIcon />
      <span class="sr-only">Search functions, files and modules</span>
      <input id="flame-search" type="search" placeholder="Search stacks" value={search} spellcheck={false} autocomplete="off"
             onInput={(event) => setFlame({search: event.currentTarget.value})}
             onKeyDown={(event) => {
               if (event.key === 'Escape') setFlame({search: ''});
               else if (event.key === 'Enter') nextMatch(model, event.shiftKey ? -1 : 1);
             }} />
      <span class="find-count" role="status">{result}</span>
    </label>
  );
}

// The next box that the search finds, around at the ends.
function nextMatch(model: FlameModel, direction: 1 | -1): void {
  const {boxes, found} = model;
  if (found === null || boxes.count < 2) return;
  const {selected, order, shown} = flame.value;
  const at = follow(model, selected, order === 'time' && shown === 'graph');
  for (let step = 1; step <= boxes.count; step++) {
    const box = (((at + direction * step) % boxes.count) + boxes.count) % boxes.count;
    if (box === 0 || !found(boxes.node[box])) continue;
    setFlame({selected: stepsTo(model, box), zoom: []});
    announce(model.label(boxes.node[box]));
    return;
  }
}

interface ControlsProps {
  index: ReportIndex;
  data: StackData;
  model: FlameModel;
  byTime: boolean;
}

function Controls({index, data, model, byTime}: ControlsProps) {
  const settings = flame.value;
  const part = filter.value;
  const states = useMemo(() => statesIn(data), [data]);
  const {threads, processes} = index;
  const graph = settings.shown === 'graph';
  const groups: Array<[FlameGrouping, string]> = [
    ['all', 'All together'],
    ...(processes.length > 1 ? [['process', 'By process'] as [FlameGrouping, string]] : []),
    ...(threads.length > 1 ? [['thread', 'By thread'] as [FlameGrouping, string]] : []),
  ];
  return (
    <div class="flame-controls" role="group" aria-label="How stacks are shown">
      {graph &&
        <Segments<FlameOrder> legend="Order" value={settings.order} onChange={(order) => rearrangeFlame({order})}
          choices={[{id: 'weight', name: 'Heaviest first', hint: 'Equal stacks joined, the heaviest at the left'},
                    {id: 'time', name: 'By time', hint: 'When each stack was seen, from left to right'}]} />}
      <Segments legend="Direction" value={settings.callers && !byTime ? 'callers' : 'callees'} disabled={byTime}
                onChange={(id) => rearrangeFlame({callers: id === 'callers'})}
                choices={[{id: 'callees', name: 'Calls', hint: 'From the start of the program down to what ran'},
                          {id: 'callers', name: 'Callers', hint: 'From what ran down to who called it'}]} />
      {graph &&
        <Segments<FlameColours> legend="Colours by" value={settings.colours} onChange={(colours) => setFlame({colours})}
          choices={[{id: 'module', name: 'Module', hint: 'A colour for each module'},
                    {id: 'heat', name: 'Heat', hint: 'The more time of its own, the warmer'}]} />}
      {groups.length > 1 &&
        <select class="select" aria-label="Group" value={byTime ? 'all' : settings.group} disabled={byTime}
                  onChange={(event) => rearrangeFlame({group: event.currentTarget.value as FlameGrouping})}>
            {groups.map(([id, name]) => <option key={id} value={id}>{name}</option>)}
          </select>}
      {threads.length > 1 &&
        <select class="select" aria-label="Thread" value={part.thread ?? ''} onChange={(event) => setFilter({...part, thread: idOf(event.currentTarget.value)})}>
            <option value="">All threads</option>
            {threads.map((_, id) => <option key={id} value={id}>{threadName(index, id)}</option>)}
          </select>}
      <select class="select" aria-label="State" value={part.states === null ? '' : [...part.states].join(' ')} onChange={(event) => setFilter(
            {...part, states: event.currentTarget.value === '' ? null : new Set([event.currentTarget.value as StateGroup])})}>
          <option value="">All states</option>
          {(part.states?.size ?? 0) > 1 && <option value={[...part.states ?? []].join(' ')}>Several states</option>}
          {states.map((state) => <option key={state} value={state}>{STATE_NAMES[state]}</option>)}
        </select>
      {model.palette.modules.length > 1 &&
        <select class="select" aria-label="Stacks through module" value={settings.module ?? ''}
                  onChange={(event) => rearrangeFlame({module: event.currentTarget.value || null})}>
            <option value="">All modules</option>
            {model.palette.modules.map(({name}) => <option key={name} value={name}>{visible(name)}</option>)}
          </select>}
      <label class="check" title="Frames of libraries and of starting up that call each other are one frame">
        <input type="checkbox" checked={settings.fold}
               onChange={(event) => rearrangeFlame({fold: event.currentTarget.checked, opened: new Set()})} />Fold libraries
      </label>
      {settings.fold && [...settings.opened].map((name) => (
        <button type="button" class="button fold-chip" key={name} aria-label={`Fold ${visible(name)} again`}
                onClick={() => rearrangeFlame({opened: new Set([...settings.opened].filter((each) => each !== name))})}>
          {visible(name)} <span aria-hidden="true">×</span>
        </button>
      ))}
      <label class="check" title="Calls from different lines of a function stand apart">
        <input type="checkbox" checked={settings.byLine}
               onChange={(event) => rearrangeFlame({byLine: event.currentTarget.checked})} />Split by line
      </label>
    </div>
  );
}

function idOf(text: string): number | null {
  return text === '' ? null : Number(text);
}

// Those that samples which count are in.
function statesIn({cells, counts, group}: StackData): StateGroup[] {
  const seen = new Set<StateGroup>();
  for (let cell = 0; cell < cells.count; cell++) if (counts[cells.state[cell]]) seen.add(group[cells.state[cell]]);
  return [...seen];
}

interface CrumbsProps {
  model: FlameModel;
  root: number;
  byTime: boolean;
  zoom: (box: number) => void;
}

function Crumbs({model, root, byTime, zoom}: CrumbsProps) {
  const {boxes} = model;
  const path: number[] = [];
  for (let box = root; box >= 0; box = boxes.parent[box]) path.unshift(box);
  const hidden = path.length > SHOWN_CRUMBS ? path.length - SHOWN_CRUMBS + 1 : 0;
  const shown = hidden === 0 ? path : [path[0], ...path.slice(1 + hidden)];
  const span = byTime ? `${formatMoment(boxes.from, (boxes.to - boxes.from) / 100)} – ${formatMoment(boxes.to, (boxes.to - boxes.from) / 100)}` : '';
  return (
    <nav class="crumbs" aria-label="Zoom">
      <ol>
        {shown.map((box, i) => (
          <li key={box}>
            {hidden > 0 && i === 1 && <span class="quiet" title={`${hidden} more frames`}>… {hidden} ›&nbsp;</span>}
            <button type="button" {...(box === root ? {'aria-current': 'true' as const} : {})} onClick={() => zoom(box)}>
              {model.label(boxes.node[box])}
            </button>
          </li>
        ))}
      </ol>
      {span !== '' && <span class="quiet">{span}</span>}
      {root > 0 && <span class="quiet">{formatShare(boxes.value[root], boxes.value[0])} of all</span>}
    </nav>
  );
}

function Legend({model, byHeat, callers}: {model: FlameModel; byHeat: boolean; callers: boolean}) {
  const kinds = useMemo(() => {
    const seen = new Set<string>();
    for (let node = 1; node < model.tree.count; node++) seen.add(model.kind(node));
    return seen;
  }, [model]);
  if (byHeat) {
    return (
      <ul class="keys-of-chart flame-legend" aria-label="Colours">
        <li class="wide"><span class="ramp" />{callers ? 'time' : 'time of its own'}, logarithmic up to the hottest</li>
      </ul>
    );
  }
  const {modules} = model.palette;
  const shown = modules.filter(({time}) => time > 0).slice(0, LEGEND_MODULES);
  const more = modules.length - shown.length;
  const swatch = (tone: string) => <span class="swatch" style={{background: `var(--${tone})`}} />;
  return (
    <ul class="keys-of-chart flame-legend" aria-label="Colours">
      {shown.map(({name, tone}) => <li key={name}>{swatch(TONES[tone])}<bdi>{visible(name)}</bdi></li>)}
      {more > 0 && <li>and {more} more</li>}
      {(kinds.has('library') || kinds.has('fold')) && <li>{swatch('flame-library-1')}libraries</li>}
      {kinds.has('native') && <li>{swatch('flame-native')}native code</li>}
      {kinds.has('task') && <li>{swatch('flame-task')}tasks</li>}
    </ul>
  );
}
