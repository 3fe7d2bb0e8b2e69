// Beside the row that the keyboard is on: asks a model about it.
import type {AskTarget} from '../ai/prompt.ts';
import {openAssistant} from '../state/assistant.ts';
import {SparkIcon} from './icons.tsx';

interface AskHereProps {
  // Position of the row among those shown; negative: no row.
  index: number;
  rowHeight: number;
  name: string;
  target: () => AskTarget;
}

const HEAD_HEIGHT = 33;
const HEIGHT = 24;

export function AskHere({index, rowHeight, name, target}: AskHereProps) {
  if (index < 0) return null;
  const top = HEAD_HEIGHT + index * rowHeight + (rowHeight - HEIGHT) / 2;
  return (
    <button type="button" class="button ask-here" style={{top: `${top}px`}} title="Ask a model (i)"
            aria-label={`Ask a model about ${name}`} onClick={() => openAssistant(target())}>
      <SparkIcon />Ask
    </button>
  );
}
