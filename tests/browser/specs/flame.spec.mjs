// The flame graph on stacks of a known shape: what stands where, numbers, search, zoom, folding, order.
import {asTable, chart, click, crumbs, detail, hover, numbers, placeOf, ROW, rows} from '../support/flame.mjs';
import {axeFindings, expect, fixture, test} from '../support/page.mjs';

const option = (page, text) => page.locator('.segments label', {hasText: new RegExp(`^${text}$`)});

test('boxes are as wide as their time, the heaviest first, libraries folded', async ({open}) => {
  const page = await open(fixture('stacks'), '#flame');
  const at = async (part, row) => {
    await hover(page, part, row);
    return detail(page).innerText();
  };
  expect(await at(0.5, 0)).toBe('All');
  expect(await at(0.01, 1)).toBe('<module>');
  expect(await at(0.49, 1)).toBe('<module>');
  expect(await at(0.51, 1)).toBe('threading · 2 functions');
  expect(await at(0.39, 4)).toBe('json · 2 functions');
  expect(await at(0.41, 4)).toBe('memcpy');
  expect(await at(0.19, 5)).toBe('step');
  await expect(page.locator('.flame-place')).toContainText('app.py:10');
  expect(await numbers(page)).toEqual({Total: '200 ms', Self: '60.0 ms 6.0%', Samples: '200', 'Of all': '20.0%', 'Of selected': '20.0%'});
  expect(await at(0.13, 6)).toBe('step');
  expect(await numbers(page)).toMatchObject({Total: '140 ms', Self: '40.0 ms 4.0%'});
  expect(await at(0.79, 2)).toBe('Client.fetch');
  expect(await at(0.81, 2)).toBe('download 7');
  await expect(page.locator('.flame-place')).toContainText('task');
  // Time of its own: nothing stands below it.
  await hover(page, 0.95, 2);
  await expect(page.locator('.flame-details.hint')).toBeVisible();
});

test('zoom by click, the way back, and of all beside of selected', async ({open}) => {
  const page = await open(fixture('stacks'), '#flame');
  await click(page, 0.1, 4);
  expect(await crumbs(page)).toEqual(['All', '<module>', 'main', 'work', 'json · 2 functions']);
  await expect(page.locator('.crumbs')).toContainText('40.0% of all');
  await expect.poll(async () => {
    await hover(page, 0.49, 5);
    await hover(page, 0.48, 5);
    return detail(page).innerText();
  }).toBe('step');
  expect(await numbers(page)).toMatchObject({'Of all': '20.0%', 'Of selected': '50.0%'});
  await page.locator('.crumbs button', {hasText: 'main'}).click();
  expect(await crumbs(page)).toEqual(['All', '<module>', 'main']);
  await page.locator('.crumbs button', {hasText: 'All'}).click();
  expect(await crumbs(page)).toEqual(['All']);
});

