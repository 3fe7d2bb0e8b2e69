import {updateView, viewState} from '../state/navigation.ts';
import {SearchIcon} from './icons.tsx';

export function FilterBox({label}: {label: string}) {
  return (
    <label class="filter-box">
      <SearchIcon />
      <span class="sr-only">{label}</span>
      <input type="search" placeholder={label} value={viewState.value.filter}
             spellcheck={false} autocomplete="off"
             onInput={(event) => updateView({filter: event.currentTarget.value, active: null})} />
    </label>
  );
}
