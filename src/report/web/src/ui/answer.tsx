// What a model answered: text, and code as a diff against the source.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';

import type {CodeDiff, Part} from '../ai/answer.ts';
import {diffAgainstSource, partsOf} from '../ai/answer.ts';
import type {DiffRow} from '../lib/line_diff.ts';
import {visible} from '../lib/visible.ts';
import type {Answer} from '../state/assistant.ts';
import {send, stop} from '../state/assistant.ts';
import {Code} from './code.tsx';
import {CopyButton} from './copy_button.tsx';
import {WarningIcon} from './icons.tsx';

export function AnswerView({answer}: {answer: Answer}) {
  const {outcome, text, model} = answer;
  const parts = useMemo(() => partsOf(text), [text]);
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (outcome === null) section.current?.scrollIntoView({block: 'start'});
  }, []);
  const asked = `${answer.subject.label}:${answer.subject.target.line}`;
  return (
    <section class="answer" ref={section} aria-labelledby="answer-title">
      <div class="answer-head">
        <h3 id="answer-title">{text === '' ? 'Asked ' : 'Suggested by '}
          {model === '' ? 'the model' : visible(model)}{text !== '' && '; not measured'}</h3>
        <span class="secondary"><bdi>{visible(asked)}</bdi></span>
        <span class="spring" />
        {outcome === null ? <button type="button" class="button" onClick={stop}>Stop</button> : <>
          {text !== '' && <CopyButton text={text} name="Copy" />}
          <button type="button" class="button" onClick={() => void send(answer.subject, answer.unit, answer.prompt)}>
            Retry</button>
        </>}
      </div>
      <div class="answer-parts">
        {parts.map((part, i) => part.kind === 'text' ?
          <p key={i} class="answer-text"><Prose text={visible(part.text)} /></p> :
          <CodePart key={i} part={part} answer={answer} />)}
      </div>
      <p class="secondary" role="status">{progress(answer)}</p>
      {outcome !== null && 'text' in outcome &&
        <div class={`banner status-${outcome.kind === 'failed' ? 'failed' : 'interrupted'}`} role="alert">
          <WarningIcon /><div>{visible(outcome.text)}</div></div>}
    </section>
  );
}

// Names that stand between backticks, as models write them.
function Prose({text}: {text: string}) {
  return <>{text.split(/`([^`\n]+)`/).map((part, i) => i % 2 === 0 ? part : <code key={i}>{part}</code>)}</>;
}

function progress({outcome, text, thinking, seconds}: Answer): string {
  if (outcome === null) return text !== '' ? 'The answer is coming…' : thinking ? 'The model is thinking…' : 'Waiting for the model…';
  if (outcome.kind === 'stopped') return 'Stopped.';
  return outcome.kind === 'done' ? `Complete after ${seconds.toFixed(1)} s.` : '';
}

function CodePart({part, answer}: {part: Part & {kind: 'code'}; answer: Answer}) {
  const complete = part.closed || answer.outcome !== null;
  const diff = useMemo(
      () => complete ? diffAgainstSource(answer.subject, answer.unit, part.text, part.language) : null,
      [complete, part.text, answer.subject]);
  const [asCode, setAsCode] = useState(false);
  const shown = asCode ? null : diff;
  return (
    <figure class="answer-code">
      <figcaption>
        <span class="secondary">
          {shown !== null ? <>Against <bdi>{visible(answer.subject.label)}</bdi>:{shown.lines.join('–')}</> :
            part.language === '' ? 'Code' : visible(part.language)}</span>
        <span class="spring" />
        {diff !== null &&
          <button type="button" class="link" onClick={() => setAsCode(!asCode)}>
            {asCode ? 'Show as diff' : 'Show as code'}</button>}
        <CopyButton text={part.text} name="Copy code" />
      </figcaption>
      <div class="answer-lines" tabIndex={0} role="group" aria-label={shown !== null ? 'Suggested change' : 'Suggested code'}>
        {shown !== null ? <DiffLines diff={shown} /> :
          part.text.split('\n').map((line, i) => <div key={i} class="code"><Plain text={line} /></div>)}
      </div>
    </figure>
  );
}

// Unchanged lines that stand around a change; more of them are folded.
const CONTEXT = 3;
const SIGN_WORDS = {'-': 'removed', '+': 'added'};

function DiffLines({diff}: {diff: CodeDiff}) {
  const shown = useMemo(() => foldSame(diff), [diff]);
  return (
    <>
      {shown.map((each, i) => 'folded' in each ?
        <div key={i} class="diff-fold">… {each.folded} unchanged lines</div> :
        <div key={i} class={`code diff-${each.sign === '+' ? 'added' : each.sign === '-' ? 'removed' : 'same'}`}>
          <span class="diff-number" aria-hidden="true">{each.line ?? ''}</span>
          <span class="diff-sign" aria-hidden="true">{each.sign}</span>
          {each.sign !== ' ' && <span class="sr-only">{SIGN_WORDS[each.sign]}: </span>}
          <Plain text={each.text} />
        </div>)}
    </>
  );
}

function foldSame({rows, lines: [first]}: CodeDiff): Array<(DiffRow & {line: number | null}) | {folded: number}> {
  const near = rows.map((_, i) => rows.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(({sign}) => sign !== ' '));
  const out: Array<(DiffRow & {line: number | null}) | {folded: number}> = [];
  let line = first;
  rows.forEach((row, i) => {
    const number = row.sign === '+' ? null : line++;
    const last = out.at(-1);
    if (near[i]) out.push({...row, line: number});
    else if (last !== undefined && 'folded' in last) last.folded++;
    else out.push({folded: 1});
  });
  return out;
}

// Hidden characters are named: what is copied into a program must read as it is.
function Plain({text}: {text: string}) {
  return <Code spans={[{text, tokenClass: 0}]} classes={[]} />;
}