test('keyboard: callers, calls, neighbours, zoom, source', async ({open}) => {
  const page = await open(fixture('stacks'), '#flame');
  await chart(page).focus();
  const press = async (key, name) => {
    await page.keyboard.press(key);
    await expect(detail(page)).toHaveText(name);
  };
  await press('ArrowDown', '<module>');
  await press('ArrowRight', 'threading · 2 functions');
  await press('ArrowLeft', '<module>');
  await press('ArrowDown', 'main');
  await press('ArrowDown', 'work');
  await press('ArrowDown', 'json · 2 functions');
  await press('ArrowRight', 'memcpy');
  await expect(page.locator('.sr-only[role=status]')).toContainText('memcpy, native code, libc.so.6, total 100 ms, 10.0% of all');
  await press('ArrowLeft', 'json · 2 functions');
  await page.keyboard.press('Enter');
  expect((await crumbs(page)).at(-1)).toBe('json · 2 functions');
  await press('ArrowDown', 'step');
  expect(await numbers(page)).toMatchObject({'Of all': '20.0%', 'Of selected': '50.0%'});
  await page.keyboard.press('Escape');
  expect((await crumbs(page)).at(-1)).toBe('work');
  await page.keyboard.press('o');
  await expect(page).toHaveURL(/#f\/0\/10$/);
  await page.goBack();
  expect((await crumbs(page)).at(-1)).toBe('work');
  await expect(detail(page)).toHaveText('step');
});

test('the source line opens from the details, and by a double click', async ({open}) => {
  const page = await open(fixture('stacks'), '#flame');
  await click(page, 0.6, 2);
  await expect(detail(page)).toHaveText('Client.fetch');
  await page.mouse.move(5, 5);
  await page.getByRole('link', {name: 'Open source line'}).click();
  await expect(page).toHaveURL(/#f\/1\/2$/);
  await page.goBack();
  await page.locator('.crumbs button', {hasText: 'All'}).click();
  await page.waitForTimeout(250);
  const {x, y} = await placeOf(page, 0.2, 3);
  await page.mouse.dblclick(x, y);
  await expect(page).toHaveURL(/#f\/0\/6$/);
});

test('search marks what it finds and says its share', async ({open}) => {
  const page = await open(fixture('stacks'), '#flame');
  const pixels = () => chart(page).locator('canvas').evaluate((canvas) => canvas.toDataURL());
  const before = await pixels();
  const box = page.getByRole('searchbox', {name: 'Search functions, files and modules'});
  const result = page.locator('.flame-search .find-count');
  await box.fill('FETCH');
  await expect(result).toHaveText('1 function · 40.0%');
  await expect.poll(pixels).not.toBe(before);
  // Below each other it counts once.
  await box.fill('step');
  await expect(result).toHaveText('1 function · 20.0%');
  await box.fill('json');
  await expect(result).toHaveText('2 functions · 40.0%');
  await box.press('Enter');
  await page.mouse.move(5, 5);
  await expect(detail(page)).toHaveText('json · 2 functions');
  await box.fill('no such thing');
  await expect(result).toHaveText('nothing');
  await box.press('Escape');
  await expect(result).toHaveText('');
  await expect.poll(async () => (await box.inputValue())).toBe('');
});

test('folds open one by one, and all at once', async ({open}) => {
  const page = await open(fixture('stacks'), '#flame');
  await click(page, 0.1, 4);
  await page.mouse.move(5, 5);
  await page.getByRole('button', {name: 'Unfold json'}).click();
  await asTable(page);
  const names = async () => (await rows(page)).map(([level, name]) => `${level} ${name}`);
  await page.getByRole('treegrid').focus();
  await page.keyboard.press('*');
  expect(await names()).toContain('4 dumps');
  expect(await names()).toContain('1 threading · 2 functions');
  await page.getByRole('button', {name: 'Fold json again'}).click();
  expect((await names()).join()).not.toContain('dumps');
  await page.getByLabel('Fold libraries').uncheck();
  expect(await names()).toContain('1 Thread._bootstrap');
});

test('callers: what ran on top', async ({open}) => {
  const page = await open(fixture('stacks'), '#flame');
  await option(page, 'Callers').click();
  await asTable(page);
  const top = (await rows(page)).filter(([level]) => level === 1);
  expect(top.map(([, name, total, self]) => [name, total, self])).toEqual([
    ['Client.fetch', '400 ms', '400 ms'], ['json · 2 functions', '200 ms', '200 ms'], ['step', '200 ms', '200 ms'],
    ['memcpy', '100 ms', '100 ms'], ['threading · 2 functions', '100 ms', '100 ms'],
  ]);
  await page.getByRole('treegrid').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  const under = (await rows(page)).filter(([level]) => level === 2).map(([, name, total, self]) => [name, total, self]);
  expect(under.slice(0, 2)).toEqual([['threading · 2 functions', '300 ms', '–'], ['download 7', '100 ms', '–']]);
});

test('by thread, through a module, and in a part of the run', async ({open}) => {
  const page = await open(fixture('stacks'), '#flame');
  const at = async (part, row) => {
    await hover(page, part, row);
    return detail(page).innerText();
  };
  await page.getByLabel('Group').selectOption('thread');
  expect([await at(0.2, 1), await at(0.8, 1), await at(0.2, 2)]).toEqual(['MainThread (4711)', 'logger (4712)', '<module>']);
  await page.getByLabel('Group').selectOption('all');
  await page.getByLabel('Stacks through module').selectOption('io.py');
  expect(await at(0.5, 1)).toBe('threading · 2 functions');
  expect(await numbers(page)).toMatchObject({Total: '400 ms', Self: '0 s 0%'});
  await page.getByLabel('Stacks through module').selectOption('');
  await page.getByLabel('Thread', {exact: true}).selectOption('0');
  await expect(page).toHaveURL(/thread=0/);
  expect(await at(0.9, 1)).toBe('<module>');
  expect(await numbers(page)).toMatchObject({Total: '500 ms', 'Of all': '100.0%'});
  await page.goto(page.url().replace(/\?.*/, '?time=0.2-0.3'));
  await page.getByLabel('Thread', {exact: true}).waitFor();
  // The page is drawn again behind the address's back.
  await expect.poll(async () => {
    await page.mouse.move(5, 5);
    await hover(page, 0.01, 0);
    return detail(page).innerText({timeout: 1000}).catch(() => '');
  }).toBe('All');
  await expect.poll(() => numbers(page)).toMatchObject({Total: '200 ms', Samples: '200'});
});

test('by time: a lane for each thread on one clock', async ({open}) => {
  const page = await open(fixture('stacks'), '#flame');
  await option(page, 'By time').click();
  const at = async (part, row) => {
    await hover(page, part, row);
    return detail(page).innerText();
  };
  expect(await at(0.5, 1)).toBe('MainThread (4711)');
  expect(await at(0.1, 2)).toBe('<module>');
  expect(await at(0.1, 5)).toBe('json · 2 functions');
  expect(await at(0.9, 5)).toBe('memcpy');
  expect(await numbers(page)).toMatchObject({Total: '100 ms'});
  expect(await at(0.5, 10)).toBe('logger (4712)');
  expect(await at(0.3, 12)).toBe('download 7');
  await click(page, 0.3, 12);
  await expect(page.locator('.crumbs')).toContainText('0.100 s – 0.200 s');
  expect(await at(0.5, 12)).toBe('download 7');
  expect(await numbers(page)).toMatchObject({'Of selected': '100.0%'});
  await chart(page).focus();
  await page.keyboard.press('0');
  expect(await crumbs(page)).toEqual(['All']);
});

test('how it is looked at is in the address, and is there again', async ({open}) => {
  const page = await open(fixture('stacks'), '#flame');
  const address = () => page.evaluate(() => location.hash);
  await page.locator('.segments label', {hasText: 'Callers'}).click();
  await page.getByLabel('Fold libraries').uncheck();
  await page.locator('#flame-search').fill('a');
  await expect.poll(address).toBe('#flame?callers=1&fold=0&find=a');
  await page.reload();
  await expect(page.locator('.flame-chart')).toBeVisible();
  await expect(page.getByRole('radio', {name: 'Callers'})).toBeChecked();
  await expect(page.getByLabel('Fold libraries')).not.toBeChecked();
  await expect(page.locator('#flame-search')).toHaveValue('a');

  // Another view and back, by a link and by the history.
  await page.locator('.views').getByRole('link', {name: 'About'}).click();
  await expect.poll(address).toBe('#about');
  await page.locator('.views').getByRole('link', {name: 'Flame graph'}).click();
  await expect.poll(address).toBe('#flame?callers=1&fold=0&find=a');
  await page.goBack();
  await page.goBack();
  await expect(page.getByRole('radio', {name: 'Callers'})).toBeChecked();
  await page.getByRole('radio', {name: 'Calls'}).check({force: true});
  await expect.poll(address).toBe('#flame?fold=0&find=a');
});

test('the table: rows, order, keyboard', async ({open}) => {
  const page = await open(fixture('stacks'), '#flame');
  await asTable(page);
  const grid = page.getByRole('treegrid', {name: 'Call tree'});
  await grid.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('*');
  expect((await rows(page)).slice(0, 5)).toEqual([
    [1, '<module>', '500 ms', '0 s', '500', 'app.py:11'], [2, 'main', '500 ms', '0 s', '500', 'app.py:2'],
    [3, 'work', '500 ms', '0 s', '500', 'app.py:6'], [4, 'json · 2 functions', '400 ms', '200 ms', '400', ''],
    [5, 'step', '200 ms', '60.0 ms', '200', 'app.py:10'],
  ]);
  const active = page.locator('.flame-table .tr.marked .name bdi');
  const press = async (key, name) => {
    await page.keyboard.press(key);
    await expect(active).toHaveText(name);
  };
  await press('ArrowDown', 'main');
  await press('ArrowRight', 'work');
  await press('ArrowLeft', 'work');
  await expect(page.locator('.flame-table .tr.marked')).toHaveAttribute('aria-expanded', 'false');
  await press('ArrowLeft', 'main');
  await press('ArrowRight', 'work');
  await press('ArrowRight', 'work');
  await press('ArrowRight', 'json · 2 functions');
  await press('End', 'threading · 2 functions');
  await page.getByRole('columnheader', {name: 'Self'}).getByRole('button').click();
  await expect(page.getByRole('columnheader', {name: 'Self'})).toHaveAttribute('aria-sort', 'descending');
  expect((await rows(page)).filter(([level]) => level === 1).map(([, name]) => name)).toEqual(['threading · 2 functions', '<module>']);
  await page.getByRole('columnheader', {name: 'Function'}).getByRole('button').click();
  expect((await rows(page)).filter(([level]) => level === 1).map(([, name]) => name)).toEqual(['<module>', 'threading · 2 functions']);
  await grid.focus();
  await press('Home', '<module>');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/#f\/0\/11$/);
});

test('sharp on every screen, and as wide as the window', async ({browser}) => {
  const context = await browser.newContext({deviceScaleFactor: 2, viewport: {width: 1200, height: 800}});
  const page = await context.newPage();
  await page.goto(`file://${fixture('stacks')}#flame`);
  const size = () => chart(page).evaluate((element) => {
    const canvas = element.querySelector('canvas');
    return {drawn: canvas.width, shown: element.clientWidth, high: canvas.height, tall: element.clientHeight};
  });
  await chart(page).waitFor();
  for (const width of [1200, 700]) {
    await page.setViewportSize({width, height: 800});
    await expect.poll(async () => {
      const {drawn, shown, high, tall} = await size();
      return drawn === 2 * shown && high === 2 * tall;
    }).toBe(true);
  }
  await context.close();
});

test('forced colours: every box has an outline in the system colour', async ({page, open}) => {
  await page.emulateMedia({forcedColors: 'active'});
  await open(fixture('stacks'), '#flame');
  const colours = await chart(page).locator('canvas').evaluate((canvas) => {
    const data = canvas.getContext('2d').getImageData(0, 18, canvas.width, 17).data;
    const at = (x, y) => [...data.slice(4 * (y * canvas.width + x), 4 * (y * canvas.width + x) + 3)].join();
    return {edge: at(Math.floor(canvas.width / 4), 0), inside: at(Math.floor(canvas.width / 4), 5)};
  });
  expect(colours.edge).not.toBe(colours.inside);
});

test('with reduced motion a zoom is there at once', async ({page, open}) => {
  await page.emulateMedia({reducedMotion: 'reduce'});
  await open(fixture('stacks'), '#flame');
  await click(page, 0.1, 4);
  const pictures = await chart(page).locator('canvas').evaluate(async (canvas) => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    await frame();
    const first = canvas.toDataURL();
    await new Promise((done) => setTimeout(done, 400));
    return [first, canvas.toDataURL()];
  });
  expect(pictures[0]).toBe(pictures[1]);
});

test('printed as it is seen, in light colours', async ({page, open}) => {
  await page.emulateMedia({colorScheme: 'dark'});
  await open(fixture('stacks'), '#flame');
  const ground = () => chart(page).locator('canvas').evaluate((canvas) => {
    const copy = new OffscreenCanvas(1, 1).getContext('2d');
    copy.drawImage(canvas, 20 - canvas.width, 20 - canvas.height);
    return [...copy.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  });
  expect(Math.max(...await ground())).toBeLessThan(80);
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  expect(await ground()).toEqual([255, 255, 255]);
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  await expect.poll(async () => Math.max(...await ground())).toBeLessThan(80);
});

test('is only there when stacks are', async ({open}) => {
  const page = await open(fixture('small'), '');
  await expect(page.getByRole('navigation', {name: 'Views'}).getByText('Flame graph')).toHaveCount(0);
  await page.goto(page.url().replace(/#.*|$/, '#flame'));
  await expect(page.locator('.empty')).toContainText('No call stack was sampled.');
});

for (const theme of ['light', 'dark']) {
  for (const width of [1440, 390]) {
    test(`axe finds nothing: ${theme}, ${width} px`, async ({page, open}) => {
      await page.emulateMedia({colorScheme: theme});
      await page.setViewportSize({width, height: width === 390 ? 844 : 900});
      await open(fixture('stacks'), '#flame');
      const clean = async (what) => {
        expect(await axeFindings(page), what).toEqual({violations: [], faint: []});
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(wide, `${what} is wider than the window`).toBeLessThanOrEqual(0);
      };
      await clean('graph');
      await click(page, 0.1, 4);
      await page.getByRole('searchbox', {name: 'Search functions, files and modules'}).fill('step');
      await clean('zoomed and searched');
      await asTable(page);
      await clean('table');
    });
  }
}
