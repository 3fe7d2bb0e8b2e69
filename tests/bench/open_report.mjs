// Opens a report in the Chromium of the browser tests and prints, as JSON, what that takes.
//
//   node open_report.mjs FILE [HASH [SELECTOR]]
//
//   first_ms     from the navigation until something of the content is drawn (first contentful paint)
//   settled_ms   until the page has done nothing for half a second, less that half second
//   cpu_ms       of the main thread until then
//   elements     in the document
//   heap_mb      JavaScript
//   scroll_ms    main thread's CPU time for each of 240 frames of scrolling by 120 pixels, the median and
//   scroll_p95_ms  the 95th percentile; of what SELECTOR names, or of the document. null: it does not scroll
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(path.join(here, '../browser/package.json'));
const {chromium} = require('@playwright/test');

const FRAMES = 240;
const STEP = 120;
const QUIET_MS = 500;

const [file, hash = '', selector = ''] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'],
});
const page = await browser.newPage({viewport: {width: 1440, height: 900}});
await page.context().setOffline(true);
const client = await page.context().newCDPSession(page);
await client.send('Performance.enable', {timeDomain: 'threadTicks'});
const metric = async (wanted) =>
  (await client.send('Performance.getMetrics')).metrics.find(({name}) => name === wanted)?.value ?? 0;

const begin = performance.now();
await page.goto(pathToFileURL(file).href + hash, {waitUntil: 'load', timeout: 120_000});
let [cpu, last] = [0, performance.now()];
for (;;) {
  const now = await metric('TaskDuration');
  // The look itself costs a little.
  if (now - cpu > 0.01) [cpu, last] = [now, performance.now()];
  if (performance.now() - last > QUIET_MS) break;
  await new Promise((done) => setTimeout(done, 50));
}
const first = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null);
const elements = await page.locator('*').count();
const heap = await metric('JSHeapUsedSize');

const frames = [];
const scrolls = await page.evaluate((wanted) => {
  const element = wanted === '' ? document.scrollingElement : document.querySelector(wanted);
  return element !== null && element.scrollHeight > element.clientHeight + 100;
}, selector);
for (let i = 0; scrolls && i < FRAMES; i++) {
  const before = await metric('TaskDuration');
  await page.evaluate(async ([wanted, step]) => {
    (wanted === '' ? document.scrollingElement : document.querySelector(wanted)).scrollTop += step;
    await new Promise((done) => requestAnimationFrame(done));
  }, [selector, STEP]);
  frames.push(1000 * (await metric('TaskDuration') - before));
}
frames.sort((a, b) => a - b);
const at = (part) => frames.length === 0 ? null : Number(frames[Math.floor(part * frames.length)].toFixed(2));
console.log(JSON.stringify({
  first_ms: first === null ? null : Math.round(first), settled_ms: Math.round(last - begin), cpu_ms: Math.round(1000 * cpu), elements,
  heap_mb: Number((heap / 1e6).toFixed(1)), scroll_ms: at(0.5), scroll_p95_ms: at(0.95),
}));
await browser.close();
