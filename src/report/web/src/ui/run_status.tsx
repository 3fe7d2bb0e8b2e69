import type {RunStatus} from '../data/index_types.ts';
import {visible} from '../lib/visible.ts';
import {ErrorIcon, WarningIcon} from './icons.tsx';

const NAMES = {success: 'Success', failed: 'Failed', interrupted: 'Interrupted'};

export function StatusPill({status}: {status: RunStatus}) {
  return <a class={`pill status-${status.kind}`} href="#about">{NAMES[status.kind] ?? status.kind}</a>;
}

// What ended the run, where it was not its own end.
export function StatusBanner({status}: {status: RunStatus}) {
  if (status.kind === 'success') return null;
  const failed = status.kind === 'failed';
  const facts = [
    status.exit_code !== null && status.exit_code !== 0 ? `exit status ${status.exit_code}` : '',
    status.signal !== null ? `signal ${status.signal}` : '',
  ].filter((fact) => fact !== '' && !status.text.includes(fact));
  return (
    <div class={`banner status-${status.kind}`} role={failed ? 'alert' : 'status'}>
      {failed ? <ErrorIcon /> : <WarningIcon />}
      <div>
        <strong>{failed ? 'The run failed' : 'The run was interrupted'}
          {status.text !== '' && <>: {visible(status.text)}</>}
          {facts.length > 0 && <> ({facts.join(', ')})</>}.</strong>{' '}
        {failed ? 'Everything measured before is kept below.' :
                  'Everything measured until then is shown.'}
      </div>
    </div>
  );
}
