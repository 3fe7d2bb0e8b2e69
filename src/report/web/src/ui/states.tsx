// What stands where there is nothing to show.
import type {ComponentChildren} from 'preact';

import {updateView} from '../state/navigation.ts';
import {ErrorIcon} from './icons.tsx';

export function Empty({children}: {children: ComponentChildren}) {
  return <div class="empty">{children}</div>;
}

export function NoMatch({what, filter}: {what: string; filter: string}) {
  return (
    <Empty>
      <p>No {what} matches “{filter}”.</p>
      <button type="button" class="button" onClick={() => updateView({filter: ''})}>Clear filter</button>
    </Empty>
  );
}

export function Unreadable({message}: {message: string}) {
  return (
    <div class="empty" role="alert">
      <p class="problem"><ErrorIcon /> {message}</p>
      <p>The other parts of this report are not affected.</p>
    </div>
  );
}

export function Loading() {
  return <div class="empty loading" role="status">Reading…</div>;
}
