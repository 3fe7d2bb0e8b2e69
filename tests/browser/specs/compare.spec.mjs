// The Diff column: every cell is what `linescope diff --json` says, and no other report has one.
import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';

import {binary, folder, linescope, profile} from '../support/binary.mjs';
import {axeFindings, expect, fixture, test} from '../support/page.mjs';

const BEFORE = `import time

def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass

def load():
    time.sleep(0.4)

def parse():
    time.sleep(0.2)

def steady():
    time.sleep(0.1)

def warm_up(): time.sleep(0.3)  # "</script>" {{x}}
warm_up()
load()
parse()
steady()
`;
const AFTER = BEFORE.replace(/.*warm_up.*\n/g, '').replace('0.4', '0.1').replace('0.2', '0.7').replace('import time\n', 'import sys\nimport time\n') +
    'time.sleep(0.15)\n';

const UNITS = {ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9, min: 6e10};

// "▲ +1.23 s slower new" as nanoseconds, within the three digits that are shown.
function nanoseconds(text) {
  const match = /([+−]?)([\d.,]+) (ns|µs|ms|s|min)/.exec(text);
  return (match[1] === '−' ? -1 : 1) * Number(match[2].replaceAll(',', '')) * UNITS[match[3]];
}

test.describe('a report that compares two runs', () => {
  test.skip(binary === '', 'LINESCOPE names no binary');
  let report;
  let diff;

  test.beforeAll(() => {
    const at = folder('compare');
    const files = [['before', BEFORE], ['after', AFTER]].map(([name, text]) => {
      mkdirSync(path.join(at, name), {recursive: true});
      const program = path.join(at, name, 'app.py');
      writeFileSync(program, text);
      return profile(program, path.join(at, `${name}.linescope`), '--project-root', path.join(at, name));
    });
    report = path.join(at, 'diff.html');
    linescope('diff', ...files, '-o', report);
    diff = JSON.parse(linescope('diff', ...files, '--json'));
  });

  test('each line has the difference that diff --json has', async ({open}) => {
    const page = await open(report, '#f/0');
    await expect(page.getByRole('columnheader', {name: 'Diff'})).toBeVisible();
    let coloured = 0;
    for (const line of diff.lines.filter((each) => each.new_line !== null)) {
      const cell = page.locator(`[data-row="${line.new_line - 1}"] .td`).nth(2);
      const text = await cell.innerText();
      expect(Math.abs(nanoseconds(text) - line.delta_ns)).toBeLessThanOrEqual(Math.abs(line.delta_ns) * 0.006 + 1);
      expect(text.includes('('), `line ${line.new_line}: ${text}`).toBe(line.noise);
      if (line.noise) continue;
      coloured++;
      await expect(cell).toHaveClass(line.delta_ns > 0 ? /slower/ : /faster/);
      expect(text).toContain(line.delta_ns > 0 ? '▲' : '▼');
      expect(text.includes('new')).toBe(line.match === 'none');
    }
    expect(coloured).toBeGreaterThanOrEqual(3);
  });

  test('functions and files have it, and are sorted by it with unknown ones last', async ({open}) => {
    const page = await open(report, '#functions');
    await page.getByRole('button', {name: 'Diff'}).click();
    const cells = await page.locator('.tbody .tr').evaluateAll((rows) => rows.map((row) => row.children[1].innerText));
    const shown = cells.filter((text) => text !== '–');
    const values = shown.map(nanoseconds);
    expect(values).toEqual([...values].sort((a, b) => b - a));
    expect(cells.slice(0, shown.length)).toEqual(shown);
    expect(shown).toHaveLength(diff.functions.filter((each) => each.new_name !== null).length);
    await page.getByRole('button', {name: 'Diff'}).click();
    const reversed = await page.locator('.tbody .tr').evaluateAll((rows) => rows.map((row) => row.children[1].innerText));
    expect(reversed.slice(shown.length)).toEqual(cells.slice(shown.length));

    await page.goto('about:blank');
    const files = await open(report, '#files');
    const text = await files.locator('.tbody .tr').first().locator('.td').nth(1).innerText();
    expect(Math.abs(nanoseconds(text) - diff.files[0].delta_ns)).toBeLessThanOrEqual(Math.abs(diff.files[0].delta_ns) * 0.006);
  });

  test('the overview says what it is compared with', async ({open}) => {
    const page = await open(report, '#overview');
    await expect(page.locator('.compared')).toContainText('Compared with app.py');
    await expect(page.locator('.compared')).toContainText('times of both runs as they were measured');
  });

  test('the most expensive lines have their differences, and what is gone is listed', async ({open}) => {
    const page = await open(report, '#overview');
    const table = page.getByRole('table', {name: 'Most expensive lines'});
    await expect(table.getByRole('columnheader', {name: 'Diff'})).toBeVisible();
    const rows = await table.locator('.tbody .tr').evaluateAll((all) => all.map((row) => [
      row.children[1].innerText, row.querySelector('.location a').innerText]));
    const known = new Map(diff.lines.filter((each) => each.new_line !== null).map((each) => [`app.py:${each.new_line}`, each]));
    for (const [text, place] of rows) {
      const {delta_ns: delta} = known.get(place);
      expect(Math.abs(nanoseconds(text) - delta)).toBeLessThanOrEqual(Math.abs(delta) * 0.006 + 1);
    }
    expect(rows.length).toBeGreaterThan(3);
    await table.getByRole('button', {name: 'Diff'}).click();
    await expect(table.locator('.tbody .tr').first()).toContainText('sleep(0.7)');

    const gone = diff.lines.filter((each) => each.new_line === null && !each.noise);
    expect(gone.length).toBeGreaterThan(0);
    const shown = await page.locator('.gone-lines li').allInnerTexts();
    expect(shown).toHaveLength(gone.length);
    gone.forEach(({base_line: line, base_ns: base}, i) => {
      expect(shown[i]).toContain(`app.py:${line}`);
      expect(shown[i]).toContain('warm_up()');
      expect(Math.abs(nanoseconds(shown[i]) - base)).toBeLessThanOrEqual(base * 0.006 + 1);
    });
  });

  test('axe finds nothing, in both themes and at 390 pixels', async ({page, open}) => {
    test.setTimeout(180_000);
    for (const theme of ['light', 'dark']) {
      await page.emulateMedia({colorScheme: theme});
      for (const width of [1440, 390]) {
        await page.setViewportSize({width, height: 900});
        for (const hash of ['#overview', '#files', '#functions', '#f/0']) {
          await open(report, hash);
          expect(await axeFindings(page), `${hash} in ${theme} at ${width}`).toEqual({violations: [], faint: []});
          await page.goto('about:blank');
        }
      }
    }
  });
});

test('a report of one run has no Diff column', async ({open}) => {
  const page = await open(fixture('small'), '#f/0');
  await expect(page.getByRole('columnheader', {name: 'Diff'})).toHaveCount(0);
});
