// Text from the target is text, whatever it looks like.
import {hostile, HOSTILE_NAME} from '../fixtures/reports.mjs';
import {expect, fixture, test} from '../support/page.mjs';

const index = hostile().files.map(({path}) => path).sort().findIndex((path) => path.includes(HOSTILE_NAME));

test('nothing becomes markup in any view', async ({open}) => {
  for (const hash of ['', '#files', '#functions', '#about', `#f/${index}`]) {
    const page = await open(fixture('hostile'), hash);
    for (const tag of ['img', 'marquee', 'svg[onload]', 'b', 'u', 'i:not(.ramp i)', 'main h1 ~ h1']) {
      await expect(page.locator(`#app ${tag}`), `${tag} in ${hash}`).toHaveCount(0);
    }
    expect(await page.evaluate(() => document.scripts.length)).toBeLessThan(12);
    expect(await page.title()).not.toBe('owned');
    await page.goto('about:blank');
  }
});

test('source text is shown as it is, with hidden characters named', async ({open}) => {
  const page = await open(fixture('hostile'), `#f/${index}`);
  await expect(page.locator('h1')).toHaveText(HOSTILE_NAME);
  const code = await page.locator('.td.code').allInnerTexts();
  expect(code[0]).toBe('evil = "</script><script>document.title=\'owned\'</script>"');
  expect(code[1]).toBe("other = '<!-- <svg onload=alert(1)> -->'");
  expect(code[2]).toBe('access = "userU+202E U+2066# check if adminU+2069 U+2066"');
  expect(code[3]).toBe('nul = "␀␇U+2028U+2029"');
  expect(code[4]).toContain('"😀 é 你好" + "𝒳"  # after wide characters');
  await expect(page.locator('[data-row="4"] .tok-comment')).toHaveText('# after wide characters');
  expect(code[6]).toContain('more characters');
  expect(code[7]).toBe('zeroU+200Bwidth = 1');
});

test('titles and messages', async ({open}) => {
  const page = await open(fixture('hostile'));
  await expect(page.locator('.run-title')).toHaveText('<script>alert(1)</script>U+202Etxt');
  await expect(page.locator('main .banner')).toContainText('<b>exit</b> status 3');
  await expect(page.locator('.diagnostics')).toContainText('<marquee>warning</marquee>');
  await page.keyboard.press('/');
  await page.getByRole('combobox').fill('onerror');
  await expect(page.getByRole('option').first()).toContainText(HOSTILE_NAME);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`#f/${index}$`));
});

test('the policy forbids loading and sending', async ({page, open}) => {
  await page.addInitScript(() => { window.addEventListener('securitypolicyviolation', (event) => {
    (window.violations ??= []).push(event.violatedDirective);
  }); });
  page.removeAllListeners('console');
  await open(fixture('small'));
  page.removeAllListeners('console');
  page.removeAllListeners('request');
  page.removeAllListeners('requestfailed');
  const refused = await page.evaluate(async () => {
    const image = new Image();
    image.src = 'https://example.invalid/x.png';
    const fetched = await fetch('https://example.invalid/').then(() => 'sent', () => 'refused');
    await new Promise((resolve) => setTimeout(resolve, 100));
    return {fetched, violations: window.violations};
  });
  expect(refused.fetched).toBe('refused');
  expect(refused.violations).toEqual(expect.arrayContaining(['connect-src', 'img-src']));
});
