// The current place and how it is looked at. Each entry of the browser's history carries its own
// view state, so that Back restores order, scroll position and filter.
import {signal} from '@preact/signals';

import type {FoldMode} from '../lib/fold.ts';
import type {Filter} from '../data/stacks.ts';
import type {SortOrder} from '../lib/sort.ts';
import {filter, formatFilter, parseFilter, showFilter} from './filter.ts';
import {flame, rearrangeFlame} from './flame.ts';
import {formatFlame, parseFlame} from './flame_url.ts';
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
  // Source: what is folded away, and the first lines of folds that were opened.
  fold: FoldMode;
  unfolded: readonly number[];
  // Source: what is searched for, and the other end of the selected lines (as `active`).
  find: string;
  until: number | null;
  // Function whose callers and calls are shown.
  calls: number | null;
  // The whole of a list that first shows its beginning.
  expanded: boolean;
}

const DEFAULTS: Record<Route['view'], Pick<ViewState, 'sort' | 'heat'>> = {
  overview: {sort: {column: 'time', descending: true}, heat: 'time'},
  files: {sort: {column: 'time', descending: true}, heat: 'none'},
  functions: {sort: {column: 'time', descending: true}, heat: 'none'},
  flame: {sort: {column: 'total', descending: true}, heat: 'none'},
  processes: {sort: {column: 'time', descending: true}, heat: 'none'},
  about: {sort: {column: 'time', descending: true}, heat: 'none'},
  source: {sort: {column: 'source', descending: false}, heat: 'time'},
};

// The last choice in each kind of view holds for the next one of its kind.
const lastHeat = new Map<Route['view'], HeatMetric>();
let lastFold: FoldMode = 'all';

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
    fold: lastFold,
    unfolded: [],
    find: '',
    until: null,
    calls: null,
    expanded: false,
  };
}

export function startNavigation(): void {
  history.scrollRestoration = 'manual';
  enter(history.state as unknown);
  window.addEventListener('popstate', (event) => enter(event.state as unknown));
  document.addEventListener('click', followLink);
  flame.subscribe(() => { if (route.peek().view === 'flame') saveSoon(); });
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
  history.pushState(null, '', fragmentOf(to));
  enter(null);
}

// Another part of the run in the same place: Back brings the one before back.
export function setFilter(next: Filter): void {
  if (formatFilter(next) === formatFilter(filter.peek())) return;
  save();
  showFilter(next);
  const entry: Entry = {id: ++nextId, view: {...viewState.value}};
  history.pushState(entry, '', fragmentOf(route.value));
  viewState.value = entry.view;
  entryId.value = entry.id;
}

function fragmentOf(to: Route): string {
  const part = formatFilter(filter.peek());
  const look = to.view === 'flame' ? formatFlame(flame.peek()) : '';
  return formatRoute(to) + part + (look === '' ? '' : `${part === '' ? '?' : '&'}${look}`);
}

// The same place seen at another line: no entry of its own in the history.
export function moveToLine(file: number, line: number, change: Partial<ViewState> = {}): void {
  route.value = {view: 'source', file, line};
  viewState.value = {...viewState.value, active: line - 1, until: null, ...change};
  saveSoon();
}

export function updateView(change: Partial<ViewState>): void {
  if (change.fold !== undefined) lastFold = change.fold;
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
  const known = isEntry(entry);
  showFilter(parseFilter(location.hash));
  // What the history was not told yet when the entry was left.
  const last = known ? latest.get(entry.id) : undefined;
  const to = last?.route ?? parseRoute(location.hash);
  if (last === undefined && to.view === 'flame') showFlame();
  route.value = to;
  viewState.value = last?.view ?? (known ? {...fresh(to), ...entry.view} : fresh(to));
  entryId.value = known ? entry.id : ++nextId;
  if (!known || last !== undefined) save();
}

// As the URL says. An equal look stays zoomed to where it was.
function showFlame(): void {
  const told = parseFlame(location.hash);
  if (formatFlame(told) !== formatFlame(flame.peek())) rearrangeFlame(told);
}

function isEntry(entry: unknown): entry is Entry {
  const candidate = entry as Partial<Entry> | null | undefined;
  return typeof candidate?.id === 'number' && typeof candidate.view?.sort?.column === 'string';
}

// The newest state of entries, by their ids.
const latest = new Map<number, {route: Route; view: ViewState}>();
let timer = 0;
// Browsers refuse more than some hundred changes of the history in half a minute.
const SAVE_DELAY_MS = 200;

function saveSoon(): void {
  latest.set(entryId.value, {route: route.value, view: viewState.value});
  clearTimeout(timer);
  timer = window.setTimeout(() => save(), SAVE_DELAY_MS);
}

function save(more: object = {}): void {
  clearTimeout(timer);
  latest.delete(entryId.value);
  const entry: Entry = {id: entryId.value, view: viewState.value, ...more};
  history.replaceState(entry, '', fragmentOf(route.value));
}

// The same place in a page that is loaded again; `message` is for that page, in its history.state.
export function reloadWith(message: object): void {
  save(message);
  location.reload();
}
