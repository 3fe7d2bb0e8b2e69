import {Dialog} from './dialog.tsx';
import {helpOpen} from './header.tsx';

const GROUPS: ReadonlyArray<readonly [string, ReadonlyArray<readonly [string, string]>]> = [
  ['Go to', [
    ['/ or Ctrl K', 'a file, function, line or command'],
    ['g o', 'Overview'], ['g f', 'Files'], ['g u', 'Functions'], ['g a', 'About this report'],
    ['[ and ]', 'back and forward'],
  ]],
  ['Tables and source', [
    ['j k or ↓ ↑', 'next and previous row'],
    ['PageDown PageUp', 'a page of rows'],
    ['Home End', 'first and last row'],
    ['Enter', 'open the row'],
    ['n p', 'next and previous line with time'],
    ['Ctrl F', 'find in a long source; Enter, Shift Enter'],
    ['h', 'heat map on and off'],
  ]],
  ['Timeline', [
    ['← →', 'step; with Shift ten steps'],
    ['PageUp PageDown', 'a tenth of the run'],
    ['P', 'busiest moment'],
    ['Enter', 'open the line'],
    ['Escape', 'clear'],
  ]],
  ['Page', [['t', 'theme'], ['?', 'this list']]],
];

export function HelpDialog() {
  return (
    <Dialog open={helpOpen} label="Keyboard shortcuts" class="help">
      <div class="dialog-head">
        <h2>Keyboard shortcuts</h2>
        <button type="button" class="button" onClick={() => { helpOpen.value = false; }}>Close</button>
      </div>
      <div class="help-groups">
        {GROUPS.map(([name, keys]) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {keys.map(([key, does]) => (
                <div key={key}><dt><Keys text={key} /></dt><dd>{does}</dd></div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

function Keys({text}: {text: string}) {
  return (
    <>
      {text.split(' ').map((part, i) =>
        part === 'or' || part === 'and' ? ` ${part} ` : <kbd key={i}>{part}</kbd>)}
    </>
  );
}
