// A part of the run, on a report of a real program with phases, threads and children: every number is
// what SQL on its profile says.
import {existsSync, readFileSync, writeFileSync} from 'node:fs';

import {axeFindings, expect, fixture, test} from '../support/page.mjs';
import {ask, timeText} from '../support/profile.mjs';

const REPORT = fixture('real/phases');
const PROFILE = REPORT.replace(/html$/, 'linescope');
const STATES_OF = {
  running: ['running', 'running with gil', 'running without gil'], gil: ['gil wait'],
  waiting: ['waiting', 'waiting with gil'],
};

test.skip(!existsSync(REPORT), 'needs LINESCOPE, which writes the report');

// Of the URL, as nanoseconds and ids.
function partOf(page) {
  const params = new URLSearchParams(new URL(page.url()).hash.split('?')[1] ?? '');
  const number = (name) => params.has(name) ? Number(params.get(name)) : null;
  return {
    range: params.get('time')?.split('-').map((each) => Math.round(Number(each) * 1e9)) ?? null,
    process: number('process'), thread: number('thread'),
    states: params.get('states')?.split(',').flatMap((group) => STATES_OF[group]) ?? null,
  };
}

const digits = (text) => Number(text.replaceAll(',', ''));

async function rowsOf(page, table = '[role=table]') {
  return page.locator(`${table} .tbody [role=row]`).evaluateAll((rows) => rows.map((row) => (
    [...row.children].map((cell) => cell.querySelector('.duration')?.textContent ?? cell.innerText.trim()))));
}

// Looks at Overview, Files, Functions and the source, and compares each cell.
async function expectEverywhere(page, part) {
  const truth = ask(PROFILE, part);
  await page.locator('.views').getByRole('link', {name: 'Overview'}).click();
  await expect(page.locator('.filter-bar .amount')).toContainText(timeText(truth.all[0] ?? 0));
  const more = page.getByRole('button', {name: /^Show all \d+ lines/});
  if (await more.count() > 0) await more.click();
  await expect(page.locator('.statements pre').first()).toBeVisible();
  const hot = await rowsOf(page, '.statements');
  const expected = [...truth.lines].filter(([, [time]]) => time > 0).map(([place, values]) => [place.split('/').at(-1), ...values]);
  expect(hot.map(([time, place, samples]) => [time, place.split('\n')[0], digits(samples)]).sort())
      .toEqual(expected.map(([place, time, samples]) => [timeText(time), place, samples]).sort());

  await page.locator('.views').getByRole('link', {name: /^Files/}).click();
  for (const [time, total, place, samples] of await rowsOf(page)) {
    const key = [...truth.fileTotals.keys()].find((path) => path.endsWith(`/${place}`));
    const [wall, count] = truth.files.get(key) ?? [null, 0];
    expect([time, total, digits(samples)], place).toEqual(
        [timeText(wall), timeText(truth.fileTotals.get(key)?.[0]), count]);
  }

  await page.locator('.views').getByRole('link', {name: /^Functions/}).click();
  await expect(page.locator('[role=table]')).toBeVisible();
  const functions = await rowsOf(page);
  expect(functions.length).toBeGreaterThan(6);
  for (const [time, total, , samples, name] of functions) {
    const [wall, count] = truth.functions.get(name) ?? [null, 0];
    expect([time, total, digits(samples)], name).toEqual(
        [timeText(wall), timeText(truth.functionTotals.get(name)?.[0]), count]);
  }

  await page.locator('.rail [role=treeitem]').first().click();
  await expect(page.locator('.source-table')).toBeVisible();
  for (const [line, time, samples] of await rowsOf(page, '.source-table')) {
    if (samples === '') continue;
    const key = [...truth.lines.keys()].find((place) => place.endsWith(`phases.py:${line}`));
    const [wall, count] = truth.lines.get(key) ?? [null, 0];
    expect([time, digits(samples)], `line ${line}`).toEqual([timeText(wall), count]);
  }
  await page.locator('.views').getByRole('link', {name: 'Overview'}).click();
}

