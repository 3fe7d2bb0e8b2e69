// The flame graph as a user meets it: places on the canvas, what the details say, rows of the table.
export const ROW = 18;

export const chart = (page) => page.locator('.flame-chart');
export const detail = (page) => page.locator('.flame-name');

// A place on the chart: a part of its width, and a row in sight.
export async function placeOf(page, part, row) {
  const box = await chart(page).boundingBox();
  return {x: box.x + 1 + part * (box.width - 2), y: box.y + 1 + (row + 0.5) * ROW};
}

export async function hover(page, part, row) {
  const {x, y} = await placeOf(page, part, row);
  await page.mouse.move(x, y);
}

export async function click(page, part, row) {
  const {x, y} = await placeOf(page, part, row);
  await page.mouse.click(x, y);
}

// {Total: '400 ms', …}
export async function numbers(page) {
  return page.locator('.flame-numbers').evaluate((list) => Object.fromEntries(
      [...list.querySelectorAll('div')].map((each) => [
        each.querySelector('dt').textContent, [...each.querySelector('dd').childNodes].map((node) => node.textContent).join(' ')])));
}

export const crumbs = (page) => page.locator('.crumbs button').allInnerTexts();

export async function asTable(page) {
  await page.locator('.segments label', {hasText: 'Table'}).click();
}

// Rows in sight: [level, name, total, self, samples, place].
export async function rows(page) {
  return page.locator('.flame-table .tbody [role=row]').evaluateAll((all) => all.map((row) => [
    Number(row.getAttribute('aria-level')), row.querySelector('.name bdi').textContent,
    ...[1, 2].map((at) => row.children[at].querySelector('.duration').textContent),
    row.children[3].textContent, row.children[4].textContent,
  ]));
}
