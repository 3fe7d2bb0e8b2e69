// Asks a model about a line or a function: which server, which model, what goes along, the exact text, the answer.
// What comes from a server is text here, whatever it looks like.
import {useSignal} from '@preact/signals';
import type {ComponentChildren} from 'preact';
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';

import {listModels} from '../ai/client.ts';
import type {AskTarget, Choices, LineRange, Subject, Unit} from '../ai/prompt.ts';
import {firstChoices, promptOf, subjectOf, tokensAbout} from '../ai/prompt.ts';
import type {ProviderId} from '../ai/providers.ts';
import {checkAddress, PROVIDERS, providerOf} from '../ai/providers.ts';
import {formatCount, plural} from '../lib/format.ts';
import {visible} from '../lib/visible.ts';
import {answer, assistantOpen, openAssistant, send, stop, target} from '../state/assistant.ts';
import {allow, allowed, canConnect, connection, disconnect} from '../state/connection.ts';
import {useReport} from '../state/context.ts';
import {useLoaded} from '../state/loaded.ts';
import {AnswerView} from './answer.tsx';
import {Dialog} from './dialog.tsx';
import {ErrorIcon, SparkIcon} from './icons.tsx';
import {Loading, Unreadable} from './states.tsx';

export function AssistantButton() {
  const coming = answer.value !== null && answer.value.outcome === null;
  const label = coming ? 'AI suggestions, an answer is coming' : 'AI suggestions';
  return (
    <button type="button" class={`button ai-button${coming ? ' coming' : ''}`} aria-label={label}
            aria-keyshortcuts="i" title={`${label} (i)`} onClick={() => openAssistant()}>
      <SparkIcon /><span>AI</span>
    </button>
  );
}

export function AssistantDialog() {
  return (
    <Dialog open={assistantOpen} label="AI suggestions" class="assistant">
      <Assistant />
    </Dialog>
  );
}

function Assistant() {
  const elsewhere = useSignal(false);
  const choosing = canConnect && (allowed.value === null || elsewhere.value);
  const step = choosing ? 0 : connection.value === null ? 1 : 2;
  const body = useRef<HTMLDivElement>(null);
  // The control that led to a step is gone with the one before it.
  useEffect(() => {
    (body.current?.querySelector<HTMLElement>('input:checked, input') ?? body.current)?.focus({preventScroll: true});
  }, [step]);
  return (
    <>
      <div class="dialog-head">
        <h2><SparkIcon /> AI suggestions</h2>
        {canConnect && <Steps at={step} />}
        <button type="button" class="button" onClick={() => { assistantOpen.value = false; }}>Close</button>
      </div>
      <div class="assistant-body" ref={body} tabIndex={-1}>
        {!canConnect ? <NoConnections /> :
         step === 0 ? <ChooseServer /> :
         step === 1 ? <ChooseModel another={() => { elsewhere.value = true; }} /> : <Ask />}
      </div>
    </>
  );
}

function Steps({at}: {at: number}) {
  return (
    <ol class="steps">
      {['Server', 'Model', 'Ask'].map((name, i) => (
        <li key={name} class={i < at ? 'done' : ''} aria-current={i === at ? 'step' : undefined}>
          <span>{i + 1}</span>{name}</li>
      ))}
    </ol>
  );
}

function NoConnections() {
  return (
    <div class="assistant-note">
      <p><strong>This report cannot connect to anything.</strong> It was written with <code>--no-ai</code>: the policy in
        the file forbids every connection, so that no model can be asked from it.</p>
      <p>To ask one, write the report again from its profile, without that option:</p>
      <pre class="code"><code>linescope report PROFILE -o report.html</code></pre>
      <p>Such a report does not connect by itself either. It asks for a server first, shows every text before it is sent,
        and can then reach that one server and nothing else.</p>
    </div>
  );
}

