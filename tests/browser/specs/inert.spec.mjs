// Text from the target is text, whatever it looks like.
import {hostile, HOSTILE_NAME} from '../fixtures/reports.mjs';
import {expect, fixture, test} from '../support/page.mjs';

const index = hostile().files.map(({path}) => path).sort().findIndex((path) => path.includes(HOSTILE_NAME));

test('nothing becomes markup in any view', async ({open}) => {
  for (const hash of ['', '#files', '#functions', '#flame', '#about', `#f/${index}`]) {
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

test('names in the flame graph', async ({open}) => {
  const page = await open(fixture('hostile'), '#flame');
  await page.locator('.flame-chart').focus();
  await page.keyboard.press('End');
  await expect(page.locator('.flame-name')).toHaveText('𝒳.<locals>.<lambda>');
  await page.keyboard.press('Home');
  await expect(page.locator('.flame-name')).toHaveText('<img src=x onerror=alert(1)>');
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('.flame-name')).toHaveText('userU+202EU+2066nimda');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('.flame-name')).toHaveText('na␀me');
  await page.locator('.segments label', {hasText: 'Table'}).click();
  await expect(page.getByRole('treegrid').locator('img, b')).toHaveCount(0);
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

for (const report of ['small', 'closed']) test(`the policy forbids loading and sending: ${report}`, async ({page, open}) => {
  await page.addInitScript(() => { window.addEventListener('securitypolicyviolation', (event) => {
    (window.violations ??= []).push(event.violatedDirective);
  }); });
  page.removeAllListeners('console');
  await open(fixture(report));
  page.removeAllListeners('console');
  page.removeAllListeners('request');
  page.removeAllListeners('requestfailed');
  const refused = await page.evaluate(async () => {
    const image = new Image();
    image.src = 'https://example.invalid/x.png';
    const fetched = await Promise.all(['https://example.invalid/', 'http://localhost:11434/', 'http://127.0.0.1:8080/v1/models', 'data:,x']
        .map((url) => fetch(url).then(() => 'sent', () => 'refused')));
    await new Promise((resolve) => setTimeout(resolve, 100));
    return {fetched, violations: window.violations};
  });
  expect(refused.fetched).toEqual(['refused', 'refused', 'refused', 'refused']);
  expect(refused.violations).toEqual(expect.arrayContaining(['img-src']));
  expect(refused.violations.filter((directive) => directive === 'connect-src').length).toBeGreaterThanOrEqual(4);
});
