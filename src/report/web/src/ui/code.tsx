// Highlighted source text. Text only ever becomes text nodes.
import type {ComponentChildren} from 'preact';

import type {Span} from '../data/tokens.ts';
import {PLAIN} from '../data/tokens.ts';
import {hasHidden, signFor, splitHidden} from '../lib/visible.ts';

const CLIPPED_AT = 10_000;

interface CodeProps {
  spans: readonly Span[];
  // The index' token classes; a class the style sheet does not know is plain.
  classes: readonly string[];
}

export function Code({spans, classes}: CodeProps) {
  const out: ComponentChildren[] = [];
  let length = 0;
  for (const span of spans) {
    const text = span.text.slice(0, CLIPPED_AT - length);
    length += span.text.length;
    const name = span.tokenClass === PLAIN ? '' : classes[span.tokenClass] ?? '';
    const content = hasHidden(text) ? <Signs text={text} /> : text;
    out.push(name === '' ? content : <span class={`tok-${name}`}>{content}</span>);
    if (length > CLIPPED_AT) {
      const left = spans.reduce((sum, each) => sum + each.text.length, 0) - CLIPPED_AT;
      out.push(<span class="clipped">… {left} more characters</span>);
      break;
    }
  }
  return <>{out}</>;
}

function Signs({text}: {text: string}) {
  return (
    <>
      {splitHidden(text).map((part, i) =>
        i % 2 === 0 ? part : <span class="sign">{signFor(part)}</span>)}
    </>
  );
}
