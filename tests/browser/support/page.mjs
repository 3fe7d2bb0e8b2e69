// Opens a report with the network off, and fails the test for anything that a report must not do:
// ask for something that is not a part of itself, throw, or write to the console.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

import {expect, test as base} from '@playwright/test';

const here = path.dirname(fileURLToPath(import.meta.url));
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export {expect};

export const fixture = (name) => path.resolve(here, `../.fixtures/${name}.html`);

export const test = base.extend({
  // open(file, hash): the page, with its first view drawn.
  open: async ({page, context}, use) => {
    const problems = [];
    await context.setOffline(true);
    page.on('request', (request) => {
      if (!/^(file|data):/.test(request.url())) problems.push(`request: ${request.url()}`);
    });
    page.on('requestfailed', (request) => problems.push(`failed request: ${request.url()}`));
    page.on('pageerror', (error) => problems.push(`error: ${error.stack ?? error}`));
    page.on('console', (message) => problems.push(`console: ${message.text()}`));
    page.on('dialog', (dialog) => {
      problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await use(async (file, hash = '') => {
      await page.goto(pathToFileURL(file).href + hash);
      await expect(page.locator('h1').first()).toBeVisible();
      await expect(page.locator('.loading')).toHaveCount(0);
      return page;
    });
    expect(problems).toEqual([]);
  },
});

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

// Violations, and what axe could not decide, as "rule: element" lines. Not decided are only cells of
// a single sign and text over a bar; their colours are checked in the page's unit tests.
export async function axeFindings(page) {
  // The page's policy forbids eval; a new-document script is not a part of the page.
  const client = await page.context().newCDPSession(page);
  await client.send('Runtime.evaluate', {expression: axeSource});
  const result = await page.evaluate(
      (tags) => globalThis.axe.run(document, {runOnly: {type: 'tag', values: tags}}), TAGS);
  const lines = (items, rules) => items
      .filter(({id}) => rules === null || rules.includes(id))
      .flatMap(({id, nodes}) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary ?? ''}`));
  return {
    violations: lines(result.violations, null),
    undecided: lines(result.incomplete, ['color-contrast'])
        .filter((line) => !/class="(td|duration|share|sort-arrow|count|found|kind)/.test(line)),
  };
}

// Texts of a column of the first table on the page, as shown.
export async function columnTexts(page, title) {
  return page.evaluate((wanted) => {
    const table = document.querySelector('[role=table]');
    const heads = [...table.querySelectorAll('[role=columnheader]')].map((head) => head.textContent.trim());
    const at = heads.indexOf(wanted);
    return [...table.querySelectorAll('.tbody [role=row]')].map((row) => row.children[at].textContent.trim());
  }, title);
}

export const heading = (page, title) => page.getByRole('columnheader', {name: title, exact: true});
