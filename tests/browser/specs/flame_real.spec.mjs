// The flame graph of real runs: its table holds the numbers of `linescope stats --json`. Needs LINESCOPE, the binary.
import {execFileSync} from 'node:child_process';
import {mkdirSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {asTable, chart, click, detail, hover, numbers} from '../support/flame.mjs';
import {expect, test} from '../support/page.mjs';

const binary = process.env.LINESCOPE;
const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(here, '../.fixtures/flame');

test.skip(binary === undefined, 'LINESCOPE does not name a binary');
test.setTimeout(180_000);

// Runs a program once; the report, and what `stats` says of the profile.
const runs = new Map();
function run(program, ...options) {
  const name = [program, ...options].join('');
  if (!runs.has(name)) {
    mkdirSync(out, {recursive: true});
    const [html, profile] = ['html', 'linescope'].map((ending) => path.join(out, `${name}.${ending}`));
    execFileSync(binary, ['run', '--display', 'none', '--quiet', ...options, '-o', html, '--profile', profile,
                          path.resolve(here, `../fixtures/programs/${program}.py`)]);
    runs.set(name, {html, stats: JSON.parse(execFileSync(binary, ['stats', profile, '--json'], {maxBuffer: 1 << 28}))});
  }
  return runs.get(name);
}

const UNITS = {ns: 1, µs: 1e3, ms: 1e6, s: 1e9, min: 60e9};

// Nanoseconds of a text with three significant digits; null: a dash.
function parse(text) {
  const match = /^([\d.,]+) (ns|µs|ms|s|min)$/.exec(text);
  return match === null ? null : digits(Number(match[1].replace(/,/g, '')) * UNITS[match[2]]);
}

const digits = (ns) => Number(ns.toPrecision(3));

// Every row of the table, expanded as the keyboard goes down.
async function walk(page) {
  await page.getByRole('treegrid').focus();
  await page.keyboard.press('Home');
  const seen = [];
  const active = page.locator('.flame-table .tr.marked');
  for (let before = ''; ;) {
    if (await active.getAttribute('aria-expanded') === 'false') await page.keyboard.press('ArrowRight');
    const row = await active.evaluate((element) => ({
      at: element.getAttribute('aria-rowindex'), level: Number(element.getAttribute('aria-level')),
      project: element.classList.contains('kind-project'), name: element.querySelector('.name bdi').textContent,
      total: element.children[1].querySelector('.duration').textContent,
      samples: Number(element.children[3].textContent.replace(/,/g, '')), file: element.children[4].textContent,
    }));
    if (row.at === before) return seen;
    before = row.at;
    seen.push(row);
    await page.keyboard.press('ArrowDown');
  }
}

const CALLED = {busy: ['main', 'words'], phases: ['spin', 'contend', 'rest', 'fan_out']};

for (const [program, names] of Object.entries(CALLED)) {
  test(`inclusive times of functions are those of stats: ${program}`, async ({open}) => {
    const {html, stats} = run(program);
    const page = await open(html, '#flame');
    await asTable(page);
    const rows = await walk(page);
    const project = stats.functions.filter((each) => each.in_project && each.total_ns > 0);
    expect(project.map(({name}) => name)).toEqual(expect.arrayContaining(names));
    for (const each of project) {
      // The topmost of each stack: what recurs below it is in it.
      const tops = [];
      const path = [];
      for (const row of rows) {
        path.length = row.level - 1;
        if (row.project && row.name === each.name && !path.includes(each.name)) tops.push(row);
        path.push(row.project ? row.name : '');
      }
      const sum = tops.reduce((all, {total}) => all + parse(total), 0);
      if (tops.length === 1) expect(sum, each.name).toBe(digits(each.total_ns));
      else expect(Math.abs(sum - each.total_ns), each.name).toBeLessThanOrEqual(0.005 * each.total_ns * tops.length);
    }
    const roots = rows.filter(({level}) => level === 1);
    expect(roots.reduce((all, {samples}) => all + samples, 0)).toBeLessThanOrEqual(stats.samples);
  });
}

test('what ran on top is the self time of stats', async ({open}) => {
  const {html, stats} = run('stacks');
  const page = await open(html, '#flame');
  await page.locator('.segments label', {hasText: 'Callers'}).click();
  await asTable(page);
  const tops = await page.locator('.flame-table .tr.kind-project[aria-level="1"]').evaluateAll((all) => Object.fromEntries(
      all.map((row) => [row.querySelector('.name bdi').textContent, row.children[1].querySelector('.duration').textContent])));
  const expected = stats.functions.filter((each) => each.in_project && each.self_ns > 0);
  expect(expected.map(({name}) => name)).toEqual(expect.arrayContaining(['spin', 'fib', 'worker']));
  for (const each of expected) expect(parse(tops[each.name]), each.name).toBe(digits(each.self_ns));
});

test('a thousand frames deep: only what is in sight is drawn, and the bottom can be reached', async ({open}) => {
  const {html} = run('stacks');
  const page = await open(html, '#flame');
  const size = await chart(page).evaluate((element) => ({
    rows: element.scrollHeight / 18, canvas: element.querySelector('canvas').clientHeight, sight: element.clientHeight,
  }));
  expect(size.rows).toBeGreaterThan(1000);
  expect(size.canvas).toBe(size.sight);
  await page.getByRole('searchbox', {name: 'Search functions, files and modules'}).fill('deep');
  await page.keyboard.press('Enter');
  await chart(page).focus();
  await page.mouse.move(5, 5);
  await page.keyboard.press('Enter');
  await page.keyboard.press('End');
  await expect(detail(page)).toHaveText('spin');
  expect(await chart(page).evaluate((element) => element.scrollTop)).toBeGreaterThan(15_000);
  const drawn = await chart(page).locator('canvas').evaluate((canvas) => {
    const copy = new OffscreenCanvas(1, canvas.height).getContext('2d');
    copy.drawImage(canvas, -canvas.width / 2, 0);
    return new Set(new Uint32Array(copy.getImageData(0, 0, 1, canvas.height).data.buffer)).size;
  });
  expect(drawn).toBeGreaterThan(1);
});

test('threads and processes stand apart', async ({open}) => {
  let page = await open(run('stacks').html, '#flame');
  await page.getByLabel('Group').selectOption('thread');
  await asTable(page);
  const names = () => page.locator('.flame-table .tr[aria-level="1"] .name bdi').allInnerTexts();
  expect((await names()).map((name) => name.replace(/ .*/, '')).sort()).toEqual(['MainThread', 'worker']);
  page = await open(run('processes').html, '#flame');
  const {stats} = run('processes');
  await page.getByLabel('Group').selectOption('process');
  await asTable(page);
  const shown = await names();
  const sampled = stats.processes.filter(({samples}) => samples > 0);
  expect(shown.length).toBe(sampled.length);
  for (const {pid} of sampled) expect(shown.some((name) => name.endsWith(`(${pid})`)), `process ${pid}`).toBe(true);
});

test('tasks are drawn as such, above what they run', async ({open}) => {
  const page = await open(run('tasks', '--async').html, '#flame');
  await expect(page.locator('.flame-legend')).toContainText('tasks');
  await page.getByRole('searchbox', {name: 'Search functions, files and modules'}).fill('leaf 1');
  await page.keyboard.press('Enter');
  await page.mouse.move(5, 5);
  await expect(page.locator('.flame-place .tag')).toHaveText('task');
  await chart(page).focus();
  await page.keyboard.press('ArrowDown');
  await expect(detail(page)).toHaveText('leaf');
});

test('by time every lane lies in the run', async ({open}) => {
  const page = await open(run('stacks').html, '#flame');
  await page.locator('.segments label', {hasText: 'By time'}).click();
  await hover(page, 0.5, 1);
  await expect(detail(page)).toHaveText(/^MainThread/);
  const {Total} = await numbers(page);
  expect(parse(Total)).toBeGreaterThan(3e8);
  await click(page, 0.9, 2);
  await expect(page.locator('.crumbs li')).not.toHaveCount(1);
});
