// The part of the run that every view shows: a range of time, a process, a thread, states. It is the
// end of the URL's fragment, so that each entry of the history has its own.
import {computed, signal} from '@preact/signals';

import type {StateGroup} from '../data/index_types.ts';
import type {Filter} from '../data/stacks.ts';
import {EVERYTHING} from '../data/stacks.ts';

export const filter = signal<Filter>(EVERYTHING);
export const isFiltered = computed(() => formatFilter(filter.value) !== '');

const GROUPS: readonly StateGroup[] = ['running', 'gc', 'gil', 'waiting', 'idle', 'stopped', 'unknown'];
const SECOND = 1e9;

// "?time=0.1-2.5&process=0&thread=3&states=running,gil"; empty for all of the run.
export function formatFilter({range, process, thread, states}: Filter): string {
  const parts: string[] = [];
  if (range !== null) parts.push(`time=${range.map((time) => seconds(time)).join('-')}`);
  if (process !== null) parts.push(`process=${process}`);
  if (thread !== null) parts.push(`thread=${thread}`);
  if (states !== null) parts.push(`states=${GROUPS.filter((group) => states.has(group)).join(',')}`);
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

// What cannot be understood selects nothing.
export function parseFilter(hash: string): Filter {
  const at = hash.indexOf('?');
  if (at < 0) return EVERYTHING;
  const parts = new Map(hash.slice(at + 1).split('&').map((part) => {
    const [name, value = ''] = part.split('=');
    return [name, value];
  }));
  const parsed = {
    range: parseRange(parts.get('time')), process: parseId(parts.get('process')),
    thread: parseId(parts.get('thread')), states: parseStates(parts.get('states')),
  };
  return formatFilter(parsed) === '' ? EVERYTHING : parsed;
}

// The same object for the same part of the run: what depends on it is not worked out again.
export function showFilter(next: Filter): void {
  if (formatFilter(next) !== formatFilter(filter.peek())) filter.value = next;
}

// As short as tells the nanosecond.
function seconds(time: number): string {
  return (time / SECOND).toFixed(9).replace(/\.?0+$/, '');
}

function parseRange(text = ''): Filter['range'] {
  const match = /^(\d{1,9}(?:\.\d{1,9})?)-(\d{1,9}(?:\.\d{1,9})?)$/.exec(text);
  if (match === null) return null;
  const [from, to] = [match[1], match[2]].map((each) => Math.round(Number(each) * SECOND));
  return from < to ? [from, to] : null;
}

function parseId(text = ''): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

function parseStates(text = ''): Filter['states'] {
  const words = text.split(',');
  const known = GROUPS.filter((group) => words.includes(group));
  return known.length === 0 ? null : new Set(known);
}
