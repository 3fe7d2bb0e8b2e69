// The settings of the flame graph at the end of the URL's fragment, so that what is seen can be sent to
// somebody and is there again after a reload. What the width is zoomed to is not told.
import type {FlameSettings} from './flame.ts';
import {DEFAULT_FLAME} from './flame.ts';

type Told = Omit<FlameSettings, 'zoom' | 'selected'>;

// "order=time&fold=0&module=json"; empty: as a report is opened.
export function formatFlame(settings: Told): string {
  const parts: string[] = [];
  const add = (name: string, value: string) => parts.push(`${name}=${encodeURIComponent(value)}`);
  if (settings.shown !== DEFAULT_FLAME.shown) add('as', settings.shown);
  if (settings.order !== DEFAULT_FLAME.order) add('order', settings.order);
  if (settings.callers) add('callers', '1');
  if (settings.byLine) add('lines', '1');
  if (settings.group !== DEFAULT_FLAME.group) add('group', settings.group);
  if (settings.colours !== DEFAULT_FLAME.colours) add('colours', settings.colours);
  if (!settings.fold) add('fold', '0');
  for (const name of settings.opened) add('open', name);
  if (settings.module !== null) add('module', settings.module);
  if (settings.search !== '') add('find', settings.search);
  return parts.join('&');
}

// What cannot be understood is as a report is opened.
export function parseFlame(hash: string): Told {
  const at = hash.indexOf('?');
  const parts = new URLSearchParams(at < 0 ? '' : hash.slice(at + 1));
  const one = <T extends string>(name: string, known: readonly T[], otherwise: T): T =>
    known.find((each) => each === parts.get(name)) ?? otherwise;
  return {
    shown: one('as', ['graph', 'table'], DEFAULT_FLAME.shown),
    order: one('order', ['weight', 'time'], DEFAULT_FLAME.order),
    callers: parts.get('callers') === '1',
    byLine: parts.get('lines') === '1',
    group: one('group', ['all', 'process', 'thread'], DEFAULT_FLAME.group),
    colours: one('colours', ['module', 'heat'], DEFAULT_FLAME.colours),
    fold: parts.get('fold') !== '0',
    opened: new Set(parts.getAll('open')),
    module: parts.get('module'),
    search: parts.get('find') ?? '',
  };
}
