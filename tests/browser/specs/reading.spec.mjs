// Reading a source: links to definitions, callers and calls, folds, copying, the bar on selected lines. On a report
// that the binary wrote of fixtures/programs/shapes.
import {existsSync, readFileSync} from 'node:fs';

import {axeFindings, expect, fixture, heading, test} from '../support/page.mjs';

const REPORT = fixture('real/shapes/main');
const INDEX = /<script type="application\/json" id="ls-index">(.*?)<\/script>/s;

test.skip(!existsSync(REPORT), 'needs LINESCOPE: a report written by the binary');

const index = existsSync(REPORT) ? JSON.parse(INDEX.exec(readFileSync(REPORT, 'utf8'))[1]) : null;
const file = (name) => index.files.label.indexOf(name);
const main = () => file('main.py');
const text = readFileSync(new URL('../fixtures/programs/shapes/main.py', import.meta.url), 'utf8').split('\n');
// Number of the first line that holds the text.
const lineOf = (part) => text.findIndex((line) => line.includes(part)) + 1;
const row = (page, line) => page.locator(`.source-table [data-row="${line - 1}"]`);
const links = async (page, line) => (await row(page, line).locator('a.symbol').evaluateAll(
    (all) => all.map((link) => [link.textContent, link.title]))).map(([name, place]) => `${name} ${place.replace(/:\d+$/, '')}`);

test('each name that is certain is its own link, and what is not has none', async ({open}) => {
  const page = await open(REPORT, `#f/${main()}`);
  const expected = {
    'import json': [],
    'import shapes.area as areas': ['shapes __init__.py', 'area area.py'],
    'from shapes import Circle': ['shapes __init__.py', 'Circle kinds.py', 'Square kinds.py', 'biggest area.py'],
    'out.append(Circle(i))': ['Circle kinds.py'],
    'return json.dumps({': [],
    'areas.area_of(shape),': ['areas area.py', 'area_of area.py'],
    '"cold": cold(3),': ['cold main.py'],
    'self.report = Report()': ['Report report.py'],
    'self.shapes = make(count)': ['make main.py'],
    'return self.total()': ['total main.py'],
    'canvas = Canvas()': ['Canvas main.py'],
    'canvas.fill(3000)': ['fill main.py'],
    'key=areas.area_of)': ['areas area.py', 'area_of area.py'],
    'canvas.report.add(describe(': ['add report.py', 'describe main.py'],
    'largest(canvas.shapes)': ['largest area.py'],
  };
  for (const [part, wanted] of Object.entries(expected)) {
    expect(await links(page, lineOf(part)), part).toEqual(wanted);
  }
});

test('a link lands just below the headings, and back restores scroll, order and heat', async ({page, open}) => {
  await page.setViewportSize({width: 1440, height: 420});
  await open(REPORT, `#f/${main()}`);
  const table = page.locator('.source-table');
  await page.getByText('None', {exact: true}).click();
  const top = 20 * lineOf('return self.total()') - 47;
  await table.evaluate((element, to) => { element.scrollTop = to; }, top);
  await page.waitForTimeout(300);
  await row(page, lineOf('return self.total()')).locator('a.symbol').click();
  const lands = async (line) => {
    const head = await page.locator('.source-table .thead').boundingBox();
    const box = await row(page, line).boundingBox();
    expect(Math.abs(box.y - head.y - head.height)).toBeLessThan(2);
  };
  await lands(lineOf('def total(self)'));
  await page.goBack();
  await expect.poll(() => table.evaluate((element) => element.scrollTop)).toBe(top);
  await expect(page.getByRole('radio', {name: 'None'})).toBeChecked();
  // The last definition of a file, too.
  await row(page, lineOf('canvas.report.text')).locator('a.symbol', {hasText: 'text'}).click();
  await expect(page.locator('h1')).toHaveText('report.py');
  const source = readFileSync(new URL('../fixtures/programs/shapes/shapes/report.py', import.meta.url), 'utf8').split('\n');
  await lands(source.findIndex((line) => line.includes('def text')) + 1);
  await heading(page, 'Time').getByRole('button').click();
  await page.goBack();
  await page.goForward();
  await expect(heading(page, 'Time')).toHaveAttribute('aria-sort', 'descending');
});

