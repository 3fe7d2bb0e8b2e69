// The current place and how it is looked at. Each entry of the browser's history carries its own
// view state, so that Back restores order, scroll position and filter.
import {signal} from '@preact/signals';

import type {SortOrder} from '../lib/sort.ts';
import type {Route} from './route.ts';
import {formatRoute, parseRoute} from './route.ts';

export type HeatMetric = 'none' | 'time';

export interface ViewState {
  sort: SortOrder;
  heat: HeatMetric;
  filter: string;
  // Scroll position of the view's table; null: where the route points.
  top: number | null;
  left: number;
  // Row (by its number in line order) that the keyboard is on.
  active: number | null;
  // The whole of a list that first shows its beginning.
  expanded: boolean;
}

const DEFAULTS: Record<Route['view'], Pick<ViewState, 'sort' | 'heat'>> = {
  overview: {sort: {column: 'time', descending: true}, heat: 'time'},
  files: {sort: {column: 'time', descending: true}, heat: 'none'},
  functions: {sort: {column: 'time', descending: true}, heat: 'none'},
  about: {sort: {column: 'time', descending: true}, heat: 'none'},
  source: {sort: {column: 'source', descending: false}, heat: 'time'},
};

// The last choice in each kind of view holds for the next one of its kind.
const lastHeat = new Map<Route['view'], HeatMetric>();

interface Entry {
  id: number;
  view: ViewState;
}

let nextId = Date.now();

export const route = signal<Route>(parseRoute(location.hash));
export const viewState = signal<ViewState>(fresh(route.value));
// Changes when another entry of the history is shown, also one with the same route.
export const entryId = signal(0);

function fresh(to: Route): ViewState {
  const {sort, heat} = DEFAULTS[to.view];
  return {
    sort,
    heat: lastHeat.get(to.view) ?? heat,
    filter: '',
    top: null,
    left: 0,
    active: to.view === 'source' && to.line !== null ? to.line - 1 : null,
    expanded: false,
  };
}

export function startNavigation(): void {
  history.scrollRestoration = 'manual';
  enter(history.state as unknown);
  window.addEventListener('popstate', (event) => enter(event.state as unknown));
  document.addEventListener('click', followLink);
}

// A link inside the report: the place left keeps its state, the new one starts afresh.
function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest('a[href^="#"]');
  if (link === null) return;
  event.preventDefault();
  navigate(parseRoute(link.getAttribute('href') ?? ''));
}

export function navigate(to: Route): void {
  save();
  history.pushState(null, '', formatRoute(to));
  enter(null);
}

// The same place seen at another line: no entry of its own in the history.
export function moveToLine(file: number, line: number): void {
  route.value = {view: 'source', file, line};
  viewState.value = {...viewState.value, active: line - 1};
  saveSoon();
}

export function updateView(change: Partial<ViewState>): void {
  if (change.heat !== undefined) lastHeat.set(route.value.view, change.heat);
  viewState.value = {...viewState.value, ...change};
  saveSoon();
}

// Scroll positions change with every frame and redraw nothing, so they stay out of the signal.
export function rememberScroll(top: number, left: number): void {
  Object.assign(viewState.value, {top, left});
  saveSoon();
}

function enter(entry: unknown): void {
  clearTimeout(timer);
  const to = parseRoute(location.hash);
  const known = isEntry(entry);
  route.value = to;
  viewState.value = known ? entry.view : fresh(to);
  entryId.value = known ? entry.id : ++nextId;
  if (!known) save();
}

function isEntry(entry: unknown): entry is Entry {
  const candidate = entry as Partial<Entry> | null | undefined;
  return typeof candidate?.id === 'number' && typeof candidate.view?.sort?.column === 'string';
}

let timer = 0;
// Browsers refuse more than some hundred changes of the history in half a minute.
const SAVE_DELAY_MS = 200;

function saveSoon(): void {
  clearTimeout(timer);
  timer = window.setTimeout(save, SAVE_DELAY_MS);
}

function save(): void {
  clearTimeout(timer);
  const entry: Entry = {id: entryId.value, view: viewState.value};
  history.replaceState(entry, '', formatRoute(route.value));
}
