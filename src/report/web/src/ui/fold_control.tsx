import type {FoldMode} from '../lib/fold.ts';
import {FOLD_MODES} from '../lib/fold.ts';
import {updateView, viewState} from '../state/navigation.ts';
import {announce} from './announce.tsx';

export const FOLD_NAMES: Record<FoldMode, string> = {all: 'All', functions: 'Measured functions', hot: 'Hot lines'};

export function setFold(fold: FoldMode): void {
  updateView({fold, unfolded: []});
  announce(`Lines shown: ${FOLD_NAMES[fold]}`);
}

export function cycleFold(): void {
  setFold(FOLD_MODES[(FOLD_MODES.indexOf(viewState.value.fold) + 1) % FOLD_MODES.length]);
}

export function FoldControl() {
  const {fold} = viewState.value;
  return (
    <fieldset class="segments fold-control" title="Lines to show (z)">
      <legend>Show</legend>
      {FOLD_MODES.map((mode) => (
        <label class={fold === mode ? 'on' : ''} key={mode}>
          <input type="radio" name="fold" checked={fold === mode} onChange={() => setFold(mode)} />{FOLD_NAMES[mode]}
        </label>
      ))}
    </fieldset>
  );
}
