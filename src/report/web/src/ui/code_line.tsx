// One line of a source: colours, links to definitions, what is searched for, the hottest expression.
import type {ComponentChildren} from 'preact';

import type {SourceFile, SourceLink} from '../data/source.ts';
import {findIn} from '../lib/find.ts';
import {sourceHref} from '../state/route.ts';
import {Code} from './code.tsx';
import {ExpressionShare, hottestExpression} from './expressions.tsx';

interface CodeLineProps {
  source: SourceFile;
  line: number;
  label: string;
  classes: readonly string[];
  // What is searched for; empty: nothing.
  find: string;
  // Where a link leads, in words.
  describe: (link: SourceLink) => string;
}

interface Piece {
  from: number;
  to: number;
}

// Beyond this the line is cut anyway.
const LOOKED_THROUGH = 10_000;

export function CodeLine({source, line, label, classes, find, describe}: CodeLineProps) {
  const whole = {from: source.lineOffset(line), to: source.lineEnd(line)};
  const hottest = hottestExpression(source, line);
  if (whole.to - whole.from > LOOKED_THROUGH) {
    return <Code spans={source.tokens.spans(source.text, whole.from, whole.to)} classes={classes} />;
  }
  const hits = find === '' ? [] : findIn(source.text.slice(whole.from, whole.to), find)
      .map((at) => ({from: whole.from + at, to: whole.from + at + find.length}));
  const links = source.linksIn(whole.from, whole.to);

  const plain = (piece: Piece): ComponentChildren =>
    <Code spans={source.tokens.spans(source.text, piece.from, piece.to)} classes={classes} />;
  const marked = (piece: Piece) => split(piece, hits, plain, (part) => <mark class="hit">{plain(part)}</mark>);
  const linked = (piece: Piece) => split(piece, links, marked, (part, link) => (
    <a class="symbol" href={sourceHref(link.file, link.line)} title={describe(link)} tabIndex={-1}>{marked(part)}</a>
  ));
  if (hottest === null) return <>{linked(whole)}</>;
  return (
    <>
      {split(whole, [hottest], linked, (part) => <span class="expression">{linked(part)}</span>)}
      <ExpressionShare source={source} line={line} label={label} hottest={hottest} />
    </>
  );
}

// Renders the parts of `piece` that lie in one of `ranges` (sorted, disjoint) differently.
function split<Range extends Piece>(
    piece: Piece, ranges: readonly Range[], outside: (part: Piece) => ComponentChildren,
    inside: (part: Piece, range: Range) => ComponentChildren): ComponentChildren {
  const out: ComponentChildren[] = [];
  let at = piece.from;
  for (const range of ranges) {
    const part = {from: Math.max(range.from, at), to: Math.min(range.to, piece.to)};
    if (part.to <= part.from) continue;
    if (part.from > at) out.push(outside({from: at, to: part.from}));
    out.push(inside(part, range));
    at = part.to;
  }
  if (piece.to > at || out.length === 0) out.push(outside({from: at, to: piece.to}));
  return out;
}
