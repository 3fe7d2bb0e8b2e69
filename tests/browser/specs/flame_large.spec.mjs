// A call tree of 50,000 nodes: frames stay cheap, the table stays small.
import {asTable, chart, click, crumbs, detail, hover, rows} from '../support/flame.mjs';
import {measuring, slowness, taskMs} from '../support/pace.mjs';
import {expect, fixture, test} from '../support/page.mjs';

const FRAME_MS = 12;
const FRAMES = 60;

// Processor time of the page's main thread for each frame of an action.
async function spentBy(page, client, action) {
  const before = await taskMs(client);
  await page.evaluate(async ([frames, what]) => {
    const element = document.querySelector('.flame-chart');
    const box = element.getBoundingClientRect();
    const wheel = (more) => element.dispatchEvent(new WheelEvent('wheel', {
      clientX: box.left + 0.4 * box.width, clientY: box.top + 60, bubbles: true, cancelable: true, ...more}));
    for (let i = 0; i < frames; i++) {
      const back = i < frames / 2 ? 1 : -1;
      if (what === 'zoom') wheel({ctrlKey: true, deltaY: -25 * back});
      else if (what === 'pan') wheel({deltaX: 15 * back});
      else element.dispatchEvent(new PointerEvent('pointermove', {
        pointerType: 'mouse', bubbles: true, clientX: box.left + 5 + i * 9, clientY: box.top + 5 + (i * 7) % 160}));
      await new Promise((done) => requestAnimationFrame(done));
    }
  }, [FRAMES, action]);
  return (await taskMs(client) - before) / FRAMES;
}

for (const order of ['Heaviest first', 'By time']) {
  test(`${order}: zooming, panning and pointing cost less than ${FRAME_MS} ms a frame`, async ({page, open}) => {
    test.setTimeout(120_000);
    await open(fixture('manyStacks'), '#flame');
    await page.getByLabel('Fold libraries').uncheck();
    if (order === 'By time') await page.locator('.segments label', {hasText: order}).click();
    const client = await measuring(page);
    await spentBy(page, client, 'zoom');
    for (const action of ['zoom', 'pan', 'point']) {
      const slow = await slowness(page, client);
      const spent = await spentBy(page, client, action);
      test.info().annotations.push({type: 'ms a frame', description: `${action}: ${spent.toFixed(2)}, slowness ${slow.toFixed(2)}`});
      expect(spent, action).toBeLessThan(FRAME_MS * slow);
    }
  });
}

test('every change of arrangement takes moments, and loses nothing', async ({page, open}) => {
  test.setTimeout(120_000);
  await open(fixture('manyStacks'), '#flame');
  const client = await measuring(page);
  const total = async () => {
    await hover(page, 0.4, 2);
    await hover(page, 0.5, 0);
    await expect(detail(page)).toHaveText('All');
    return page.locator('.flame-numbers dd').first().innerText();
  };
  const whole = await total();
  const changes = {
    'no folds': () => page.getByLabel('Fold libraries').uncheck(),
    'by line': () => page.getByLabel('Split by line').check(),
    callers: () => page.locator('.segments label', {hasText: 'Callers'}).click(),
    'by thread': () => page.getByLabel('Group').selectOption('thread'),
    'by time': () => page.locator('.segments label', {hasText: 'By time'}).click(),
  };
  for (const [name, change] of Object.entries(changes)) {
    const slow = await slowness(page, client);
    const before = await taskMs(client);
    await change();
    expect(await total(), name).toBe(whole);
    const spent = await taskMs(client) - before;
    test.info().annotations.push({type: 'ms', description: `${name}: ${spent.toFixed(0)}`});
    // Half a second on a machine of its own; what took a turn for each pair of stacks would take minutes.
    expect(spent, name).toBeLessThan(2500 * slow);
  }
});

test('the table has only rows in sight', async ({open}) => {
  const page = await open(fixture('manyStacks'), '#flame');
  await asTable(page);
  await page.getByRole('treegrid').focus();
  await page.keyboard.press('Home');
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
  }
  expect(Number(await page.getByRole('treegrid').getAttribute('aria-rowcount'))).toBeGreaterThan(300);
  expect(await page.locator('*').count()).toBeLessThan(1500);
  await page.keyboard.press('End');
  expect((await rows(page)).at(-1)[0]).toBe(1);
});

test('narrow boxes can be reached and zoomed to by keyboard', async ({open}) => {
  const page = await open(fixture('manyStacks'), '#flame');
  await click(page, 0.2, 3);
  const path = await crumbs(page);
  await chart(page).focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  const name = await detail(page).innerText();
  await page.keyboard.press('Enter');
  expect((await crumbs(page)).at(-1)).toBe(name);
  expect(path.length).toBe(4);
});
