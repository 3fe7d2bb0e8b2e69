// What the report leaves out, what limits it met, and what its file is made of.
import {useMemo} from 'preact/hooks';

import type {LeftOut, LeftOutReason, ReportIndex} from '../data/index_types.ts';
import {FORMAT} from '../data/report_index.ts';
import {formatBytes, formatCount, formatShare, formatTime, isKnown, plural} from '../lib/format.ts';
import {visible} from '../lib/visible.ts';
import {allowed, canConnect} from '../state/connection.ts';

const REASONS: Record<LeftOutReason, string> = {
  excluded: 'excluded by its pattern',
  installed: 'installed package',
  standard_library: 'standard library',
  no_file: 'code without a file',
  native: 'machine code',
  task: 'names of tasks',
  outside: 'outside of the root',
  rest: '',
};

const FIRST_LEFT_OUT = 12;

export function LeftOutTable({list, whole}: {list: readonly LeftOut[]; whole: number | null}) {
  // Most modules only pass by while the program starts.
  const telling = list.filter(({reason, samples}) => samples > 0 || reason === 'excluded').slice(0, FIRST_LEFT_OUT);
  const rest = list.filter((each) => !telling.includes(each));
  return (
    <>
      <h3 class="about-h3">Left out</h3>
      <p class="quiet about-note">Code that ran, but is not shown line by line. The time is that while its own code ran; the
        project line that called it has it, too.</p>
      <div class="panel plain-scroll framed" tabIndex={0} role="group" aria-label="Code left out">
        <table class="plain">
          <thead>
            <tr><th scope="col">Code</th><th scope="col" class="num">Time</th><th scope="col" class="num">Share</th>
              <th scope="col" class="num">Samples</th><th scope="col">Why</th><th scope="col" class="num">Files</th></tr>
          </thead>
          <tbody>
            {telling.map((each) => <LeftOutRow key={`${each.reason} ${each.name}`} each={each} whole={whole} />)}
            {rest.length > 0 && <LeftOutRow each={together(rest)} whole={whole} />}
          </tbody>
        </table>
      </div>
    </>
  );
}

function LeftOutRow({each, whole}: {each: LeftOut; whole: number | null}) {
  return (
    <tr>
      <th scope="row">{each.reason === 'rest' ? 'All other' : <code><bdi>{visible(each.name ?? 'no name')}</bdi></code>}</th>
      <td class="num">{formatTime(each.time)}</td>
      <td class="num">{formatShare(each.time, whole)}</td>
      <td class="num">{formatCount(each.samples)}</td>
      <td class="quiet">{REASONS[each.reason] ?? each.reason}</td>
      <td class="num">{formatCount(each.files)}</td>
    </tr>
  );
}

function together(list: readonly LeftOut[]): LeftOut {
  const sum = (id: 'files' | 'time' | 'samples') => list.reduce((total, each) => total + each[id], 0);
  return {name: null, reason: 'rest', files: sum('files'), time: sum('time'), samples: sum('samples')};
}

const NAMED = 4;
// Below this part nothing is lost.
const TELLING = 0.02;

// What the reader should know that nobody warned about.
export function limitsOf({ticks, drops, files, hot, timeline, totals}: ReportIndex): string[] {
  const out: string[] = [];
  const names = (which: (file: number) => boolean) => {
    const found = files.label.filter((_, file) => which(file));
    const listed = found.slice(0, NAMED).map(visible).join(', ');
    return {count: found.length, listed: found.length > NAMED ? `${listed} and ${found.length - NAMED} more` : listed};
  };
  if (!isKnown(ticks.due)) out.push('The run was cut off: its last moments and its end are not in here.');
  if (isKnown(ticks.due) && (ticks.missed ?? 0) > TELLING * ticks.due) {
    out.push(`${formatShare(ticks.missed, ticks.due)} of the ticks were missed: the sampler got no CPU when it was due. A sample ` +
        'stands for the time since the one before, so that totals hold; what is short is seen less often.');
  }
  const dropped = drops.reduce((sum, {count}) => sum + count, 0);
  if (isKnown(totals.samples) && dropped > TELLING * (totals.samples + dropped)) {
    out.push(`${formatShare(dropped, totals.samples + dropped)} of the samples were dropped, for the reasons above.`);
  }
  const without = names((file) => files.chunk[file] === null);
  if (without.count > 0) out.push(`${plural(without.count, 'file')} without source: ${without.listed}. Times are kept, their lines cannot be shown.`);
  const changed = names((file) => files.verified[file] === false);
  if (changed.count > 0) out.push(`${plural(changed.count, 'file')} changed after being loaded: ${changed.listed}. What is shown may not be what ran.`);
  if (hot.length > 0 && isKnown(totals.samples) && totals.samples < 1000) {
    out.push(`With ${plural(totals.samples, 'sample')}, small shares are little more than chance.`);
  }
  if (hot.length >= 50) out.push(`The overview lists the ${hot.length} most expensive lines; the sources have all of them.`);
  if (timeline !== null && timeline.start.length > 0) {
    const step = (timeline.end.at(-1)! - timeline.start[0]!) / timeline.start.length;
    out.push(`The timeline has steps of ${formatTime(step)}; what is shorter is not told apart there.`);
  }
  return out;
}