test('links by keyboard: arrows step through them, Enter follows, Escape goes back to the lines', async ({open}) => {
  const line = lineOf('key=areas.area_of)');
  const page = await open(REPORT, `#f/${main()}/${line}`);
  await page.locator('.source-table').focus();
  await page.keyboard.press('Enter');
  await expect(row(page, line).locator('a.symbol').first()).toBeFocused();
  await page.keyboard.press('ArrowRight');
  await expect(row(page, line).locator('a.symbol').nth(1)).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.locator('.source-table')).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await expect(page.locator('h1')).toHaveText('area.py');
  await page.goBack();
  // One link: Enter follows it at once.
  await page.goto(page.url().replace(/#.*/, `#f/${main()}/${lineOf('canvas = Canvas()')}`));
  await page.locator('.source-table').focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toContain(`#f/${main()}/${lineOf('class Canvas')}`);
});

const cells = (table) => table.locator('tbody tr').evaluateAll(
    (rows) => rows.map((tr) => [...tr.children].map((cell) => cell.textContent.trim())));

test('callers and calls of a function, with the lines of the calls', async ({open}) => {
  const page = await open(REPORT, '#functions');
  await page.getByRole('button', {name: 'Callers and calls of describe'}).click();
  const panel = page.getByRole('region', {name: 'Callers and calls of describe'});
  await expect(panel).toBeFocused();
  const callers = await cells(panel.getByRole('table', {name: 'Callers'}));
  expect(callers).toHaveLength(1);
  expect(callers[0].slice(3)).toEqual(['main', `main.py:${lineOf('canvas.report.add(describe(')}`]);
  expect(callers[0][1]).toBe('100.0%');
  const calls = await cells(panel.getByRole('table', {name: 'Calls'}));
  const named = calls.map(([, , , name, place]) => `${name} ${place}`);
  expect(named[0]).toBe('its own code ');
  expect(named.find((name) => name.startsWith('dumps'))).toBe(`dumps library json/__init__.py main.py:${lineOf('json.dumps({')}`);
  expect(named).toContain(`area_of main.py:${lineOf('areas.area_of(shape),')}`);
  const shares = calls.map(([, share]) => parseFloat(share.replace('<', '')));
  expect(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 100)).toBeLessThan(0.6);
  expect((await axeFindings(page)).violations).toEqual([]);
  // Through its links to the source and back: the panel is still there.
  await panel.getByRole('link', {name: 'area_of'}).click();
  await expect(page.locator('h1')).toHaveText('area.py');
  await page.goBack();
  await expect(panel).toBeVisible();
  await panel.press('Escape');
  await expect(panel).toHaveCount(0);
});

test('callers at a definition in the source, by mouse and by key', async ({open}) => {
  const line = lineOf('def fill(self');
  const page = await open(REPORT, `#f/${main()}`);
  await row(page, line).getByRole('button', {name: 'Callers and calls of Canvas.fill'}).click();
  const panel = page.getByRole('region', {name: 'Callers and calls of Canvas.fill'});
  await expect(panel.getByRole('table', {name: 'Calls'})).toContainText('Canvas.total');
  await panel.getByRole('button', {name: 'Close'}).click();
  await expect(panel).toHaveCount(0);
  await row(page, lineOf('self.shapes = make(count)')).locator('.line-number').click();
  await page.keyboard.press('c');
  await expect(panel).toBeVisible();
  // A function reached through library code says so.
  await row(page, lineOf('def total(self)')).getByRole('button', {name: /Callers and calls/}).click();
  await page.getByRole('region', {name: 'Callers and calls of Canvas.total'}).getByRole('link', {name: 'Canvas.fill'}).click();
  await expect.poll(() => page.url()).toContain(`/${line}`);
});

