// What the go-to box offers beside places: commands of the page and of the view that is shown.
import {useEffect, useRef} from 'preact/hooks';

export interface Command {
  text: string;
  // Its key, or another hint.
  detail: string;
  run: () => void;
}

const layers: Array<{current: readonly Command[]}> = [];

export function useCommands(commands: readonly Command[]): void {
  const layer = useRef(commands);
  layer.current = commands;
  useEffect(() => {
    layers.push(layer);
    return () => { layers.splice(layers.indexOf(layer), 1); };
  }, []);
}

// Those of the newest views first.
export function currentCommands(): Command[] {
  return [...layers].reverse().flatMap((layer) => layer.current);
}
