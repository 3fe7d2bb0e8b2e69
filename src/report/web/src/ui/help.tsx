import {Dialog} from './dialog.tsx';
import {helpOpen} from './header.tsx';

const GROUPS: ReadonlyArray<readonly [string, ReadonlyArray<readonly [string, string]>]> = [
  ['Go to', [
    ['/ or Ctrl K', 'a file, function, line or command; :123 is a line of this file'],
    ['g o', 'Overview'], ['g f', 'Files'], ['g u', 'Functions'], ['g l', 'Flame graph'], ['g t', 'Processes and threads'], ['g a', 'About this report'],
    ['[ and ]', 'back and forward'],
  ]],
  ['Tables', [
    ['j k or ↓ ↑', 'next and previous row'],
    ['PageDown PageUp', 'a page of rows'],
    ['Home End', 'first and last row'],
    ['Enter', 'open the row'],
    ['c', 'callers and calls of the function'],
    ['h', 'heat map on and off'],
    ['i', 'ask a model about the row'],
  ]],
  ['Source', [
    ['n p', 'next and previous line with time'],
    ['Enter', 'open the definition of the name on the line'],
    ['← →', 'names on the line that lead to definitions'],
    ['Shift ↓ ↑', 'select more lines'],
    ['Ctrl F', 'find in a long source; Enter, Shift Enter'],
    ['z', 'all lines, measured functions, hot lines'],
    ['e', 'expressions of the line'],
    ['y Y', 'copy the statement or selected lines; with numbers'],
    ['l', 'copy a link to the line'],
  ]],
  ['Timeline', [
    ['← →', 'step'],
    ['Shift ← →', 'select a range'],
    ['PageUp PageDown', 'a tenth of the run; with Shift selecting'],
    ['P', 'busiest moment'],
    ['Enter', 'show the selected range, or open the line'],
    ['+ - 0', 'zoom in, out, the whole run'],
    ['Escape', 'clear; then show the whole run'],
  ]],
  ['Flame graph', [
    ['← → ↑ ↓', 'neighbours, caller, widest call'],
    ['Home End', 'outermost caller, and down the widest calls'],
    ['Enter Escape', 'zoom in, and out'],
    ['o', 'open the source line; or double click'],
    ['+ -', 'narrow and widen; or Ctrl and the wheel'],
    ['f', 'search; Enter next, Shift Enter before'],
  ]],
  ['Tree table', [
    ['→ ←', 'expand and fold; in and out'],
    ['*', 'expand along the most time'],
    ['Enter or o', 'open the source line'],
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
