// The conversation with a model: what is asked about, and the answer as it comes. It goes on when the dialog is closed.
import {signal} from '@preact/signals';
import {useEffect, useRef} from 'preact/hooks';

import type {Outcome} from '../ai/client.ts';
import {ask} from '../ai/client.ts';
import type {AskTarget, Subject, Unit} from '../ai/prompt.ts';
import {connection} from './connection.ts';

export interface Answer {
  // Another one for each answer.
  id: number;
  subject: Subject;
  unit: Unit;
  prompt: string;
  model: string;
  text: string;
  thinking: boolean;
  // null: still coming.
  outcome: Outcome | null;
  seconds: number;
}

export const assistantOpen = signal(false);
export const target = signal<AskTarget | null>(null);
export const answer = signal<Answer | null>(null);

// What the view in front is about; the newest view wins.
const views: Array<{current: () => AskTarget | null}> = [];

export function useAskTarget(find: () => AskTarget | null): void {
  const view = useRef(find);
  view.current = find;
  useEffect(() => {
    views.push(view);
    return () => { views.splice(views.indexOf(view), 1); };
  }, []);
}

export function openAssistant(about: AskTarget | null = null): void {
  target.value = about ?? views.at(-1)?.current() ?? null;
  assistantOpen.value = true;
}

let running: AbortController | null = null;

export function stop(): void {
  running?.abort();
}

export async function send(subject: Subject, unit: Unit, prompt: string): Promise<void> {
  const to = connection.value;
  if (to === null) return;
  stop();
  const own = running = new AbortController();
  const begun = performance.now();
  let text = '';
  let frame = 0;
  const update = (change: Partial<Answer>) => {
    if (running !== own || answer.value === null) return;
    answer.value = {...answer.value, text, seconds: (performance.now() - begun) / 1000, ...change};
  };
  answer.value = {id: begun, subject, unit, prompt, model: to.model, text, thinking: false, outcome: null, seconds: 0};
  // Drawn once a frame, however small the pieces are.
  const draw = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      update({});
    });
  };
  const outcome = await ask(to, prompt, {
    signal: own.signal,
    onText: (piece) => {
      text += piece;
      draw();
    },
    onThinking: () => update({thinking: true}),
  });
  cancelAnimationFrame(frame);
  update({outcome, thinking: false});
}
