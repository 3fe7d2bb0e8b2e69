// What the go-to box finds: views and commands, files, functions, and lines as `file:123`.
import type {FunctionTable} from '../data/functions.ts';
import type {ReportIndex} from '../data/index_types.ts';
import {fuzzyMatch, splitLine} from '../lib/fuzzy.ts';
import type {Route} from '../state/route.ts';

export interface PaletteItem {
  kind: 'view' | 'command' | 'file' | 'function' | 'line';
  text: string;
  // Where it is, or what it does.
  detail: string;
  // Positions in `text` that matched.
  at: number[];
  target: Route | (() => void);
}

export interface Command {
  text: string;
  detail: string;
  run: () => void;
}

const SHOWN = 50;
const VIEW_BONUS = 4;
const VIEWS: ReadonlyArray<readonly [string, Route]> = [
  ['Overview', {view: 'overview'}], ['Files', {view: 'files'}],
  ['Functions', {view: 'functions'}], ['About this report', {view: 'about'}],
];

export function findItems(query: string, index: ReportIndex, functions: FunctionTable | null,
                          commands: readonly Command[]): PaletteItem[] {
  const wanted = query.trim();
  const line = splitLine(wanted);
  if (line !== null) return findLines(line, index);
  const found: Array<{score: number; item: PaletteItem}> = [];
  const consider = (bonus: number, item: Omit<PaletteItem, 'at'>) => {
    const match = fuzzyMatch(wanted, item.text);
    if (match !== null) found.push({score: match.score + bonus, item: {...item, at: match.at}});
  };
  for (const [text, target] of VIEWS) consider(VIEW_BONUS, {kind: 'view', text, detail: 'View', target});
  for (const {text, detail, run} of commands) consider(0, {kind: 'command', text, detail, target: run});
  index.files.path.forEach((path, file) => {
    consider(0, {kind: 'file', text: index.files.label[file], detail: path,
                 target: {view: 'source', file, line: null}});
  });
  if (functions !== null && wanted !== '') {
    for (let id = 0; id < functions.count; id++) {
      const file = functions.file[id];
      const at = functions.line[id];
      consider(0, {kind: 'function', text: functions.name[id],
                   detail: `${index.files.label[file]}:${at}`,
                   target: {view: 'source', file, line: at}});
    }
  }
  return found.sort((a, b) => b.score - a.score).slice(0, SHOWN).map(({item}) => item);
}

function findLines({name, line}: {name: string; line: number}, index: ReportIndex): PaletteItem[] {
  const found: Array<{score: number; item: PaletteItem}> = [];
  index.files.label.forEach((label, file) => {
    const match = fuzzyMatch(name, label);
    const lines = index.files.lines[file];
    if (match === null || lines === null || line < 1 || line > lines) return;
    found.push({score: match.score, item: {
      kind: 'line', text: `${label}:${line}`, detail: index.files.path[file], at: match.at,
      target: {view: 'source', file, line},
    }});
  });
  return found.sort((a, b) => b.score - a.score).slice(0, SHOWN).map(({item}) => item);
}
