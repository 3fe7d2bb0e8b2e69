// Bundles the page into OUT_DIR (default: dist) as app.js, one classic script, and app.css.
import {build} from 'esbuild';
import {mkdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const root = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.env.OUT_DIR || path.join(root, 'dist'));

// What would end the element that holds the bundle, or open a comment inside it.
const FORBIDDEN = ['</script', '</style', '<!--'];
// A report carries the bundle, so its weight is every report's weight.
const BUDGET = {'app.js': 250_000, 'app.css': 56_000};

await mkdir(out, {recursive: true});
await build({
  absWorkingDir: root,
  entryPoints: {app: 'src/main.tsx'},
  outdir: out,
  bundle: true,
  format: 'iife',
  target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
  minify: true,
  charset: 'ascii',
  legalComments: 'none',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
});

for (const [name, limit] of Object.entries(BUDGET)) {
  const text = await readFile(path.join(out, name), 'utf8');
  for (const forbidden of FORBIDDEN) {
    if (text.toLowerCase().includes(forbidden)) fail(`${name} holds "${forbidden}"`);
  }
  if (text.length > limit) fail(`${name} has ${text.length} bytes, more than its ${limit}`);
  console.log(`${name}: ${text.length} bytes`);
}

function fail(message) {
  console.error(`build: ${message}`);
  process.exit(1);
}
