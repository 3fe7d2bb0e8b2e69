import {expect, fixture, heading, test} from '../support/page.mjs';

const scrollTop = (page, selector) => page.locator(selector).evaluate((element) => element.scrollTop);

test('every view has its own address', async ({open}) => {
  const titles = {'#overview': 'Overview', '#files': 'Files', '#functions': 'Functions', '#about': 'About this report',
                  '#f/1/74': 'simulate.py', '#f/999': 'No such file', '#nonsense': 'Overview'};
  for (const [hash, title] of Object.entries(titles)) {
    const page = await open(fixture('small'), hash);
    await expect(page.locator('h1')).toHaveText(title);
    await page.goto('about:blank');
  }
});

test('back and forward restore order and scroll position', async ({open}) => {
  const page = await open(fixture('many'), '#files');
  await heading(page, 'Samples').getByRole('button').click();
  await page.locator('.scroller').evaluate((element) => { element.scrollTop = 9000; });
  await page.waitForTimeout(300);
  const first = await page.locator('.tbody .tr a').nth(20).innerText();
  await page.locator('.tbody .tr a').nth(20).click();
  await expect(page.locator('h1')).toHaveText(first.split('/').pop());
  await page.goBack();
  await expect(page.locator('h1')).toHaveText('Files');
  await expect(heading(page, 'Samples')).toHaveAttribute('aria-sort', 'descending');
  expect(await scrollTop(page, '.scroller')).toBe(9000);
  await page.goForward();
  await expect(page.locator('h1')).toHaveText(first.split('/').pop());
  await page.goBack();
  expect(await scrollTop(page, '.scroller')).toBe(9000);
});

test('a line lands just below the headings, also near the end of a file', async ({open}) => {
  for (const line of [50_000, 99_999, 3]) {
    const page = await open(fixture('large'), `#f/0/${line}`);
    const head = await page.locator('.thead').boundingBox();
    const row = await page.locator(`[data-row="${line - 1}"]`).boundingBox();
    expect(Math.abs(row.y - (head.y + head.height))).toBeLessThan(2);
    await page.goto('about:blank');
  }
});

test('the source by keyboard: rows, pages, ends, hot lines, and the address follows', async ({open}) => {
  const page = await open(fixture('large'), '#f/0');
  const table = page.locator('.scroller');
  await table.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('j');
  await expect.poll(() => page.url()).toMatch(/#f\/0\/2$/);
  await page.keyboard.press('End');
  await expect.poll(() => page.url()).toMatch(/#f\/0\/100000$/);
  await expect(page.locator('[data-row="99999"]')).toBeVisible();
  await page.keyboard.press('Home');
  await page.keyboard.press('n');
  await expect(page.locator('[role=status].sr-only')).toContainText(/^Line \d+, time .* samples/);
  await expect(page.locator('.active-row')).toBeVisible();
  const down = Number(/\d+$/.exec(page.url())[0]);
  expect(down).toBeGreaterThan(0);
});

test('index tables by keyboard: Enter opens the row', async ({open}) => {
  const page = await open(fixture('small'), '#files');
  await page.locator('.scroller').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.locator('h1')).toHaveText('layout.py');
});

test('go to: file, function, file:line, command; focus comes back', async ({open}) => {
  const page = await open(fixture('small'));
  const go = async (text) => {
    await page.keyboard.press('/');
    await page.getByRole('combobox', {name: 'Go to'}).fill(text);
    await page.keyboard.press('Enter');
    await expect(page.locator('dialog[open]')).toHaveCount(0);
  };
  await go('layout.py:34');
  await expect(page).toHaveURL(/#f\/3\/34$/);
  await go('group_by');
  await expect(page.locator('h1')).toHaveText('orders.py');
  await go('functions');
  await expect(page.locator('h1')).toHaveText('Functions');
  await go('theme dark');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', {name: 'Go to'}).fill('zzzz');
  await expect(page.locator('dialog[open]')).toContainText('Nothing matches');
  await page.keyboard.press('Escape');
  await expect(page.locator('dialog[open]')).toHaveCount(0);
});

test('single keys: views, help, theme, history; none of them in a text field', async ({open}) => {
  const page = await open(fixture('small'));
  for (const [letter, title] of [['f', 'Files'], ['u', 'Functions'], ['a', 'About this report'], ['o', 'Overview']]) {
    await page.keyboard.press('g');
    await page.keyboard.press(letter);
    await expect(page.locator('h1')).toHaveText(title);
  }
  await page.keyboard.press('[');
  await expect(page.locator('h1')).toHaveText('About this report');
  await page.keyboard.press(']');
  await expect(page.locator('h1')).toHaveText('Overview');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', {name: 'Keyboard shortcuts'})).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('dialog[open]')).toHaveCount(0);
  const themes = [];
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press('t');
    themes.push(await page.locator('html').getAttribute('data-theme'));
  }
  expect(themes).toEqual(['light', 'dark', 'light']);
  await page.getByRole('searchbox', {name: 'Filter the file tree'}).fill('');
  await page.keyboard.type('?ght/');
  await expect(page.locator('dialog[open]')).toHaveCount(0);
  await expect(page.getByRole('searchbox', {name: 'Filter the file tree'})).toHaveValue('?ght/');
});

test('the theme is remembered', async ({open}) => {
  let page = await open(fixture('small'));
  await page.getByRole('button', {name: /^Theme/}).click();
  await page.getByRole('button', {name: /^Theme/}).click();
  page = await open(fixture('small'), '#files');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test('the file tree: fold, filter, open by keyboard', async ({open}) => {
  const page = await open(fixture('small'));
  const tree = page.getByRole('tree');
  await expect(page.getByRole('treeitem')).toHaveCount(8);
  await tree.focus();
  await page.keyboard.press('ArrowLeft');
  await expect(page.getByRole('treeitem', {name: 'plugins'})).toHaveAttribute('aria-expanded', 'false');
  await expect(page.getByRole('treeitem')).toHaveCount(7);
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await expect(page.locator('h1')).toHaveText('simulate.py');
  await expect(page.getByRole('treeitem', {name: 'simulate.py'})).toHaveAttribute('aria-selected', 'true');
  await page.getByRole('searchbox', {name: 'Filter the file tree'}).fill('layo');
  await expect(page.getByRole('treeitem')).toHaveCount(1);
});

test('Tab reaches everything and leaves again', async ({open}) => {
  const page = await open(fixture('small'), '#files');
  const seen = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate(() => document.activeElement === document.body ? 'body' :
        `${document.activeElement.tagName} ${document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent}`);
    if (name === 'body') break;
    seen.push(name);
  }
  for (const part of ['Skip to content', 'Overview', 'Keyboard shortcuts', 'Theme', 'Total', 'layout.py']) {
    expect(seen.join('\n')).toContain(part);
  }
  expect(seen.length).toBeLessThan(60);
});
