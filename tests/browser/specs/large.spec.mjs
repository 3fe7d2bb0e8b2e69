// A source of 100,000 lines: what is not in sight does not exist, and scrolling never blocks.
import os from 'node:os';

import {expect, fixture, test} from '../support/page.mjs';

const LONGEST_TASK_MS = 50;

// Long tasks are measured by the clock, so on a machine with other work only the processor time of
// the page's main thread says what scrolling costs.
const busy = () => os.loadavg()[0] > os.cpus().length;

async function taskSeconds(client) {
  const {metrics} = await client.send('Performance.getMetrics');
  return metrics.find(({name}) => name === 'TaskDuration').value;
}

async function scrollTo(page, top) {
  return page.evaluate(async (position) => {
    const scroller = document.querySelector('.scroller');
    scroller.scrollTop = position;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const box = scroller.getBoundingClientRect();
    const middle = document.elementFromPoint(box.left + 200, box.top + box.height / 2);
    return middle?.closest('[data-row]') !== null;
  }, top);
}

test('scrolls without a long task, steadily and by leaps', async ({page, open}) => {
  await open(fixture('large'), '#f/0');
  await expect(page.getByRole('table')).toHaveAttribute('aria-rowcount', '100001');
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable', {timeDomain: 'threadTicks'});
  await page.evaluate(() => {
    window.longTasks = [];
    new PerformanceObserver((list) => {
      window.longTasks.push(...list.getEntries().map((entry) => entry.duration));
    }).observe({type: 'longtask'});
  });
  const steady = Array.from({length: 120}, (_, i) => i * 240);
  const leaps = Array.from({length: 60}, (_, i) => (i * 7_919 * 20) % 1_990_000);
  const spent = [];
  for (const top of [...steady, ...leaps]) {
    const before = await taskSeconds(client);
    expect(await scrollTo(page, top), `rows are drawn at ${top}`).toBe(true);
    spent.push(1000 * (await taskSeconds(client) - before));
  }
  // A sum over all tasks of two frames and of the test's own probe, so a bound from above; other work
  // on the machine adds to single ones by emptying the caches.
  spent.sort((a, b) => a - b);
  expect(spent[Math.floor(0.9 * spent.length)]).toBeLessThan(LONGEST_TASK_MS);
  expect(spent[Math.floor(0.5 * spent.length)]).toBeLessThan(LONGEST_TASK_MS / 2);
  const long = await page.evaluate(() => window.longTasks);
  if (!busy()) expect(long.filter((duration) => duration > LONGEST_TASK_MS)).toEqual([]);
});

test('stays small, keeps heads in sight, and scrolls long lines sideways', async ({open}) => {
  const page = await open(fixture('large'), '#f/0/60000');
  expect(await page.locator('*').count()).toBeLessThan(2500);
  await expect(heading(page)).toBeInViewport();
  const number = page.locator('[data-row="60001"] .line-number');
  const before = await number.boundingBox();
  await page.setViewportSize({width: 700, height: 800});
  await page.locator('.scroller').evaluate((element) => { element.scrollLeft = 300; });
  await expect(page.locator('h1')).toBeInViewport();
  const table = await page.locator('.scroller').boundingBox();
  const after = await page.locator('.line-number').first().boundingBox();
  expect(Math.abs(after.x - table.x)).toBeLessThan(4);
  expect(before.width).toBeGreaterThan(30);
});

const heading = (page) => page.getByRole('columnheader', {name: 'Source'});

test('Ctrl+F finds rows that are not in sight', async ({open}) => {
  const page = await open(fixture('large'), '#f/0');
  await page.locator('.scroller').focus();
  await page.keyboard.press('Control+f');
  await page.keyboard.type('STEP_777');
  await expect(page.locator('.find-count')).toHaveText('11 lines');
  await page.keyboard.press('Enter');
  await expect(page.locator('.find-count')).toHaveText('1 of 11');
  await expect(page.locator('[data-row="7770"] .code')).toContainText('def step_7770');
  await page.keyboard.press('Shift+Enter');
  await expect(page.locator('.find-count')).toHaveText('11 of 11');
  await expect(page.locator('[data-row="77790"]')).toBeInViewport();
});

test('sorts in well under a second and shows the top', async ({open}) => {
  const page = await open(fixture('large'), '#f/0');
  await page.locator('.scroller').evaluate((element) => { element.scrollTop = 500_000; });
  await page.getByRole('button', {name: 'Time', exact: true}).click();
  const first = page.locator('.tbody .tr').first();
  await expect(first.locator('.duration')).not.toHaveText('–');
  expect(await page.locator('.scroller').evaluate((element) => element.scrollTop)).toBe(0);
});

test('the file tree and tables of 1,500 files stay small', async ({open}) => {
  const page = await open(fixture('many'), '#functions');
  await expect(page.getByRole('table')).toHaveAttribute('aria-rowcount', '15001');
  expect(await page.locator('*').count()).toBeLessThan(2500);
});

test('printing lays out rows that are not in sight', async ({open}) => {
  const page = await open(fixture('large'), '#f/0');
  const pdf = await page.pdf({format: 'A4'});
  expect(pdf.length).toBeGreaterThan(200_000);
});
