import {useState} from 'preact/hooks';

import {copyText} from '../lib/copy.ts';

export function CopyButton({text, name}: {text: string; name: string}) {
  const [said, setSaid] = useState(name);
  const copy = async () => {
    setSaid(await copyText(text) ? 'Copied' : 'Not allowed');
    setTimeout(() => setSaid(name), 1500);
  };
  return <button type="button" class="button" onClick={() => void copy()}>{said}</button>;
}
