// Finds in one source, rows out of sight included: the browser's own search cannot see those.
import {useEffect, useMemo, useRef} from 'preact/hooks';

import type {SourceFile} from '../data/source.ts';
import {formatCount, plural} from '../lib/format.ts';
import {findLines, nextMatch} from '../lib/find.ts';
import {updateView, viewState} from '../state/navigation.ts';
import {SearchIcon} from './icons.tsx';

interface FindBarProps {
  source: SourceFile;
  // Line that the keyboard is on; 0: none.
  current: number;
  goTo: (line: number) => void;
  // Whether Ctrl+F comes here instead of to the browser.
  takesOver: boolean;
}

export function FindBar({source, current, goTo, takesOver}: FindBarProps) {
  const wanted = viewState.value.find;
  const setWanted = (find: string) => updateView({find});
  const input = useRef<HTMLInputElement>(null);
  const lines = useMemo(
      () => findLines(source.text, (offset) => source.lineAt(offset), wanted), [source, wanted]);
  const at = lines.indexOf(current);

  useEffect(() => {
    if (!takesOver) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'f' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      input.current?.select();
      input.current?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [takesOver]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && lines.length > 0) {
      goTo(lines[nextMatch(lines, current, event.shiftKey ? -1 : 1)]);
    } else if (event.key === 'Escape') {
      setWanted('');
      document.querySelector<HTMLElement>('.source-table')?.focus({preventScroll: true});
    } else {
      return;
    }
    event.preventDefault();
  };

  return (
    <label class="filter-box find-bar">
      <SearchIcon />
      <span class="sr-only">Find in this file</span>
      <input type="text" ref={input} placeholder="Find in this file" value={wanted} spellcheck={false}
             autocomplete="off" onInput={(event) => setWanted(event.currentTarget.value)}
             onKeyDown={onKeyDown} />
      <span class="find-count" role="status">{countText(wanted, at, lines.length)}</span>
    </label>
  );
}

function countText(wanted: string, at: number, count: number): string {
  if (wanted === '') return '';
  if (count === 0) return 'none';
  return at < 0 ? plural(count, 'line') : `${formatCount(at + 1)} of ${formatCount(count)}`;
}
