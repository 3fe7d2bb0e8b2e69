import type {ComponentChildren} from 'preact';
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';

import type {FunctionTable} from '../data/functions.ts';
import {visible} from '../lib/visible.ts';
import {openAssistant} from '../state/assistant.ts';
import {useReport} from '../state/context.ts';
import {navigate, route, updateView} from '../state/navigation.ts';
import {setTheme} from '../state/theme.ts';
import {Dialog} from './dialog.tsx';
import {helpOpen, paletteOpen} from './header.tsx';
import {SearchIcon} from './icons.tsx';
import type {Command} from './commands.ts';
import {currentCommands} from './commands.ts';
import type {PaletteItem} from './palette_items.ts';
import {findItems} from './palette_items.ts';

const COMMANDS: readonly Command[] = [
  {text: 'Heat map by time', detail: 'h', run: () => updateView({heat: 'time'})},
  {text: 'No heat map', detail: 'h', run: () => updateView({heat: 'none'})},
  {text: 'Back', detail: '[', run: () => history.back()},
  {text: 'Forward', detail: ']', run: () => history.forward()},
  {text: 'Theme: light', detail: 'Command', run: () => setTheme('light')},
  {text: 'Theme: dark', detail: 'Command', run: () => setTheme('dark')},
  {text: 'Theme: as the system', detail: 'Command', run: () => setTheme('system')},
  {text: 'Keyboard shortcuts', detail: '?', run: () => { helpOpen.value = true; }},
  {text: 'AI suggestions', detail: 'Command', run: () => openAssistant()},
  {text: 'Print', detail: 'Command', run: () => window.print()},
];

export function Palette() {
  return (
    <Dialog open={paletteOpen} label="Go to a file, function, line or command" class="palette">
      <Finder />
    </Dialog>
  );
}

function Finder() {
  const report = useReport();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const [functions, setFunctions] = useState<FunctionTable | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const commands = useMemo(() => [...currentCommands(), ...COMMANDS], []);
  const here = route.value.view === 'source' ? route.value.file : null;
  const items = useMemo(
      () => findItems(query, report.index, functions, commands, here), [query, functions, report]);
  const active = Math.min(at, items.length - 1);

  useEffect(() => {
    // Unreadable functions are reported by their view; here they are just not found.
    report.functions().then(setFunctions, () => {});
  }, [report]);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({block: 'nearest'});
  }, [active, items]);

  const choose = (item: PaletteItem | undefined) => {
    if (item === undefined) return;
    paletteOpen.value = false;
    if (typeof item.target === 'function') item.target();
    else navigate(item.target);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number> = {ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8};
    const by = moves[event.key];
    if (by !== undefined) setAt(Math.min(items.length - 1, Math.max(0, active + by)));
    else if (event.key === 'Enter') choose(items[active]);
    else return;
    event.preventDefault();
  };

  return (
    <>
      <div class="palette-input">
        <SearchIcon />
        <input type="text" role="combobox" aria-label="Go to" aria-expanded={items.length > 0}
               aria-controls="palette-list" aria-autocomplete="list" autofocus spellcheck={false}
               {...(active >= 0 ? {'aria-activedescendant': `palette-${active}`} : {})}
               placeholder="File, function, file:line or command" value={query} autocomplete="off"
               onInput={(event) => { setQuery(event.currentTarget.value); setAt(0); }}
               onKeyDown={onKeyDown} />
        <kbd>Esc</kbd>
      </div>
      {items.length === 0 && <p class="none quiet" role="status">Nothing matches “{query}”.</p>}
      <ul id="palette-list" role="listbox" aria-label="Matches" ref={list} hidden={items.length === 0}>
        {items.map((item, i) => (
          <li key={i} id={`palette-${i}`} role="option" aria-selected={i === active}
              onClick={() => choose(item)} onPointerMove={() => setAt(i)}>
            <span class={`kind kind-${item.kind}`}>{item.kind}</span>
            <span class="found"><bdi><Marked text={item.text} at={item.at} /></bdi></span>
            {item.detail !== item.text && <span class="detail"><bdi>{visible(item.detail)}</bdi></span>}
          </li>
        ))}
      </ul>
    </>
  );
}

function Marked({text, at}: {text: string; at: readonly number[]}) {
  const marked = new Set(at);
  const out: ComponentChildren[] = [];
  let from = 0;
  for (let i = 1; i <= text.length; i++) {
    if (i < text.length && marked.has(i) === marked.has(from)) continue;
    const part = visible(text.slice(from, i));
    out.push(marked.has(from) ? <mark>{part}</mark> : part);
    from = i;
  }
  return <>{out}</>;
}
