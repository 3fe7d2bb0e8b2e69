// What must hold of any report: fixtures, and those that LINESCOPE_REPORTS names (paths separated by
// colons), written by the binary.
import {readFileSync} from 'node:fs';

import {axeFindings, expect, fixture, test} from '../support/page.mjs';

const given = (process.env.LINESCOPE_REPORTS ?? '').split(':').filter((file) => file !== '');
const files = [fixture('small'), fixture('failed'), ...given];

const INDEX = /<script type="application\/json" id="ls-index">(.*?)<\/script>/s;

for (const file of files) {
  test(`every view and source of ${file} opens`, async ({open}) => {
    test.setTimeout(300_000);
    const index = JSON.parse(INDEX.exec(readFileSync(file, 'utf8'))[1]);
    const sources = index.files.path.map((_, id) => id).slice(0, 40);
    for (const hash of ['#overview', '#files', '#functions', '#flame', '#processes', '#about', ...sources.map((id) => `#f/${id}`)]) {
      const page = await open(file, hash);
      await expect(page.locator('.problem')).toHaveCount(0);
      await page.goto('about:blank');
    }
  });

  test(`the numbers of ${file} are those of its index`, async ({open}) => {
    const index = JSON.parse(INDEX.exec(readFileSync(file, 'utf8'))[1]);
    const {ticks, totals} = index;
    if (ticks.due !== null) expect(ticks.due).toBe(ticks.taken + ticks.missed);
    expect(totals.samples).toBe(totals.project_samples + totals.outside_samples + totals.no_python_samples);
    const page = await open(file, '#files');
    if (index.files.path.length === 0) return;
    await expect(page.getByRole('table')).toHaveAttribute('aria-rowcount', String(index.files.path.length + 1));
    await page.getByRole('button', {name: 'Location'}).click();
    const shown = await page.locator('.tbody .tr').first().locator('.td').allInnerTexts();
    expect(shown[2]).toContain(index.files.label[0]);
    expect(shown[3]).toBe(index.files.samples[0] === null ? '–' : index.files.samples[0].toLocaleString('en-US'));
    expect(shown[0] === '–').toBe(index.files.time[0] === null);
  });

  test(`axe finds nothing in ${file}`, async ({page, open}) => {
    test.setTimeout(180_000);
    for (const theme of ['light', 'dark']) {
      await page.emulateMedia({colorScheme: theme});
      for (const hash of ['#overview', '#files', '#functions', '#flame', '#about', '#f/0']) {
        await open(file, hash);
        expect(await axeFindings(page), `${hash} in ${theme}`).toEqual({violations: [], faint: []});
        await page.goto('about:blank');
      }
    }
  });
}
