import {expect, fixture, test} from '../support/page.mjs';

test('run facts, hottest lines as whole statements, and their links', async ({open}) => {
  const page = await open(fixture('small'));
  await expect(page).toHaveTitle('Overview – simulate.py – LineScope');
  const cards = page.locator('.cards');
  await expect(cards).toContainText('20.4 s');
  await expect(cards).toContainText('20,356');
  await expect(cards).toContainText('12 missed, 4 dropped');
  await expect(cards).toContainText('997.4 /s');
  const row = page.getByRole('row').filter({hasText: 'simulate.py:59-65'}).first();
  await expect(row.locator('pre')).toHaveText(
      'best = max(\n    self.waiting,\n    key=lambda order: (\n        len(order.zones & zone.neighbours),\n' +
      '        -order.received,\n    ),\n)', {useInnerText: true});
  await expect(row.locator('.measured')).toHaveText('        len(order.zones & zone.neighbours),\n');
  await row.getByRole('link').click();
  await expect(page).toHaveURL(/#f\/1\/59$/);
  await expect(page.locator('h1')).toHaveText('simulate.py');
});

test('header: status, collector, method and Python', async ({open}) => {
  const page = await open(fixture('small'));
  const header = page.locator('.app-header');
  await expect(header).toContainText('Success');
  await expect(header).toContainText('sampler · Sampling · Python 3.13.0');
  await header.getByRole('link', {name: 'Sampling'}).click();
  await expect(page.locator('h1')).toHaveText('About this report');
});

test('a crashed run says so in red and keeps what was measured', async ({open}) => {
  const page = await open(fixture('failed'));
  const banner = page.locator('main .banner');
  await expect(banner).toContainText('The run failed: killed by SIGSEGV (signal 11).');
  await expect(banner).toContainText('Everything measured before is kept');
  await expect(page.locator('.app-header .pill')).toHaveText('Failed');
  const red = await page.locator('.app-header .pill').evaluate((pill) => getComputedStyle(pill).color);
  expect(red).toBe('rgb(179, 38, 30)');
  await expect(page.locator('.diagnostics li')).toHaveCount(2);
  await expect(page.locator('.diagnostics')).toContainText('Error: The profile could not be written');
  await expect(page.getByRole('row').filter({hasText: 'simulate.py:74'}).first()).toBeVisible();
});

test('an exit status is told once', async ({open}) => {
  const page = await open(fixture('exited'));
  await expect(page.locator('main .banner strong')).toHaveText('The run failed: exit status 7.');
});

test('an interrupted run shows dashes for what nobody counted', async ({open}) => {
  const page = await open(fixture('interrupted'));
  await expect(page.locator('main .banner')).toContainText('The run was interrupted: the profiler was killed.');
  const elapsed = page.locator('.card').filter({hasText: 'Elapsed'});
  await expect(elapsed.locator('.figure')).toHaveText('–');
  await page.goto(page.url().replace(/#.*/, '') + '#about');
  await expect(page.locator('main')).toContainText('cut off before its ticks were counted');
});

test('no samples at all, and none on project lines', async ({open}) => {
  let page = await open(fixture('empty'));
  await expect(page.locator('.empty')).toContainText('The run may have been shorter than 10 ms');
  await page.getByRole('link', {name: /^Files/}).click();
  await expect(page.locator('.empty')).toContainText('No file of the project was seen');
  page = await open(fixture('unsampled'));
  await expect(page.locator('.empty')).toContainText('No samples fell on project lines.');
});

test('timeline by keyboard: steps, ends, peak, opening the line', async ({open}) => {
  const page = await open(fixture('small'));
  const slider = page.getByRole('slider', {name: 'Timeline of the run'});
  await slider.focus();
  await expect(slider).toHaveAttribute('aria-valuetext', 'No moment selected');
  await page.keyboard.press('ArrowRight');
  await expect(slider).toHaveAttribute('aria-valuenow', '0');
  await page.keyboard.press('PageUp');
  await expect(slider).toHaveAttribute('aria-valuenow', '30');
  await page.keyboard.press('End');
  await expect(slider).toHaveAttribute('aria-valuenow', '299');
  await page.keyboard.press('ArrowRight');
  await expect(slider).toHaveAttribute('aria-valuenow', '299');
  await page.keyboard.press('PageDown');
  await expect(slider).toHaveAttribute('aria-valuenow', '269');
  await page.keyboard.press('Home');
  await expect(slider).toHaveAttribute('aria-valuenow', '0');
  await page.keyboard.press('p');
  await expect(slider).toHaveAttribute('aria-valuetext', /0\.97 running/);
  await page.keyboard.press('Escape');
  await expect(slider).toHaveAttribute('aria-valuetext', 'No moment selected');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/#f\/1\/74$/);
});

test('timeline by pointer shows the reading above the chart', async ({open}) => {
  const page = await open(fixture('small'));
  const chart = page.locator('.chart');
  const box = await chart.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  await expect(page.locator('.reading')).toContainText('running');
  await expect(page.locator('.reading')).toContainText('waiting for the GIL');
  const drawn = await chart.locator('canvas').evaluate((canvas) => {
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(Array.from({length: data.length / 4}, (_, i) => data.slice(4 * i, 4 * i + 3).join())).size;
  });
  expect(drawn).toBeGreaterThan(4);
});

test('sorting the hottest lines; the rest of them on demand', async ({open}) => {
  const page = await open(fixture('small'));
  const rows = page.locator('.statements .tbody .tr');
  await expect(rows).toHaveCount(10);
  await page.getByRole('button', {name: /^Show all/}).click();
  expect(await rows.count()).toBeGreaterThan(20);
  await page.getByRole('button', {name: 'Time', exact: true}).click();
  const times = await rows.evaluateAll((list) => list.map((row) => row.querySelector('.duration').textContent));
  expect(times[0]).toBe('1.00 ms');
  expect(times[times.length - 1]).toBe('4.08 s');
});

test('about: ticks and drops add up', async ({open}) => {
  const page = await open(fixture('small'), '#about');
  const text = await page.locator('.sum').innerText();
  const [due, taken, missed] = text.match(/[\d,]+(?= (ticks|taken|missed))/g).map((each) => Number(each.replaceAll(',', '')));
  expect(due).toBe(taken + missed);
  await expect(page.locator('.reasons')).toContainText('3 no consistent stack could be decided');
  await expect(page.locator('main')).toContainText('997.4 ticks per second reached, 1,000 asked');
  await expect(page.locator('main')).toContainText('Sampling shared the CPU of the running thread');
});
