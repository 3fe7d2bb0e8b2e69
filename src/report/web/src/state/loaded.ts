// A value that arrives later, for components: shown as loading, ready or failed.
import {useEffect, useState} from 'preact/hooks';

export type Loaded<T> = {state: 'loading'} | {state: 'ready'; value: T} |
    {state: 'failed'; message: string};

export function useLoaded<T>(start: () => Promise<T>, key: unknown): Loaded<T> {
  const [loaded, setLoaded] = useState<{key: unknown; result: Loaded<T>} | null>(null);
  useEffect(() => {
    let current = true;
    start().then(
        (value) => { if (current) setLoaded({key, result: {state: 'ready', value}}); },
        (error: unknown) => {
          const message = error instanceof Error ? error.message : String(error);
          if (current) setLoaded({key, result: {state: 'failed', message}});
        });
    return () => { current = false; };
  }, [key]);
  return loaded !== null && loaded.key === key ? loaded.result : {state: 'loading'};
}
