// What the go-to box finds: views and commands, files, functions, and lines as `file:123`.
import type {FunctionTable} from '../data/functions.ts';
import type {ReportIndex} from '../data/index_types.ts';
import {fuzzyMatch, splitLine} from '../lib/fuzzy.ts';
import {hasProcesses} from '../lib/names.ts';
import type {Route} from '../state/route.ts';
import type {Command} from '../ui/commands.ts';

export interface PaletteItem {
  kind: 'view' | 'command' | 'file' | 'function' | 'line';
  text: string;
  // Where it is, or what it does.
  detail: string;
  // Positions in `text` that matched.
  at: number[];
  target: Route | (() => void);
}

const SHOWN = 50;
const VIEW_BONUS = 4;
const HERE_BONUS = 1000;
const VIEWS: ReadonlyArray<readonly [string, Route]> = [
  ['Overview', {view: 'overview'}], ['Files', {view: 'files'}],
  ['Functions', {view: 'functions'}], ['Flame graph', {view: 'flame'}], ['Processes', {view: 'processes'}], ['About this report', {view: 'about'}],
];

export function findItems(query: string, index: ReportIndex, functions: FunctionTable | null,
                          commands: readonly Command[], here: number | null = null): PaletteItem[] {
  const wanted = query.trim();
  const line = splitLine(wanted);
  if (line !== null) return findLines(line, index, here);
  const found: Array<{score: number; make: () => PaletteItem}> = [];
  const consider = (bonus: number, item: Omit<PaletteItem, 'at'>) => {
    const match = fuzzyMatch(wanted, item.text);
    if (match !== null) found.push({score: match.score + bonus, make: () => ({...item, at: match.at})});
  };
  const views = VIEWS.filter(([, {view}]) =>
    (view !== 'processes' || hasProcesses(index)) && (view !== 'flame' || index.calls !== null));
  for (const [text, target] of views) consider(VIEW_BONUS, {kind: 'view', text, detail: 'View', target});
  for (const {text, detail, run} of commands) consider(0, {kind: 'command', text, detail, target: run});
  index.files.path.forEach((path, file) => {
    consider(0, {kind: 'file', text: index.files.label[file], detail: path,
                 target: {view: 'source', file, line: null}});
  });
  if (functions !== null && wanted !== '') {
    const lower = lowerNames(functions);
    for (let id = 0; id < functions.count; id++) {
      const match = fuzzyMatch(wanted, functions.name[id], lower[id]);
      if (match === null) continue;
      found.push({score: match.score, make: () => {
        const [file, line] = [functions.file[id], functions.line[id]];
        return {kind: 'function', text: functions.name[id], detail: `${index.files.label[file]}:${line}`,
                at: match.at, target: {view: 'source', file, line}};
      }});
    }
  }
  return found.sort((a, b) => b.score - a.score).slice(0, SHOWN).map(({make}) => make());
}

const lowered = new WeakMap<FunctionTable, string[]>();

function lowerNames(functions: FunctionTable): string[] {
  let names = lowered.get(functions);
  if (names === undefined) lowered.set(functions, names = functions.name.map((name) => name.toLowerCase()));
  return names;
}

// `:123` alone is a line of the file that is shown.
function findLines({name, line}: {name: string; line: number}, index: ReportIndex, here: number | null): PaletteItem[] {
  const found: Array<{score: number; item: PaletteItem}> = [];
  index.files.label.forEach((label, file) => {
    const match = fuzzyMatch(name, label);
    const lines = index.files.lines[file];
    if (match === null || lines === null || line < 1 || line > lines) return;
    found.push({score: match.score + (name === '' && file === here ? HERE_BONUS : 0), item: {
      kind: 'line', text: `${label}:${line}`, detail: index.files.path[file], at: match.at,
      target: {view: 'source', file, line},
    }});
  });
  return found.sort((a, b) => b.score - a.score).slice(0, SHOWN).map(({item}) => item);
}
