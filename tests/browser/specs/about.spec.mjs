// How the numbers came about: what is said there is what the report holds.
import {statSync} from 'node:fs';

import {axeFindings, expect, fixture, test} from '../support/page.mjs';

const rows = (page, name) => page.getByRole('group', {name}).locator('tbody tr').evaluateAll(
    (all) => all.map((row) => [...row.children].map((cell) => cell.textContent.trim())));
const fact = (page, name) => page.locator('.fact', {has: page.locator('dt', {hasText: new RegExp(`^${name}$`)})}).locator('dd');

test('what was left out, and why', async ({open}) => {
  const page = await open(fixture('small'), '#about');
  expect(await rows(page, 'Code left out')).toEqual([
    ['numpy', '1.80 s', '8.8%', '1,800', 'installed package', '12'],
    ['heapq', '640 ms', '3.1%', '640', 'standard library', '1'],
    ['<frozen importlib._bootstrap>', '31.0 ms', '0.2%', '31', 'code without a file', '1'],
    ['tests/', '0 s', '0%', '0', 'excluded by its pattern', '2'],
    ['/srv/shared/<b>tools</b>/', '4.00 ms', '<0.1%', '4', 'outside of the root', '1'],
  ]);
  await expect(page.locator('main b')).toHaveCount(0);
});

test('the parts of the file add up to the file', async ({open}) => {
  const page = await open(fixture('large'), '#about');
  const parts = await rows(page, 'Parts of the file');
  const scale = {B: 1, KB: 1e3, MB: 1e6};
  const bytes = parts.map(([, size]) => Number(size.split(' ')[0]) * scale[size.split(' ')[1]]);
  const file = statSync(fixture('large')).size;
  const sum = bytes.reduce((total, each) => total + each, 0);
  // Three digits of each, and the markup around them.
  expect(Math.abs(sum - file)).toBeLessThan(file * 0.01 + 2000);
  expect(bytes).toEqual([...bytes].sort((a, b) => b - a));
  expect(parts.map(([name]) => name).sort()).toEqual(
      ['Functions', 'Index: names, totals, overview', 'Script of the page', 'Sources with their measurements', 'Style of the page']);
});

test('the command can be copied as a shell takes it', async ({open, context}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await open(fixture('small'), '#about');
  await fact(page, 'Command').getByRole('button', {name: 'Copy'}).click();
  await expect(fact(page, 'Command').getByRole('button', {name: 'Copied'})).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('simulate.py --orders 20000');
});

test('limits are told where they were met', async ({open}) => {
  let page = await open(fixture('small'), '#about');
  await expect(page.locator('.limits')).toContainText('1 file without source: cost.py.');
  await expect(page.locator('.limits')).toContainText('The timeline has steps of 67.9 ms');
  await expect(page.locator('.limits')).not.toContainText('cut off');
  await expect(page.locator('.limits')).not.toContainText('missed');
  page = await open(fixture('interrupted'), '#about');
  await page.reload();
  await expect(page.locator('.limits')).toContainText('The run was cut off');
  await expect(page.locator('main')).toContainText('The run was cut off before its ticks were counted.');
});

test('whether the file can connect', async ({open}) => {
  let page = await open(fixture('small'), '#about');
  await expect(page.locator('.contents')).toContainText('forbids every connection until a model server is chosen');
  page = await open(fixture('closed'), '#about');
  await page.reload();
  await expect(page.locator('.contents')).toContainText('written with --no-ai: its policy forbids every connection');
});

test('precision follows the number of samples', async ({open}) => {
  const page = await open(fixture('small'), '#about');
  // 1.96 standard errors of a tenth of 20,356 samples.
  await expect(fact(page, 'Precision')).toContainText('±0.41 points');
});

test('axe finds nothing', async ({page, open}) => {
  for (const width of [1440, 390]) {
    await page.setViewportSize({width, height: 900});
    await page.goto('about:blank');
    await open(fixture('interrupted'), '#about');
    const {violations, faint} = await axeFindings(page);
    expect(violations).toEqual([]);
    expect(faint).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
  }
});