test('without a selection the page says what SQL says', async ({open}) => {
  const page = await open(REPORT);
  await expect(page.locator('.filter-bar')).toHaveCount(0);
  const truth = ask(PROFILE);
  const [[, [wall, count]]] = truth.files;
  await page.locator('.views').getByRole('link', {name: /^Files/}).click();
  const [[time, total, , samples]] = await rowsOf(page);
  expect([time, total, digits(samples)]).toEqual([timeText(wall), timeText([...truth.fileTotals.values()][0][0]), count]);
});

test('a range dragged on the timeline', async ({open}) => {
  const page = await open(REPORT);
  const chart = page.locator('.chart');
  const box = await chart.boundingBox();
  const x = (part) => box.x + 40 + part * (box.width - 52);
  await page.mouse.move(x(0.42), box.y + 70);
  await page.mouse.down();
  await page.mouse.move(x(0.5), box.y + 60);
  await page.mouse.move(x(0.61), box.y + 60);
  await expect(page.locator('.reading')).toContainText('shows only this');
  await page.mouse.up();
  await expect(page).toHaveURL(/#overview\?time=[\d.]+-[\d.]+$/);
  const part = partOf(page);
  const {width} = ask(PROFILE);
  expect(part.range[0] % width).toBe(0);
  expect(part.range[1] % width).toBe(0);
  await expect(page.locator('.filter-bar')).toContainText('in steps of 100 ms');
  await expectEverywhere(page, part);
  await page.keyboard.press('Escape');
  await expect(page.locator('.filter-bar')).toHaveCount(0);
  await page.goBack();
  await expect(page.locator('.filter-bar')).toHaveCount(1);
  expect(partOf(page)).toEqual(part);
});

test('a range by keyboard', async ({open}) => {
  const page = await open(REPORT);
  const slider = page.getByRole('slider', {name: 'Timeline of the run'});
  await slider.focus();
  await page.keyboard.press('Home');
  for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowRight');
  for (let i = 0; i < 3; i++) await page.keyboard.press('Shift+ArrowRight');
  await expect(slider).toHaveAttribute('aria-valuetext', /selected \d\.\d s to \d\.\d s$/);
  await expect(page.locator('.filter-bar')).toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect(page.locator('.filter-bar')).toBeVisible();
  const {range} = partOf(page);
  expect(range[1] - range[0]).toBe(4 * ask(PROFILE).width);
  await expectEverywhere(page, {range});
  // First Escape: what is pointed at, then the selection.
  await slider.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Escape');
  await expect(page.locator('.filter-bar')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('.filter-bar')).toHaveCount(0);
});

test('threads and processes by a button, with their shares', async ({open}) => {
  const page = await open(REPORT, '#processes');
  const truth = ask(PROFILE);
  for (const [id, , tid, name] of truth.threads) {
    const row = page.locator('tr.of-thread').filter({has: page.getByText(String(tid), {exact: true})});
    const cells = await row.locator('td').allInnerTexts();
    const [wall, count, cpu] = truth.byThread.get(String(id));
    expect(cells[1].split(/\s+(?=[\d.]+%$)/), name).toEqual([timeText(wall), `${(100 * wall / truth.all[0]).toFixed(1)}%`]);
    expect(cells[2]).toBe(timeText(cpu));
    expect(digits(cells.at(-2))).toBe(count);
  }
  const helper = truth.threads.find(([, , , name]) => name === 'helper 1');
  await page.getByRole('button', {name: 'Only thread helper 1'}).click();
  expect(partOf(page).thread).toBe(helper[0]);
  await expect(page.getByRole('button', {name: 'Only thread helper 1'})).toHaveAttribute('aria-pressed', 'true');
  await expectEverywhere(page, {thread: helper[0]});

  await page.locator('.views').getByRole('link', {name: /^Processes/}).click();
  const child = truth.threads.find(([, process]) => process !== truth.threads[0][1]);
  const pid = truth.processes.find(([id]) => id === child[1])[1];
  await page.getByRole('button', {name: `Only process ${pid}`}).click();
  expect(partOf(page)).toEqual({range: null, process: child[1], thread: null, states: null});
  await expectEverywhere(page, {process: child[1]});
});

test('states by the colours of the timeline, together with a range and a thread', async ({open}) => {
  const page = await open(REPORT);
  await page.locator('.keys-of-chart').getByRole('button', {name: 'running'}).click();
  await expect(page).toHaveURL(/states=running$/);
  await expectEverywhere(page, {states: STATES_OF.running});
  await page.locator('.keys-of-chart').getByRole('button', {name: 'waiting', exact: true}).click();
  await page.locator('.lane-name').first().click();
  const part = partOf(page);
  expect(part.thread).not.toBeNull();
  expect(part.states).toEqual([...STATES_OF.running, ...STATES_OF.waiting]);
  await expectEverywhere(page, part);
});

test('a link opens with its selection; Back and Forward walk through selections', async ({open}) => {
  const page = await open(REPORT, '#functions?time=1-2');
  await expect(page.locator('.filter-bar')).toContainText('Time 1.0 s to 2.0 s');
  await page.getByRole('button', {name: 'Any time'}).click();
  await expect(page).toHaveURL(/#functions$/);
  await page.getByRole('columnheader', {name: 'Samples'}).getByRole('button').click();
  await page.locator('.views').getByRole('link', {name: /^Processes/}).click();
  await page.getByRole('button', {name: /^Only process/}).first().click();
  await page.goBack();
  await page.goBack();
  await expect(page.locator('h1')).toHaveText('Functions');
  await expect(page.locator('.filter-bar')).toHaveCount(0);
  await expect(page.getByRole('columnheader', {name: 'Samples'})).toHaveAttribute('aria-sort', 'descending');
  await page.goBack();
  await expect(page.locator('.filter-bar')).toContainText('Time 1.0 s to 2.0 s');
  await page.goForward();
  await page.goForward();
  await page.goForward();
  await expect(page).toHaveURL(/#processes\?process=\d+$/);
  await expect(page.locator('tr.chosen')).toHaveCount(1);
});

test('a selection that cannot be is shown as one, and can be left', async ({open}) => {
  const page = await open(REPORT, '#files?thread=9999');
  await expect(page.locator('.filter-bar')).toContainText('9999, which this report has not');
  await expect(page.locator('.filter-bar')).toContainText('0 samples');
  await page.getByRole('button', {name: /^Show all/}).click();
  await expect(page).toHaveURL(/#files$/);
});

test('zoom by keys and buttons', async ({open}) => {
  const page = await open(REPORT);
  const whole = page.getByRole('button', {name: 'Whole run'});
  const drawn = () => page.locator('.chart canvas').evaluate((canvas) => canvas.toDataURL());
  const before = await drawn();
  await page.getByRole('slider').focus();
  await page.keyboard.press('+');
  await expect(whole).toBeVisible();
  await expect.poll(drawn).not.toBe(before);
  await page.keyboard.press('0');
  await expect(whole).toHaveCount(0);
  await expect.poll(drawn).toBe(before);
  await page.getByRole('button', {name: 'Zoom in'}).click();
  await page.getByRole('button', {name: 'Zoom out'}).click();
  await expect(whole).toHaveCount(0);
});

test('damaged samples: a selection says so, the whole run is shown', async ({open}) => {
  const html = readFileSync(REPORT, 'utf8');
  const {samples} = JSON.parse(/id="ls-index">(.*?)<\/script>/s.exec(html)[1]).chunks;
  const chunk = html.indexOf(`id="ls-c${samples[0]}"`);
  const at = chunk + html.slice(chunk).indexOf('>') + 200;
  const damaged = fixture('real/phases-damaged');
  writeFileSync(damaged, html.slice(0, at) + (html[at] === 'A' ? 'B' : 'A') + html.slice(at + 1));
  const page = await open(damaged, '#files?thread=0');
  await expect(page.locator('main [role=alert]')).toContainText(`Part ${samples[0] + 1} of`);
  await page.keyboard.press('Escape');
  await expect(page.locator('h1')).toHaveText('Files');
  expect((await rowsOf(page)).length).toBeGreaterThan(0);
});

for (const colorScheme of ['light', 'dark']) {
  for (const width of [1440, 390]) {
    test(`no accessibility findings with a selection: ${colorScheme}, ${width} px`, async ({open, page}) => {
      test.setTimeout(180_000);
      await page.setViewportSize({width, height: 900});
      await page.emulateMedia({colorScheme});
      for (const hash of ['#overview?time=1-2&thread=0&states=running', '#processes', '#processes?process=0',
                          '#functions?time=0-2']) {
        await open(REPORT, hash);
        expect(await axeFindings(page), hash).toEqual({violations: [], faint: []});
      }
    });
  }
}
