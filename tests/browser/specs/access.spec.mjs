// axe-core on every view, in both themes and at two widths; forced colours and reduced motion.
import {axeFindings, expect, fixture, test} from '../support/page.mjs';

const VIEWS = [
  ['small', ''], ['failed', ''], ['interrupted', ''], ['unsampled', ''], ['small', '#files'], ['small', '#functions'],
  ['small', '#about'], ['small', '#f/1/74'], ['expressions', '#f/0/2'], ['small', '#f/0'], ['large', '#f/0/5000'], ['many', '#files'], ['hostile', ''],
  ['stacks', ''], ['stacks', '#flame'], ['stacks', '#processes'], ['stacks', '#overview?time=0.2-0.6&thread=0&states=running'],
];

for (const theme of ['light', 'dark']) {
  for (const width of [1440, 390]) {
    test(`axe finds nothing: ${theme}, ${width} px`, async ({page, open}) => {
      test.setTimeout(180_000);
      await page.emulateMedia({colorScheme: theme});
      await page.setViewportSize({width, height: width === 390 ? 844 : 900});
      for (const [name, hash] of VIEWS) {
        await open(fixture(name), hash);
        await expect(page.locator('html')).toHaveAttribute('data-theme', theme);
        const {violations, faint} = await axeFindings(page);
        expect(violations, `${name}${hash}`).toEqual([]);
        expect(faint, `${name}${hash}, faint text`).toEqual([]);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(wide, `${name}${hash} is wider than the window`).toBeLessThanOrEqual(0);
        await page.goto('about:blank');
      }
    });
  }
}

test('axe finds nothing in the dialogs', async ({open}) => {
  const page = await open(fixture('small'));
  for (const key of ['/', '?']) {
    await page.keyboard.press(key);
    await expect(page.locator('dialog[open]')).toBeVisible();
    expect((await axeFindings(page)).violations).toEqual([]);
    await page.keyboard.press('Escape');
  }
});

test('heat is seen with forced colours', async ({page, open}) => {
  await page.emulateMedia({forcedColors: 'active'});
  await open(fixture('small'), '#f/1/74');
  const strip = await page.locator('.tr.hot').first().evaluate(
      (row) => getComputedStyle(row, '::before').backgroundColor);
  expect(strip).not.toBe('rgba(0, 0, 0, 0)');
});

test('nothing moves with reduced motion', async ({page, open}) => {
  await page.emulateMedia({reducedMotion: 'reduce'});
  await open(fixture('small'));
  const durations = await page.evaluate(() => [...document.querySelectorAll('*')]
      .map((element) => getComputedStyle(element).transitionDuration)
      .filter((duration) => duration.split(',').some((each) => parseFloat(each) > 0)));
  expect(durations).toEqual([]);
});
