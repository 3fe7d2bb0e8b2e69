import {useState} from 'preact/hooks';

import {copyText} from './clipboard.ts';

export function CopyButton({text, name}: {text: string; name: string}) {
  const [said, setSaid] = useState(name);
  const copy = () => {
    setSaid(copyText(text) ? 'Copied' : 'Not allowed');
    setTimeout(() => setSaid(name), 1500);
  };
  return <button type="button" class="button" onClick={copy}>{said}</button>;
}
