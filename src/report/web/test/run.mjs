// Bundles the unit tests (they are TypeScript) and runs them with node's own runner.
import {build} from 'esbuild';
import {spawnSync} from 'node:child_process';
import {readdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(here, '../.test');
const names = readdirSync(here).filter((name) => name.endsWith('.test.ts'));
rmSync(out, {recursive: true, force: true});
await build({
  entryPoints: names.map((name) => path.join(here, name)),
  outdir: out,
  outExtension: {'.js': '.mjs'},
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node18',
  sourcemap: 'inline',
  define: {TOKENS_CSS: JSON.stringify(path.resolve(here, '../src/styles/tokens.css'))},
  logLevel: 'warning',
});
const files = names.map((name) => path.join(out, name.replace(/\.ts$/, '.mjs')));
const result = spawnSync(process.execPath, ['--enable-source-maps', '--test', ...files], {stdio: 'inherit'});
process.exit(result.status ?? 1);
