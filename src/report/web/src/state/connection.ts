// To what this report may connect. The policy in the file either forbids every connection (report --no-ai), or allows
// model servers. Even then the page takes that right away from itself before it shows anything, except from the one
// address that its user has chosen: a policy can only be narrowed, so choosing loads the page again. The choice passes
// through the entry of the history, is used once, and is stored nowhere else; model and key are in memory only.
import {signal} from '@preact/signals';

import type {AskTarget} from '../ai/prompt.ts';
import type {Connection, Endpoint} from '../ai/providers.ts';
import {at, checkAddress, isEndpoint} from '../ai/providers.ts';
import {reloadWith} from './navigation.ts';

const POLICY = 'Content-Security-Policy';

export const canConnect = !(document.querySelector<HTMLMetaElement>(`meta[http-equiv="${POLICY}"]`)?.content ?? '')
    .includes('connect-src \'none\'');

// What was chosen, and what was asked about then.
export const allowed = signal<Endpoint | null>(null);
export const connection = signal<Connection | null>(null);

export function startConnection(): {target: AskTarget | null} | null {
  const state: unknown = history.state;
  const endpoint = at(state, 'endpoint');
  const target = at(state, 'target') as AskTarget | null | undefined;
  if (endpoint !== undefined) {
    history.replaceState({...state as object, endpoint: undefined, target: undefined}, '');
  }
  if (canConnect && isEndpoint(endpoint)) {
    const checked = checkAddress(endpoint.address);
    if ('address' in checked) allowed.value = {provider: endpoint.provider, address: checked.address};
  }
  const policy = document.createElement('meta');
  policy.httpEquiv = POLICY;
  policy.content = `connect-src ${allowed.value === null ? '\'none\'' : new URL(allowed.value.address).origin}`;
  document.head.append(policy);
  return allowed.value === null ? null : {target: target ?? null};
}

export function allow(endpoint: Endpoint, target: AskTarget | null): void {
  reloadWith({endpoint, target});
}

export function disconnect(): void {
  connection.value = null;
}