interface FilePart {
  name: string;
  count: number;
  bytes: number;
}

const NAMES: Record<string, string> = {functions: 'Functions', sources: 'Sources with their measurements'};

// The parts of this very file, biggest first. A chunk belongs to what the index names it for.
function partsOf({chunks, files}: ReportIndex): FilePart[] {
  const owner = new Array<string>(chunks.count).fill('Other data');
  for (const [name, numbers] of Object.entries({...chunks, sources: files.chunk} as Record<string, unknown>)) {
    if (name === 'count' || name === 'length') continue;
    for (const chunk of Array.isArray(numbers) ? numbers.flat(3) as unknown[] : [numbers]) {
      if (typeof chunk === 'number' && chunk < chunks.count) owner[chunk] = NAMES[name] ?? name.replaceAll('_', ' ');
    }
  }
  const parts = new Map<string, FilePart>();
  chunks.length.forEach((bytes, chunk) => {
    const name = owner[chunk]!;
    const part = parts.get(name) ?? {name, count: 0, bytes: 0};
    parts.set(name, {name, count: part.count + 1, bytes: part.bytes + bytes});
  });
  const add = (name: string, bytes: number) => parts.set(name, {name, count: 1, bytes});
  add('Index: names, totals, overview', new TextEncoder().encode(document.getElementById('ls-index')?.textContent ?? '').length);
  add('Script of the page', [...document.scripts].reduce((sum, script) => sum + (script.type === '' ? script.text.length : 0), 0));
  add('Style of the page', document.querySelector('style')?.textContent?.length ?? 0);
  return [...parts.values()].sort((a, b) => b.bytes - a.bytes);
}

export function FileContents({index}: {index: ReportIndex}) {
  const parts = useMemo(() => partsOf(index), [index]);
  const whole = parts.reduce((sum, {bytes}) => sum + bytes, 0);
  return (
    <div class="panel contents">
      <p>{visible(index.generator)}, data format {FORMAT}. {formatBytes(whole)} in one file, which loads nothing from
        anywhere. {connectsTo()}</p>
      <div class="plain-scroll" tabIndex={0} role="group" aria-label="Parts of the file">
        <table class="plain">
          <thead><tr><th scope="col">Part</th><th scope="col" class="num">Size</th><th scope="col" class="num">Share</th>
            <th scope="col" class="num">Pieces</th><th scope="col"><span class="sr-only">Size as a bar</span></th></tr></thead>
          <tbody>
            {parts.map(({name, count, bytes}) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="num">{formatBytes(bytes)}</td>
                <td class="num">{formatShare(bytes, whole)}</td>
                <td class="num">{formatCount(count)}</td>
                <td class="size-bar"><span style={{width: `${100 * bytes / Math.max(1, parts[0]!.bytes)}%`}} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function connectsTo(): string {
  if (!canConnect) return 'It was written with --no-ai: its policy forbids every connection.';
  return allowed.value === null ?
    'Its policy forbids every connection until a model server is chosen under AI.' :
    `Its policy now allows connections to ${allowed.value.address}, which was chosen under AI, and to nothing else.`;
}
