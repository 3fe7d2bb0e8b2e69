// How the flame graph is looked at. It stays while one reads sources, and until the report is closed; what
// is not a place in the graph is in the URL, too (flame_url.ts).
import {signal} from '@preact/signals';

export type FlameOrder = 'weight' | 'time';
export type FlameGrouping = 'all' | 'process' | 'thread';
export type FlameColours = 'module' | 'heat';

// One step of a path from the root. By time a box is not told by its key alone.
export interface Step {
  key: number;
  from: number;
  to: number;
}

export interface FlameSettings {
  shown: 'graph' | 'table';
  order: FlameOrder;
  callers: boolean;
  byLine: boolean;
  group: FlameGrouping;
  colours: FlameColours;
  fold: boolean;
  // Packages whose frames are shown one by one.
  opened: ReadonlySet<string>;
  // Only stacks through this module; null: all.
  module: string | null;
  search: string;
  // What fills the width, and what the keyboard is on.
  zoom: readonly Step[];
  selected: readonly Step[];
}

export const DEFAULT_FLAME: FlameSettings = {
  shown: 'graph', order: 'weight', callers: false, byLine: false, group: 'all', colours: 'module',
  fold: true, opened: new Set(), module: null, search: '', zoom: [], selected: [],
};

export const flame = signal<FlameSettings>(DEFAULT_FLAME);

export function setFlame(change: Partial<FlameSettings>): void {
  flame.value = {...flame.value, ...change};
}

// For changes after which paths lead elsewhere.
export function rearrangeFlame(change: Partial<FlameSettings>): void {
  setFlame({...change, zoom: [], selected: []});
}
