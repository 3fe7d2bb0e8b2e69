// What the frames of a flame graph have in common: which are folded together, what colour they have,
// which a search finds.

// Columns, one entry a frame: a line of a function.
export interface FrameFacts {
  count: number;
  name(frame: number): string;
  // "io.py:83".
  place(frame: number): string;
  // Package, library, or file of the project.
  module(frame: number): string;
  project: Uint8Array;
  kind: Uint8Array;
}

export const PYTHON = 0;
export const NATIVE = 1;
export const TASK = 2;

export interface Folds {
  // Of each frame its group, or -1.
  of: Int32Array;
  names: string[];
}

// Library code folds by package: what the standard library and installed packages do between two
// frames of the project is one frame, and so is what starts a program or a thread (runpy, importlib,
// threading). Native frames and tasks were asked for, and stay.
export function foldsOf(frames: FrameFacts, opened: ReadonlySet<string>): Folds {
  const names: string[] = [];
  const known = new Map<string, number>();
  const of = new Int32Array(frames.count).fill(-1);
  for (let frame = 0; frame < frames.count; frame++) {
    if (frames.project[frame] === 1 || frames.kind[frame] !== PYTHON) continue;
    const name = frames.module(frame);
    if (opened.has(name)) continue;
    let group = known.get(name);
    if (group === undefined) known.set(name, group = names.push(name) - 1);
    of[frame] = group;
  }
  return {of, names};
}

// Classes of colours: `flame-1` … are of the project's modules.
export const PROJECT_TONES = 8;
export const LIBRARY_TONES = 4;

export interface Palette {
  // Of each frame, an index into `tones`.
  of: Uint8Array;
  // The project's modules by falling time, each with its tone.
  modules: Array<{name: string; tone: number; time: number}>;
}

export const TONES: readonly string[] = [
  ...Array.from({length: PROJECT_TONES}, (_, i) => `flame-${i + 1}`),
  ...Array.from({length: LIBRARY_TONES}, (_, i) => `flame-library-${i + 1}`),
  'flame-native', 'flame-task', 'flame-group',
];
export const NATIVE_TONE = TONES.indexOf('flame-native');
export const TASK_TONE = TONES.indexOf('flame-task');
export const GROUP_TONE = TONES.indexOf('flame-group');

// The modules that cost most have colours that differ. `time` is of each frame, in the whole run, so
// that a filter does not repaint everything.
export function paletteOf(frames: FrameFacts, time: Float64Array): Palette {
  const times = new Map<string, number>();
  for (let frame = 0; frame < frames.count; frame++) {
    if (frames.project[frame] !== 1 || frames.kind[frame] !== PYTHON) continue;
    const name = frames.module(frame);
    times.set(name, (times.get(name) ?? 0) + time[frame]);
  }
  const modules = [...times].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .map(([name, itsTime], rank) => ({name, time: itsTime, tone: rank % PROJECT_TONES}));
  const tones = new Map(modules.map(({name, tone}) => [name, tone]));
  const of = new Uint8Array(frames.count);
  for (let frame = 0; frame < frames.count; frame++) {
    const kind = frames.kind[frame];
    of[frame] = kind === NATIVE ? NATIVE_TONE : kind === TASK ? TASK_TONE :
        frames.project[frame] === 1 ? tones.get(frames.module(frame)) ?? 0 :
        libraryTone(frames.module(frame));
  }
  return {of, modules};
}

export function libraryTone(module: string): number {
  let hash = 0;
  for (let i = 0; i < module.length; i++) hash = (Math.imul(hash, 31) + module.charCodeAt(i)) >>> 0;
  return PROJECT_TONES + hash % LIBRARY_TONES;
}

// Frames whose function, place or module holds `wanted`, whatever the case. null: nothing is searched for.
export function matchingFrames(haystack: readonly string[], wanted: string): Uint8Array | null {
  const needle = wanted.trim().toLowerCase();
  if (needle === '') return null;
  return Uint8Array.from(haystack, (text) => text.includes(needle) ? 1 : 0);
}

export function haystackOf(frames: FrameFacts): string[] {
  return Array.from({length: frames.count}, (_, frame) =>
    `${frames.name(frame)}\n${frames.place(frame)}\n${frames.module(frame)}`.toLowerCase());
}

// Of all keys, those with a marked frame.
export function markedKeys(marked: Uint8Array, of: Int32Array, count: number): Uint8Array {
  const keys = new Uint8Array(count);
  for (let frame = 0; frame < marked.length; frame++) if (marked[frame] === 1 && of[frame] >= 0) keys[of[frame]] = 1;
  return keys;
}

interface Nodes {
  count: number;
  parent: Int32Array;
  frame: Uint32Array;
}

// Nodes with a marked frame at or above them: every stack counts once, however often it holds one.
export function nodesUnder(nodes: Nodes, marked: Uint8Array): Uint8Array {
  const under = new Uint8Array(nodes.count);
  for (let node = 0; node < nodes.count; node++) {
    const above = nodes.parent[node];
    under[node] = marked[nodes.frame[node]] === 1 || (above >= 0 && under[above] === 1) ? 1 : 0;
  }
  return under;
}

export function sumWhere(values: Float64Array, chosen: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) if (chosen[i] === 1) sum += values[i];
  return sum;
}
