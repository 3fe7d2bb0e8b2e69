// Where the time of a line went within it.
import {axeFindings, expect, fixture, test} from '../support/page.mjs';

const underlined = (page, line) => page.locator(`[data-row="${line - 1}"] .expression`);
const share = (page, line) => page.locator(`[data-row="${line - 1}"] .expression-share`);

test('the hottest expression is underlined beside tabs and wide characters', async ({open}) => {
  const page = await open(fixture('expressions'), '#f/0');
  await expect(underlined(page, 2)).toHaveText('täglich(x)');
  await expect(share(page, 2)).toHaveText('75.0%');
  await expect(share(page, 2)).toHaveAttribute('title', /täglich\(x\) 75\.0%, naïve\("😀", x\) 20\.0%/);
  // One that goes on is underlined to the end of its first line.
  await expect(underlined(page, 3)).toHaveText('great(');
  await expect(underlined(page, 6)).toHaveText('"<b>" + café(1)');
  // Four samples tell nothing; lines without columns have none.
  await expect(page.locator('.expression')).toHaveCount(3);
  const text = await page.locator('[data-row="1"] .td.code').evaluate(
      (cell) => [...cell.childNodes].filter((node) => node.nodeName !== 'BUTTON').map((node) => node.textContent).join(''));
  expect(text).toBe('\tπ = naïve("😀", x) + täglich(x)');
});

test('an expression that is the whole line is not underlined', async ({open}) => {
  const page = await open(fixture('small'), '#f/1');
  const row = page.locator('.tr', {hasText: 'left.remove(nearest)'});
  await expect(row.locator('.expression')).toHaveCount(0);
  await expect(page.locator('.tr', {hasText: 'nearest = min(left'}).locator('.expression-share')).toHaveText('60.0%');
});

test('by mouse and by keyboard the line\'s expressions are listed with what is not known', async ({open}) => {
  const page = await open(fixture('expressions'), '#f/0/2');
  const dialog = page.getByRole('dialog', {name: 'Expressions of the line'});
  const rows = async () => (await dialog.locator('tbody tr').allInnerTexts()).map((row) => row.split('\t'));
  await share(page, 2).click();
  await expect(dialog.getByRole('heading')).toHaveText('Time within work.py:2');
  expect(await rows()).toEqual([['75.0%', '75.0 ms', '75', 'täglich(x)'], ['20.0%', '20.0 ms', '20', 'naïve("😀", x)'],
                                ['5.0%', '5.00 ms', '5', 'of which the expression is not known']]);
  expect((await axeFindings(page)).violations).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await page.locator('.source-table').focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('[role=status]', {hasText: 'Within it: great( … 90.0%. Press e for the list'})).toHaveCount(1);
  await page.keyboard.press('e');
  await expect(dialog.getByRole('heading')).toHaveText('Time within work.py:3');
  expect((await rows())[0]).toEqual(['90.0%', '36.0 ms', '36', 'great( …']);
});

test('a line without expressions says so', async ({open}) => {
  const page = await open(fixture('expressions'), '#f/0/5');
  await page.keyboard.press('e');
  await expect(page.getByText('No expressions are known on this line')).toHaveCount(1);
  await expect(page.getByRole('dialog')).toBeHidden();
});
