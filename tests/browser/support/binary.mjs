// Profiles and what is made of them, by the binary that LINESCOPE names.
import {execFileSync, spawnSync} from 'node:child_process';
import {mkdirSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));

export const binary = process.env.LINESCOPE ?? '';

// A folder of its own for a spec's files.
export function folder(name) {
  const at = path.resolve(here, '../.fixtures', name);
  mkdirSync(at, {recursive: true});
  return at;
}

export function linescope(...args) {
  return execFileSync(binary, args, {encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe']});
}

// Runs a program of fixtures/programs, or of a path, and keeps the profile. Its exit status does not matter.
export function profile(program, file, ...options) {
  const script = path.isAbsolute(program) ? program : path.resolve(here, '../fixtures/programs', program);
  spawnSync(binary, ['run', '--display', 'none', '-q', ...options, '--profile', file, '-o', `${file}.collapsed`, script]);
  return file;
}
