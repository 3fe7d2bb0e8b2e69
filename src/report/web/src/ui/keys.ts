// Single-key commands. The newest handler for a key wins, so that a table overrides the shell. Keys
// do nothing while a text field has the focus, and never with Ctrl, Alt or Meta held.
import {useEffect, useRef} from 'preact/hooks';

export type KeyMap = Record<string, (event: KeyboardEvent) => void>;

const layers: Array<{current: KeyMap}> = [];

export function useKeys(map: KeyMap): void {
  const layer = useRef(map);
  layer.current = map;
  useEffect(() => {
    layers.push(layer);
    return () => { layers.splice(layers.indexOf(layer), 1); };
  }, []);
}

export function startKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (isTextField(event.target) || document.querySelector('dialog[open]') !== null) return;
    for (let i = layers.length - 1; i >= 0; i--) {
      const run = layers[i].current[event.key];
      if (run === undefined) continue;
      event.preventDefault();
      run(event);
      return;
    }
  });
}

function isTextField(target: EventTarget | null): boolean {
  return (target instanceof HTMLInputElement && target.type !== 'radio' && target.type !== 'checkbox') || target instanceof HTMLTextAreaElement ||
      target instanceof HTMLSelectElement;
}