function ChooseServer() {
  const [provider, setProvider] = useState<ProviderId>(allowed.value?.provider ?? 'ollama');
  const [typed, setTyped] = useState(allowed.value?.address ?? providerOf({provider, address: ''}).address);
  const [problem, setProblem] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    const checked = checkAddress(typed);
    if ('problem' in checked) setProblem(checked.problem);
    else allow({provider, address: checked.address}, target.value);
  };
  return (
    <form class="fields" onSubmit={submit}>
      <fieldset class="providers">
        <legend>Whose model?</legend>
        {PROVIDERS.map((each) => (
          <label key={each.id} class={each.id === provider ? 'on' : ''}>
            <input type="radio" name="provider" checked={each.id === provider} onChange={() => {
              setProvider(each.id);
              setTyped(each.address);
              setProblem('');
            }} />
            <strong>{each.name}</strong><span>{each.hint}</span>
          </label>
        ))}
      </fieldset>
      <Field label="Address" for="ai-address" problem={problem}>
        <input id="ai-address" type="url" value={typed} spellcheck={false} autocomplete="off"
               aria-invalid={problem !== ''} aria-describedby={problem === '' ? undefined : 'ai-address-problem'}
               onInput={(event) => setTyped(event.currentTarget.value)} />
      </Field>
      <p class="secondary">Until now this report cannot connect to anything. Allowing an address loads the page again,
        and lets it reach this address and nothing else until it is closed or loaded again. Nothing is sent by that.</p>
      <div class="actions"><button type="submit" class="button primary">Allow this address</button></div>
    </form>
  );
}

interface FieldProps {
  label: string;
  for: string;
  problem?: string;
  children: ComponentChildren;
}

function Field({label, for: id, problem = '', children}: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {problem !== '' && <p id={`${id}-problem`} class="problem" role="alert"><ErrorIcon /> {visible(problem)}</p>}
    </div>
  );
}

