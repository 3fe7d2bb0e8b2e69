// Exports as speedscope reads them: it has readers of its own for six of the formats.
import {existsSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

import {expect, test} from '@playwright/test';

import {binary, folder, linescope, profile} from '../support/binary.mjs';

const require = createRequire(import.meta.url);
const page_of_speedscope = (() => {
  try {
    return path.join(path.dirname(require.resolve('speedscope/package.json')), 'dist/release/index.html');
  } catch {
    return '';
  }
})();

test.describe('speedscope reads', () => {
  test.skip(binary === '', 'LINESCOPE names no binary');
  test.skip(!existsSync(page_of_speedscope), 'speedscope is not installed');
  const at = folder('exports');
  let stats;

  test.beforeAll(() => {
    profile('busy.py', path.join(at, 'run.linescope'));
    stats = JSON.parse(linescope('stats', path.join(at, 'run.linescope'), '--json', '--all', '--by', 'self'));
  });

  const SECONDS = {ns: 1e-9, 'µs': 1e-6, ms: 1e-3, s: 1, '': 1e-9};

  // Rows of its table of functions: [total, self, name], in seconds or in samples.
  async function functionsIn(page, file) {
    await page.goto(pathToFileURL(page_of_speedscope).href);
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByText('Sandwich').click();
    const rows = page.locator('tr:visible').filter({has: page.locator('td')});
    await expect(rows.first()).toBeVisible();
    return (await rows.allInnerTexts()).map((text) => text.split('\t').map((cell) => cell.trim()));
  }

  function amount(cell) {
    const [, number, unit] = /^([\d.,]+)\s*(ns|µs|ms|s)?\b/.exec(cell);
    return Number(number.replaceAll(',', '')) * SECONDS[unit ?? ''];
  }

  for (const [name, scale] of [['speedscope.json', 1], ['pb.gz', 1], ['trace.json', 1], ['callgrind', 1], ['collapsed', 1e9]]) {
    test(`.${name}`, async ({page}) => {
      const file = path.join(at, `run.${name}`);
      linescope('export', path.join(at, 'run.linescope'), '-o', file);
      const rows = await functionsIn(page, file);
      const samples = name === 'collapsed';
      // The hottest function of the main thread, which speedscope shows first, is the one that stats has.
      const hottest = stats.functions.find((each) => each.name !== 'Thread.run');
      const mine = rows.filter(([, , text]) => samples ? text.includes(`:${hottest.name}:`) : text.startsWith(hottest.name));
      const self = mine.reduce((sum, row) => sum + amount(row[1]) * scale, 0);
      if (samples) {
        expect(self).toBeGreaterThan(0);
      } else {
        expect(Math.abs(self - hottest.self_ns / 1e9)).toBeLessThan(hottest.self_ns / 1e9 * 0.02);
      }
    });
  }
});

test('the flame graph is a picture that stands by itself', async ({page, context}) => {
  test.skip(binary === '', 'LINESCOPE names no binary');
  const at = folder('exports');
  profile('busy.py', path.join(at, 'run.linescope'));
  const file = path.join(at, 'run.svg');
  linescope('export', path.join(at, 'run.linescope'), '-o', file);
  const problems = [];
  await context.setOffline(true);
  page.on('console', (message) => problems.push(message.text()));
  page.on('request', (request) => { if (!/^file:/.test(request.url())) problems.push(request.url()); });
  await page.goto(pathToFileURL(file).href);
  const boxes = await page.locator('g.f').count();
  expect(boxes).toBeGreaterThan(3);
  // A text stays within its box.
  const wide = await page.locator('g.f').evaluateAll((all) => all.filter((box) => {
    const text = box.querySelector('text');
    return text !== null && text.getBBox().width > box.querySelector('rect').getBBox().width;
  }).length);
  expect(wide).toBe(0);
  await page.emulateMedia({colorScheme: 'dark'});
  expect(await page.locator('.page').evaluate((ground) => getComputedStyle(ground).fill)).toBe('rgb(20, 22, 26)');
  expect(problems).toEqual([]);
});
