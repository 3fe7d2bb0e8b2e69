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

// Violations as "rule: element" lines. Where axe cannot tell the ground of a text (a pseudo element or a
// bar lies between), the contrast is computed here from all that lies under the text.
export async function axeFindings(page) {
  // The page's policy forbids eval; what the protocol evaluates is not a part of the page.
  const client = await page.context().newCDPSession(page);
  await client.send('Runtime.evaluate', {expression: axeSource});
  const result = await page.evaluate(
      (tags) => globalThis.axe.run(document, {runOnly: {type: 'tag', values: tags}}), TAGS);
  const violations = result.violations.flatMap(
      ({id, nodes}) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary}`));
  const undecided = result.incomplete.filter(({id}) => id === 'color-contrast')
      .flatMap(({nodes}) => nodes.map(({target}) => target[0]));
  return {violations, faint: await page.evaluate(faintTexts, undecided)};
}

// Runs in the page: those of the selected elements whose text has less than 4.5:1 on its ground.
function faintTexts(selectors) {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((part, i) => part * a + under[i] * (1 - a));
  const luminance = (color) => color.map((part) => part / 255)
      .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
      .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const out = [];
  for (const selector of selectors) {
    const element = document.querySelector(selector);
    const layers = [];
    for (let at = element; at !== null; at = at.parentElement) {
      const bar = at.querySelector(':scope > .bar');
      if (bar !== null) layers.unshift(rgba(getComputedStyle(bar).backgroundColor));
      layers.unshift(rgba(getComputedStyle(at).backgroundColor));
    }
    const ground = layers.reduce((under, layer) => over(layer, under), [255, 255, 255]);
    const text = over(rgba(getComputedStyle(element).color), ground);
    const [light, dark] = [luminance(text), luminance(ground)].sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) out.push(`${contrast.toFixed(2)}: ${element.outerHTML.slice(0, 120)}`);
  }
  return out;
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