function ChooseModel({another}: {another: () => void}) {
  const endpoint = allowed.value!;
  const provider = providerOf(endpoint);
  const [model, setModel] = useState('');
  const [names, setNames] = useState<string[]>([]);
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  // Not a part of what is drawn: the key stands in no attribute and no state of a component.
  const key = useRef<HTMLInputElement>(null);
  const own = useRef<AbortController | null>(null);
  useEffect(() => () => own.current?.abort(), []);
  const typedKey = () => key.current?.value.trim() ?? '';

  const list = async () => {
    own.current?.abort();
    const controller = own.current = new AbortController();
    setBusy(true);
    setProblem('');
    try {
      const found = await listModels({...endpoint, model, key: typedKey()}, controller.signal);
      setNames(found);
      if (found.length === 0) setProblem('The server has no models.');
      else if (model === '') setModel(found[0]!);
    } catch (error) {
      if (!controller.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (provider.modelNeeded && model.trim() === '') return setProblem('Name the model that is to be asked.');
    if (provider.key === 'needed' && typedKey() === '') return setProblem('This server wants a key.');
    connection.value = {...endpoint, model: model.trim(), key: typedKey()};
  };
  return (
    <form class="fields" onSubmit={submit}>
      <p class="destination">{provider.name} at <code>{visible(endpoint.address)}</code>
        <button type="button" class="link" onClick={another}>Another server</button></p>
      {provider.key !== 'none' &&
        <Field label={provider.key === 'needed' ? 'Key' : 'Key, if the server wants one'} for="ai-key">
          <input id="ai-key" ref={key} type="password" autocomplete="off" spellcheck={false} />
          <p class="secondary">Kept in memory until this tab is closed or loaded again. It is never stored, and never a part
            of the report.</p>
        </Field>}
      <Field label={provider.modelNeeded ? 'Model' : 'Model, if the server has several'} for="ai-model" problem={problem}>
        <div class="row">
          <input id="ai-model" type="text" value={model} list="ai-models" placeholder={provider.modelExample}
                 spellcheck={false} autocomplete="off" onInput={(event) => setModel(event.currentTarget.value)} />
          <datalist id="ai-models">{names.map((name) => <option key={name} value={name} />)}</datalist>
          <button type="button" class="button" disabled={busy} onClick={() => void list()}>
            {busy ? 'Asking…' : 'List its models'}</button>
        </div>
        {names.length > 0 &&
          <ul class="model-names" aria-label="Models of the server">
            {names.slice(0, 24).map((name) => (
              <li key={name}><button type="button" class="button" aria-pressed={name === model}
                                     onClick={() => setModel(name)}>{visible(name)}</button></li>
            ))}
          </ul>}
      </Field>
      <div class="actions"><button type="submit" class="button primary">Use this model</button></div>
    </form>
  );
}

function Ask() {
  const about = target.value;
  const to = connection.value!;
  return (
    <>
      <p class="destination">Asks {to.model === '' ? 'the model' : <strong>{visible(to.model)}</strong>} at{' '}
        <code>{visible(to.address)}</code>
        <button type="button" class="link" onClick={disconnect}>{to.key === '' ? 'Change' : 'Change, forget the key'}</button></p>
      {about === null ?
        <p class="assistant-note">Nothing is selected to ask about. Select a line of a source, or a function, and press{' '}
          <kbd>i</kbd>.</p> :
        <AskAbout key={`${about.file} ${about.line} ${about.whole}`} about={about} />}
      {answer.value !== null && <AnswerView key={answer.value.id} answer={answer.value} />}
    </>
  );
}

function AskAbout({about}: {about: AskTarget}) {
  const report = useReport();
  const loaded = useLoaded(() => report.source(about.file), about.file);
  const subject = useMemo(
      () => loaded.state === 'ready' ? subjectOf(report.index, loaded.value, about) : null, [loaded.state, about]);
  if (loaded.state === 'loading') return <Loading />;
  if (loaded.state === 'failed') return <Unreadable message={loaded.message} />;
  return subject === null ? null : <Compose subject={subject} />;
}

function Compose({subject}: {subject: Subject}) {
  const {index} = useReport();
  const [choices, setChoices] = useState<Choices>(() => firstChoices(subject));
  const [edited, setEdited] = useState<string | null>(null);
  const made = useMemo(() => promptOf(subject, index, choices), [subject.source, choices]);
  const text = edited ?? made;
  const choose = (change: Partial<Choices>) => {
    setEdited(null);
    setChoices({...choices, ...change});
  };
  const coming = answer.value !== null && answer.value.outcome === null;
  const {source, function: around} = subject;
  const units: Array<[Unit, string]> = [
    ['statement', `${visible(subject.label)}:${rangeText(subject.statement)}`],
    ...(around === null ? [] : [['function', `${visible(around.name)}, lines ${rangeText(around.lines)}`] as [Unit, string]]),
  ];
  const submit = (event: Event) => {
    event.preventDefault();
    void send(subject, choices.unit, text);
  };
  return (
    <form class="fields" onSubmit={submit}>
      <fieldset class="choice">
        <legend>About</legend>
        {units.map(([unit, name]) => (
          <label key={unit}><input type="radio" name="unit" checked={choices.unit === unit}
                                   onChange={() => choose({unit})} />
            {unit === 'statement' ? 'The line’s statement' : 'The function'} <span class="quiet"><bdi>{name}</bdi></span></label>
        ))}
      </fieldset>
      <Field label="Question" for="ai-question">
        <input id="ai-question" type="text" value={choices.question} autocomplete="off"
               onInput={(event) => choose({question: event.currentTarget.value})} />
      </Field>
      <fieldset class="choice">
        <legend>Goes along</legend>
        <Along name="Measurements" on={choices.measurements} set={(measurements) => choose({measurements})} />
        {around !== null && choices.unit === 'statement' &&
          <Along name={`The function around it (${plural(length(around.lines), 'line')})`} on={choices.surrounding}
                 off={choices.wholeFile} set={(surrounding) => choose({surrounding})} />}
        {subject.imports.length > 0 &&
          <Along name={`Imports (${subject.imports.length})`} on={choices.imports} off={choices.wholeFile}
                 set={(imports) => choose({imports})} />}
        <Along name={`The whole file (${plural(source.lineCount, 'line')})`} on={choices.wholeFile}
               set={(wholeFile) => choose({wholeFile})} />
        <Along name="Python version and length of the run" on={choices.run} set={(run) => choose({run})} />
      </fieldset>
      <div class="field">
        <div class="field-head">
          <label for="ai-text">The text that is sent, and nothing else</label>
          <span class="secondary">about {formatCount(tokensAbout(text))} tokens, {plural(text.length, 'character')}
            {edited !== null && ', edited'}</span>
        </div>
        <textarea id="ai-text" rows={12} spellcheck={false} value={text}
                  onInput={(event) => setEdited(event.currentTarget.value)} />
      </div>
      <div class="actions">
        {edited !== null && <button type="button" class="button" onClick={() => setEdited(null)}>Undo edits</button>}
        {coming ?
          <button type="button" class="button" onClick={stop}>Stop</button> :
          <button type="submit" class="button primary" disabled={text.trim() === ''}>Send</button>}
      </div>
    </form>
  );
}

interface AlongProps {
  name: string;
  on: boolean;
  // Something else holds it already.
  off?: boolean;
  set: (on: boolean) => void;
}

function Along({name, on, off = false, set}: AlongProps) {
  return (
    <label><input type="checkbox" checked={on && !off} disabled={off}
                  onChange={(event) => set(event.currentTarget.checked)} /> {name}</label>
  );
}

function length([first, last]: LineRange): number {
  return last - first + 1;
}

function rangeText([first, last]: LineRange): string {
  return first === last ? String(first) : `${first}–${last}`;
}