test('folding keeps whole statements, opens, and says how much is folded', async ({open}) => {
  const page = await open(REPORT, `#f/${main()}`);
  const all = await page.getByRole('table', {name: 'Lines of main.py'}).getAttribute('aria-rowcount');
  expect(Number(all)).toBe(index.files.lines[main()] + 1);
  await page.getByRole('radio', {name: 'Hot lines'}).check({force: true});
  const folds = page.locator('.source-table .fold');
  expect(await folds.count()).toBeGreaterThan(1);
  const shown = await page.locator('.source-table .tbody .tr').evaluateAll((rows) => rows.map(
      (each) => Number(each.dataset.row) + 1));
  const real = shown.filter((line) => line <= index.files.lines[main()]);
  const counts = (await folds.allInnerTexts()).map((words) => Number(/… (\d+) lines/.exec(words)[1]));
  expect(real.length + counts.reduce((sum, count) => sum + count, 0)).toBe(index.files.lines[main()]);
  // The statement of several lines is whole.
  const first = lineOf('return sum(areas.area_of');
  expect(real).toContain(first);
  expect(real).toContain(first + 1);
  expect(real).toContain(lineOf('def total(self)'));
  const before = await folds.count();
  await folds.first().getByRole('button').click();
  await expect(folds).toHaveCount(before - 1);
  // By keyboard, and the choice holds for the next file and for the way back.
  await page.locator('.source-table').focus();
  await page.keyboard.press('z');
  await expect(page.getByRole('radio', {name: 'All'})).toBeChecked();
  await page.keyboard.press('z');
  await expect(page.getByRole('radio', {name: 'Measured functions'})).toBeChecked();
  await row(page, lineOf('canvas = Canvas()')).locator('a.symbol').click();
  await page.goBack();
  await expect(page.getByRole('radio', {name: 'Measured functions'})).toBeChecked();
});

