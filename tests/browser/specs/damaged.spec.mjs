import {expect, fixture, test} from '../support/page.mjs';

test('a flipped byte damages its part only, and says which', async ({open}) => {
  const page = await open(fixture('damaged'), '#files');
  const found = {damaged: 0, fine: 0};
  for (const file of [0, 5, 20, 30, 39]) {
    await page.goto(page.url().replace(/#.*/, `#f/${file}`));
    await expect(page.locator('.source-table, .problem')).toBeVisible();
    if (await page.locator('.problem').count() > 0) {
      await expect(page.locator('.problem')).toContainText(/Part 3 of \d+ is damaged/);
      found.damaged++;
    } else {
      found.fine++;
    }
  }
  expect(found.damaged).toBeGreaterThan(0);
  expect(found.fine).toBeGreaterThan(0);
  await page.goto(page.url().replace(/#.*/, '#functions'));
  await expect(page.getByRole('table')).toBeVisible();
});

test('a cut file says how much is there; what is there works', async ({open}) => {
  const page = await open(fixture('cut'));
  await expect(page.getByRole('alert')).toContainText(/This file is incomplete: 2 of \d+ parts are present/);
  await expect(page.locator('.statements')).toBeVisible();
  await page.goto(page.url().replace(/#.*/, '#f/0'));
  await expect(page.locator('.source-table')).toBeVisible();
  await page.goto(page.url().replace(/#.*/, '#f/39'));
  await expect(page.locator('.problem')).toContainText(/Part \d+ of \d+ is (incomplete|missing)/);
});

test('another format is refused with a sentence', async ({open}) => {
  const page = await open(fixture('otherFormat'));
  await expect(page.getByRole('alert')).toContainText('has format 99');
});

test('a source that was not captured says why', async ({open}) => {
  const page = await open(fixture('small'), '#f/0');
  await expect(page.locator('.empty')).toContainText('it was deleted while the program ran');
});
