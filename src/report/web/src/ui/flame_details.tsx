// What is known of one box: in a strip of its own, so that nothing hides the graph.
import type {ReportIndex} from '../data/index_types.ts';
import type {StackData} from '../data/stacks.ts';
import {formatCount, formatShare, formatTime} from '../lib/format.ts';
import {visible} from '../lib/visible.ts';
import {sourceHref} from '../state/route.ts';
import type {FlameModel, NodeKind} from './flame_model.ts';

export interface BoxFacts {
  label: string;
  kind: NodeKind;
  // Where most of its time went: null: nowhere in particular.
  place: string | null;
  href: string | null;
  file: number;
  line: number;
  total: number;
  self: number;
  samples: number | null;
  ofAll: string;
  ofSelected: string;
  fold: string | null;
}

const KIND_WORDS: Record<NodeKind, string> = {
  all: 'everything', group: '', fold: 'library frames, folded', project: '', library: 'library', native: 'native code',
  task: 'task',
};

export function factsOf(index: ReportIndex, {frames}: StackData, model: FlameModel, box: number, root: number,
                        callers: boolean): BoxFacts {
  const {tree, boxes} = model;
  const node = boxes.node[box];
  const inTree = node < tree.count;
  const frame = inTree ? tree.frame[node] : -1;
  const file = frame >= 0 ? frames.file[frame] : -1;
  const line = frame >= 0 ? frames.line[frame] : 0;
  const byTime = boxes.value !== tree.total;
  const total = boxes.value[box];
  // With callers below, only the topmost boxes ran themselves.
  const ran = !callers || boxes.row[box] <= 1;
  return {
    label: model.label(node), kind: model.kind(node), file, line, total,
    place: frame >= 0 ? visible(frames.place(frame)) : null,
    href: file >= 0 && index.files.chunk[file] !== null ? sourceHref(file, line > 0 ? line : null) : null,
    self: byTime ? NaN : callers && boxes.row[box] === 1 ? total : ran ? tree.self[node] : NaN,
    samples: byTime ? null : tree.samples[node],
    ofAll: formatShare(total, boxes.value[0]), ofSelected: formatShare(total, boxes.value[root]),
    fold: model.foldName(node),
  };
}

// For screen readers.
export function factsInWords(facts: BoxFacts): string {
  const kind = KIND_WORDS[facts.kind];
  const parts = [
    facts.label, ...(kind === '' ? [] : [kind]), ...(facts.place === null ? [] : [facts.place]),
    `total ${formatTime(facts.total)}, ${facts.ofAll} of all, ${facts.ofSelected} of selected`,
    ...(Number.isNaN(facts.self) ? [] : [`self ${formatTime(facts.self)}`]),
    ...(facts.samples === null ? [] : [`${formatCount(facts.samples)} samples`]),
  ];
  return parts.join(', ');
}

interface DetailsProps {
  facts: BoxFacts | null;
  whole: number;
  onUnfold: (name: string) => void;
}

export function FlameDetails({facts, whole, onUnfold}: DetailsProps) {
  if (facts === null) {
    return (
      <section class="panel flame-details hint" aria-label="Details">
        <p class="quiet pointer-hint">
          Point at a frame. Click or <kbd>Enter</kbd> zooms in, <kbd>Escape</kbd> out; double click
          or <kbd>o</kbd> opens its source. <kbd>↓</kbd> <kbd>↑</kbd> <kbd>←</kbd> <kbd>→</kbd> walk.
        </p>
      </section>
    );
  }
  const kind = KIND_WORDS[facts.kind];
  const fold = facts.fold;
  return (
    <section class="panel flame-details" aria-label="Details">
      <div class="flame-what">
        <p class="flame-name" title={facts.label}><bdi>{facts.label}</bdi></p>
        <p class="flame-place">
          {kind !== '' && <span class="tag">{kind}</span>}
          {facts.place !== null && (facts.href !== null ?
            <a href={facts.href} title="The line that most of its time went through"><bdi>{facts.place}</bdi></a> :
            <span class="quiet"><bdi>{facts.place}</bdi></span>)}
        </p>
      </div>
      <dl class="flame-numbers">
        <div><dt>Total</dt><dd>{formatTime(facts.total)}</dd></div>
        <div><dt>Self</dt><dd>{formatTime(facts.self)}{!Number.isNaN(facts.self) && <small>{formatShare(facts.self, whole)}</small>}</dd></div>
        <div><dt>Samples</dt><dd>{formatCount(facts.samples)}</dd></div>
        <div><dt>Of all</dt><dd>{facts.ofAll}</dd></div>
        <div><dt>Of selected</dt><dd>{facts.ofSelected}</dd></div>
      </dl>
      <div class="flame-actions">
        {fold !== null &&
          <button type="button" class="button" onClick={() => onUnfold(fold)}>Unfold {visible(fold)}</button>}
        {facts.href !== null && <a class="button primary" href={facts.href}>Open source line</a>}
      </div>
    </section>
  );
}