test('an address of a folded line opens its fold', async ({page, open}) => {
  const line = lineOf('total = 0') ;
  await open(REPORT, `#f/${main()}`);
  await page.keyboard.press('z');
  await page.keyboard.press('z');
  await page.goto(page.url().replace(/#.*/, `#f/${main()}/${line}`));
  await expect(row(page, line)).toBeVisible();
});

test('the bar says what is known of a line, in words', async ({open}) => {
  const page = await open(REPORT, `#f/${main()}/${lineOf('self.shapes = make(count)')}`);
  const bar = page.getByRole('region', {name: 'Selected lines'});
  await expect(bar).toContainText(`Line ${lineOf('self.shapes = make(count)')}`);
  await expect(bar).toContainText('in Canvas.fill');
  const hot = lineOf('key=areas.area_of)');
  await row(page, hot).locator('.line-number').click();
  await expect(bar.locator('.confidence')).toHaveText(/^[\d,]+ samples?: [\d.]+% to [\d.]+%/);
  const samples = await row(page, hot).locator('.td').nth(2).innerText();
  await expect(bar.locator('.confidence')).toContainText(`${samples} samples:`);
  await row(page, lineOf('# Nothing here is ever slow.')).locator('.line-number').click();
  await expect(bar).toContainText('no statement');
});

test('copying: statements, ranges, with and without numbers, and a link', async ({page, open}) => {
  const first = lineOf('return json.dumps({');
  await open(REPORT, `#f/${main()}/${first}`);
  const copied = () => page.evaluate(() => new Promise((resolve) => {
    // What was copied comes back by pasting it.
    const area = document.body.appendChild(document.createElement('textarea'));
    area.focus();
    document.execCommand('paste');
    setTimeout(() => { resolve(area.value); area.remove(); }, 50);
  }));
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => {});
  const read = async () => {
    const value = await page.evaluate(() => navigator.clipboard.readText().catch(() => null));
    return value ?? copied();
  };
  await page.keyboard.press('y');
  expect(await read()).toBe(`${text.slice(first - 1, first + 4).join('\n')}\n`);
  await page.keyboard.press('Y');
  expect((await read()).split('\n')[0]).toBe(`${first}  ${text[first - 1]}`);
  await page.keyboard.press('l');
  expect(await read()).toMatch(new RegExp(`#f/${main()}/${first}$`));
  await page.locator('.source-table').focus();
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  await expect(page.getByRole('region', {name: 'Selected lines'})).toContainText(`Lines ${first}–${first + 2}`);
  await page.keyboard.press('y');
  expect(await read()).toBe(`${text.slice(first - 1, first + 2).join('\n')}\n`);
  // What the mouse has selected is copied as lines, without numbers and times.
  await page.evaluate(([from, to]) => {
    const cell = (line) => document.querySelector(`.source-table [data-row="${line - 1}"] .code`);
    getSelection().setBaseAndExtent(cell(from), 0, cell(to), 1);
  }, [first, first + 3]);
  await page.keyboard.press('Control+c');
  expect(await read()).toBe(`${text.slice(first - 1, first + 3).join('\n')}\n`);
});

test('what is searched for is marked in the lines and on the map, also behind a fold', async ({open}) => {
  const page = await open(REPORT, `#f/${main()}`);
  await page.keyboard.press('z');
  await page.keyboard.press('z');
  const find = page.getByRole('textbox', {name: 'Find in this file'});
  await find.fill('total -=');
  await expect(page.locator('.find-count')).toHaveText('1 line');
  await find.press('Enter');
  await expect(row(page, lineOf('total -= 1')).locator('mark')).toHaveText('total -=');
  await page.goBack().catch(() => {});
});

test('the one box: commands of the view, :line of this file, functions', async ({open}) => {
  const page = await open(REPORT, `#f/${main()}`);
  const box = page.getByRole('combobox', {name: 'Go to'});
  await page.keyboard.press('Control+k');
  await box.fill(':30');
  await expect(page.getByRole('option').first()).toContainText('main.py:30');
  await box.press('Enter');
  await expect.poll(() => page.url()).toContain(`#f/${main()}/30`);
  await page.keyboard.press('/');
  await box.fill('hot lines');
  await box.press('Enter');
  await expect(page.getByRole('radio', {name: 'Hot lines'})).toBeChecked();
  await page.keyboard.press('/');
  await box.fill('Circle.area');
  await box.press('Enter');
  await expect(page.locator('h1')).toHaveText('kinds.py');
});

for (const theme of ['light', 'dark']) {
  for (const width of [1440, 390]) {
    test(`axe finds nothing while reading: ${theme}, ${width} px`, async ({page, open}) => {
      test.setTimeout(240_000);
      await page.emulateMedia({colorScheme: theme});
      await page.setViewportSize({width, height: width === 390 ? 844 : 900});
      for (const fold of [0, 2]) {
        await open(REPORT, `#f/${main()}/${lineOf('def fill(self')}`);
        for (let i = 0; i < fold; i++) await page.keyboard.press('z');
        await page.keyboard.press('c');
        await page.getByRole('textbox', {name: 'Find in this file'}).fill('shape');
        await expect(page.locator('.calls-panel table')).toHaveCount(2);
        const {violations, faint} = await axeFindings(page);
        expect(violations).toEqual([]);
        expect(faint).toEqual([]);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(wide).toBeLessThanOrEqual(0);
        await page.goto('about:blank');
      }
    });
  }
}

test('links, folds and hits are seen with forced colours, and on paper all lines are there', async ({page, open}) => {
  await page.emulateMedia({forcedColors: 'active'});
  await open(REPORT, `#f/${main()}`);
  const line = row(page, lineOf('canvas = Canvas()')).locator('a.symbol');
  expect(await line.evaluate((link) => getComputedStyle(link).textDecorationLine)).toBe('underline');
  await page.emulateMedia({forcedColors: 'none', media: 'print'});
  await expect(page.locator('.line-bar')).toBeHidden();
  await expect(row(page, 1)).toBeVisible();
});
