import assert from 'node:assert/strict';
import {test} from 'node:test';

import {shellCommand} from '../src/lib/shell.ts';

test('a command can be pasted', () => {
  assert.equal(shellCommand(['app.py', '--n=3', '-x', 'a/b']), 'app.py --n=3 -x a/b');
  assert.equal(shellCommand(['-c', 'print("$HOME")', '', 'it\'s', 'a b', '*']), '-c \'print("$HOME")\' \'\' \'it\'\\\'\'s\' \'a b\' \'*\'');
});
