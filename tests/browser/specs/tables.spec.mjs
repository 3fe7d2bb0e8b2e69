import {columnTexts, expect, fixture, heading, test} from '../support/page.mjs';

const b = (await import('../fixtures/reports.mjs')).ties().files.map(({path}) => path).sort().indexOf('/t/b.py');

test('columns of each table, in their order', async ({open}) => {
  const titles = (page) => page.getByRole('columnheader').allInnerTexts();
  let page = await open(fixture('small'), '#files');
  expect(await titles(page)).toEqual(['Time', 'Total', 'Location', 'Samples', 'Kind', 'Lines']);
  page = await open(fixture('small'), '#functions');
  expect(await titles(page)).toEqual(['Time', 'Total', 'Location', 'Samples', 'Source', 'Lines']);
  page = await open(fixture('small'), '#f/1');
  expect((await titles(page)).slice(1)).toEqual(['Time', 'Samples', 'Source']);
  await expect(page.getByRole('columnheader').first().locator('button')).toHaveCount(0);
  page = await open(fixture('small'));
  expect(await titles(page)).toEqual(['Time', 'Location', 'Samples', 'Source']);
});

test('source: sorted both ways, unknown last, ties in line order, Source restores', async ({open}) => {
  const page = await open(fixture('ties'), `#f/${b}`);
  const lines = () => page.locator('.line-number').allInnerTexts();
  const inOrder = Array.from({length: 11}, (_, i) => String(i + 1));
  await expect(heading(page, 'Source')).toHaveAttribute('aria-sort', 'ascending');
  expect(await lines()).toEqual(inOrder);

  await heading(page, 'Time').getByRole('button').click();
  await expect(heading(page, 'Time')).toHaveAttribute('aria-sort', 'descending');
  await expect(heading(page, 'Source')).toHaveAttribute('aria-sort', 'none');
  expect(await lines()).toEqual(['2', '6', '1', '3', '9', '4', '5', '7', '8', '10', '11']);

  await heading(page, 'Time').getByRole('button').click();
  await expect(heading(page, 'Time')).toHaveAttribute('aria-sort', 'ascending');
  expect(await lines()).toEqual(['9', '1', '3', '2', '6', '4', '5', '7', '8', '10', '11']);

  // A measured 0 sorts before 1; lines of no statement (4, 8) have no value and come last.
  await heading(page, 'Samples').getByRole('button').click();
  await heading(page, 'Samples').getByRole('button').click();
  expect(await lines()).toEqual(['5', '7', '10', '11', '9', '1', '3', '2', '6', '4', '8']);

  await heading(page, 'Source').getByRole('button').click();
  expect(await lines()).toEqual(inOrder);
  await heading(page, 'Source').getByRole('button').click();
  expect(await lines()).toEqual([...inOrder].reverse());
});

test('every column of Files sorts both ways with the unknown last', async ({open}) => {
  const page = await open(fixture('ties'), '#files');
  expect(await columnTexts(page, 'Location')).toEqual(['b.py', 'a.py', 'd.py', 'c.py', 'e.py']);
  const expected = {
    Time: [['a.py', 'd.py', 'b.py', 'c.py', 'e.py'], ['b.py', 'a.py', 'd.py', 'c.py', 'e.py']],
    Location: [['a.py', 'b.py', 'c.py', 'd.py', 'e.py'], ['e.py', 'd.py', 'c.py', 'b.py', 'a.py']],
    Samples: [['b.py', 'a.py', 'd.py', 'c.py', 'e.py'], ['c.py', 'e.py', 'a.py', 'd.py', 'b.py']],
    Kind: [['a.py', 'b.py', 'c.py', 'd.py', 'e.py'], ['a.py', 'b.py', 'c.py', 'd.py', 'e.py']],
    Lines: [['a.py', 'b.py', 'c.py', 'd.py', 'e.py'], ['a.py', 'b.py', 'c.py', 'd.py', 'e.py']],
  };
  for (const [title, orders] of Object.entries(expected)) {
    for (const order of orders) {
      await heading(page, title).getByRole('button').click();
      expect(await columnTexts(page, 'Location'), title).toEqual(order);
    }
  }
  expect((await columnTexts(page, 'Lines'))[4]).toBe('–');
});

test('functions by name, place and time', async ({open}) => {
  const page = await open(fixture('small'), '#functions');
  expect((await columnTexts(page, 'Source')).slice(0, 3)).toEqual(['distance', 'Simulation.choose', 'Simulation.route']);
  await heading(page, 'Location').getByRole('button').click();
  expect((await columnTexts(page, 'Location')).slice(0, 3)).toEqual(['simulate.py:16', 'simulate.py:22', 'simulate.py:25']);
  await heading(page, 'Source').getByRole('button').click();
  const names = await columnTexts(page, 'Source');
  expect(names).toEqual([...names].sort(new Intl.Collator('en', {numeric: true}).compare));
  const row = page.getByRole('row').filter({hasText: 'Simulation.route'});
  await expect(row).toContainText('4.68 s23.0%8.40 s');
  await row.getByRole('link').first().click();
  await expect(page.locator('.tbody')).toContainText('def route(self, lines, start):');
  await expect(page).toHaveURL(/#f\/1\/69$/);
});

test('heat map: defaults, scale, independence from sorting', async ({open}) => {
  const page = await open(fixture('small'), '#files');
  const hot = page.locator('.tr.hot');
  await expect(page.getByRole('radio', {name: 'None'})).toBeChecked();
  await expect(hot).toHaveCount(0);
  await page.locator('.segments label', {hasText: 'Time'}).click();
  await expect(hot).toHaveCount(5);
  await page.goto(page.url().replace(/#.*/, '#f/1'));
  await expect(page.getByRole('radio', {name: 'Time'})).toBeChecked();
  const heatOf = async (line) => page.locator('.source-table .tr').filter({has: page.locator('.line-number', {hasText: new RegExp(`^${line}$`)})})
      .evaluate((row) => row.style.getPropertyValue('--h'));
  expect(Number(await heatOf(74))).toBe(1);
  expect(Number(await heatOf(75))).toBeCloseTo(1 + Math.log10(402 / 4080) / 3, 2);
  expect(await heatOf(71)).toBe('');
  await heading(page, 'Samples').getByRole('button').click();
  expect(Number(await heatOf(74))).toBe(1);
  await page.keyboard.press('h');
  await expect(hot).toHaveCount(0);
});

test('dashes, zeros and blank lines are told apart', async ({open}) => {
  const page = await open(fixture('small'), '#f/1');
  const cells = async (line) => (await page.locator('.source-table .tr').filter({has: page.locator('.line-number', {hasText: new RegExp(`^${line}$`)})})
      .locator('.td').allInnerTexts()).slice(0, 3);
  expect(await cells(74)).toEqual(['74', '4.08 s20.0%', '4,080']);
  expect(await cells(71)).toEqual(['71', '–', '0']);
  expect(await cells(68)).toEqual(['68', '', '']);
});

test('filters, and their empty state', async ({open}) => {
  const page = await open(fixture('many'), '#files');
  await page.getByRole('searchbox', {name: 'Filter files'}).fill('module_77.py');
  expect(await columnTexts(page, 'Location')).toEqual(['module_77.py']);
  await page.getByRole('searchbox', {name: 'Filter files'}).fill('nothing here');
  await expect(page.locator('.empty')).toContainText('No file matches “nothing here”.');
  await page.getByRole('button', {name: 'Clear filter'}).click();
  await expect(page.getByRole('table')).toHaveAttribute('aria-rowcount', '1501');
});
