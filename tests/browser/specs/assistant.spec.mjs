// Suggestions of a model, from a double of a model server on loopback. Nothing but the server that was chosen is reached.
import {pathToFileURL} from 'node:url';

import {test as base} from '@playwright/test';

import {modelServer} from '../support/model_server.mjs';
import {axeFindings, expect, fixture} from '../support/page.mjs';

const KEY = 'sk-test-4711-secret';
const LINE = '#f/1/74';

const test = base.extend({
  server: async ({}, use) => {
    const server = await modelServer();
    await use(server);
    await server.close();
  },
  // open(hash): the report on disk; any request to another place than the double fails the test.
  open: async ({page, server}, use) => {
    const problems = [];
    page.on('request', (request) => {
      if (!/^(file|data):/.test(request.url()) && !request.url().startsWith(`${server.address}/`)) problems.push(`request: ${request.url()}`);
    });
    page.on('pageerror', (error) => problems.push(`error: ${error.stack ?? error}`));
    page.on('dialog', (dialog) => {
      problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await use(async (hash = LINE, name = 'small') => {
      await page.goto(pathToFileURL(fixture(name)).href + hash);
      await expect(page.locator('h1').first()).toBeVisible();
      await expect(page.locator('.loading')).toHaveCount(0);
      return page;
    });
    expect(problems).toEqual([]);
  },
});

const dialog = (page) => page.getByRole('dialog', {name: 'AI suggestions'});
const prompt = (page) => dialog(page).getByRole('textbox', {name: 'The text that is sent'});
const send = (page) => dialog(page).getByRole('button', {name: 'Send'}).click();
const answerText = (page) => dialog(page).locator('.answer-parts');
const trouble = (page) => dialog(page).getByRole('alert');

// Through the dialog to the step where a question is put.
async function connect(page, server, provider, {model = 'double', key = KEY, path = ''} = {}) {
  await page.keyboard.press('i');
  await dialog(page).getByRole('radio', {name: provider}).check();
  await dialog(page).getByRole('textbox', {name: 'Address'}).fill(`${server.address}${path}`);
  await dialog(page).getByRole('button', {name: 'Allow this address'}).click();
  await expect(dialog(page).getByText(`at ${server.address}${path}`)).toBeVisible();
  if (key !== '' && provider !== 'Ollama') await dialog(page).getByLabel(/^Key/).fill(key);
  await dialog(page).getByRole('textbox', {name: /^Model/}).or(dialog(page).getByRole('combobox', {name: /^Model/})).fill(model);
  await dialog(page).getByRole('button', {name: 'Use this model'}).click();
  await expect(prompt(page)).toBeVisible();
}

const ANSWER = 'The set is built anew — für jeden Aufruf 😀.\n\n```python\n    return 1  # ✓\n```\nDone.';

const PROTOCOLS = [
  {provider: 'Ollama', path: '', url: '/api/chat', headers: {}},
  {provider: 'llama.cpp', path: '/v1', url: '/v1/chat/completions', headers: {authorization: `Bearer ${KEY}`}},
  {provider: 'OpenAI-compatible', path: '/v1', url: '/v1/chat/completions', headers: {authorization: `Bearer ${KEY}`}},
  {provider: 'Anthropic', path: '', url: '/v1/messages',
   headers: {'x-api-key': KEY, 'anthropic-version': '2023-06-01', 'anthropic-dangerous-direct-browser-access': 'true'}},
];

for (const {provider, path, url, headers} of PROTOCOLS) {
  test(`${provider}: the text shown is the text sent, and the answer streams`, async ({open, server}) => {
    const page = await open();
    await connect(page, server, provider, {path});
    expect(server.requests).toEqual([]);
    for (const size of [61, 1, 7]) {
      server.next = {answer: ANSWER, size};
      const shown = await prompt(page).inputValue();
      await send(page);
      await expect(dialog(page).getByText(/^Complete after/)).toBeVisible();
      const request = server.posts().at(-1);
      expect(request.path).toBe(url);
      expect(request.headers).toMatchObject(headers);
      expect(request.headers.referer).toBeUndefined();
      expect(request.headers.cookie).toBeUndefined();
      expect(request.body).toMatchObject({model: 'double', stream: true, messages: [{role: 'user', content: shown}]});
      await expect(answerText(page)).toContainText('The set is built anew — für jeden Aufruf 😀.');
      await expect(answerText(page)).toContainText('return 1  # ✓');
      await expect(answerText(page)).not.toContainText('```');
      await expect(dialog(page).getByRole('heading', {name: 'Suggested by double; not measured'})).toBeVisible();
    }
  });
}

test('the report connects to nothing before a server is chosen, and then to that one only', async ({open, page, server}) => {
  await open();
  const reach = (urls) => page.evaluate((all) => Promise.all(
      all.map((url) => fetch(url, {mode: 'no-cors'}).then(() => 'reached', () => 'refused'))), urls);
  const elsewhere = [server.address.replace('127.0.0.1', 'localhost'), 'https://example.invalid/'];
  expect(await reach([server.address, ...elsewhere])).toEqual(['refused', 'refused', 'refused']);
  expect(server.requests).toEqual([]);
  await connect(page, server, 'Ollama');
  expect(server.requests).toEqual([]);
  expect(await reach([`${server.address}/reached`])).toEqual(['reached']);
  expect(await reach(elsewhere)).toEqual(['refused', 'refused']);
  expect(server.requests.map(({path}) => path)).toEqual(['/reached']);
  await page.reload();
  expect(await reach([server.address])).toEqual(['refused']);
  await expect(dialog(page)).toHaveCount(0);
});

test('the place in the report survives choosing a server', async ({open, server}) => {
  const page = await open('#functions');
  await page.getByRole('columnheader', {name: 'Samples', exact: true}).getByRole('button').click();
  await connect(page, server, 'Ollama');
  await expect(page).toHaveURL(/#functions$/);
  await expect(prompt(page)).toHaveValue(/The code, lines \d+–\d+ of /);
  await dialog(page).getByRole('button', {name: 'Close'}).click();
  await expect(page.getByRole('columnheader', {name: 'Samples', exact: true})).toHaveAttribute('aria-sort', 'descending');
});

test('a report without AI explains, and cannot connect', async ({open, page, server}) => {
  await open(LINE, 'closed');
  await page.getByRole('button', {name: 'AI suggestions'}).click();
  await expect(dialog(page)).toContainText('This report cannot connect to anything');
  await expect(dialog(page)).toContainText('linescope report PROFILE');
  await expect(dialog(page).getByRole('textbox')).toHaveCount(0);
  const sent = await page.evaluate((url) => {
    // As if the page had been told to connect.
    history.replaceState({...history.state, endpoint: {provider: 'ollama', address: url}}, '');
    return fetch(url).then(() => 'sent', () => 'refused');
  }, server.address);
  expect(sent).toBe('refused');
  await page.reload();
  expect(await page.evaluate((url) => fetch(url, {mode: 'no-cors'}).then(() => 'sent', () => 'refused'), server.address)).toBe('refused');
  expect(server.requests).toEqual([]);
});

test('the key is in memory only', async ({open, page, server, context}) => {
  const logged = [];
  page.on('console', (message) => logged.push(message.text()));
  await open();
  await connect(page, server, 'Anthropic');
  server.next = {status: 401, body: JSON.stringify({type: 'error', error: {message: `invalid x-api-key ${KEY}`}})};
  await send(page);
  await expect(trouble(page)).toContainText('The server refuses the key (401). The server says: invalid x-api-key (the key)');
  const kept = await page.evaluate(() => JSON.stringify({
    local: {...localStorage}, session: {...sessionStorage}, state: history.state, url: location.href, cookie: document.cookie,
    dom: document.documentElement.outerHTML, values: [...document.querySelectorAll('input, textarea')].map(({value}) => value),
  }));
  expect(kept).not.toContain(KEY);
  expect(kept).not.toContain('secret');
  expect(JSON.stringify(await context.storageState({indexedDB: true}))).not.toContain(KEY);
  expect(logged.join('\n')).not.toContain(KEY);
  expect(server.posts().every(({path, body}) => !`${path}${JSON.stringify(body)}`.includes(KEY))).toBe(true);
  await dialog(page).getByRole('button', {name: 'Change, forget the key'}).click();
  await expect(dialog(page).getByLabel(/^Key/)).toHaveValue('');
  await page.reload();
  await page.keyboard.press('i');
  await expect(dialog(page).getByRole('button', {name: 'Allow this address'})).toBeVisible();
});

test('what goes along is chosen, counted and can be edited', async ({open, server}) => {
  const page = await open();
  await connect(page, server, 'Ollama');
  const text = () => prompt(page).inputValue();
  const box = (name) => dialog(page).getByRole('checkbox', {name});
  expect(await text()).toContain('How can this be made faster?');
  expect(await text()).toContain('Imports of the file');
  expect(await text()).toMatch(/- line 74: [\d.]+ m?s, [\d.]+%, [\d,]+ samples: /);
  expect(await text()).toContain('Python 3.13.0');
  // Names and places of the machine stay here.
  expect(await text()).not.toContain('/home/ada');
  expect(await text()).not.toContain('ada-laptop');
  for (const [name, holds] of [['Measurements', 'Measured by sampling'], [/^Imports/, 'Imports of the file'],
                               [/^The function around it/, 'The function around it'], [/^Python version/, 'The run:']]) {
    await box(name).uncheck();
    expect(await text(), String(name)).not.toContain(holds);
  }
  const small = await text();
  await box(/^The whole file/).check();
  expect((await text()).length).toBeGreaterThan(small.length + 1000);
  await box(/^The whole file/).uncheck();
  await dialog(page).getByRole('radio', {name: /^The function/}).check();
  expect(await text()).toMatch(/The code, lines \d+–\d+ of simulate\.py, in \w+:/);
  await dialog(page).getByRole('textbox', {name: 'Question'}).fill('Why is this slow?');
  expect(await text()).toMatch(/^Why is this slow\?/);
  const bytes = Buffer.byteLength(await text());
  await expect(dialog(page)).toContainText(`about ${Math.ceil(bytes / 3.5).toLocaleString('en-US')} tokens`);
  await prompt(page).fill('Only this.');
  await expect(dialog(page)).toContainText('10 characters, edited');
  await send(page);
  await expect(dialog(page).getByText(/^Complete after/)).toBeVisible();
  expect(server.posts().at(-1).body.messages).toEqual([{role: 'user', content: 'Only this.'}]);
  await dialog(page).getByRole('button', {name: 'Undo edits'}).click();
  expect(await text()).toMatch(/^Why is this slow\?/);
});

test('code is shown as a diff against the source', async ({open, server}) => {
  const page = await open();
  await connect(page, server, 'Ollama');
  await dialog(page).getByRole('radio', {name: /^The function/}).check();
  const function_ = /```python\n([^`]*)\n```/.exec(await prompt(page).inputValue())[1];
  const lines = function_.split('\n');
  const changed = [...lines.slice(0, -1), '        extra = 1', lines.at(-1)].join('\n');
  server.next = {answer: `Like this:\n\`\`\`python\n${changed}\n\`\`\``};
  await send(page);
  await expect(dialog(page).getByText(/^Complete after/)).toBeVisible();
  await expect(dialog(page).locator('.diff-added')).toHaveText([/extra = 1/]);
  await expect(dialog(page).locator('.diff-removed')).toHaveCount(0);
  await expect(dialog(page).locator('.diff-same')).not.toHaveCount(0);
  await dialog(page).getByRole('button', {name: 'Show as code'}).click();
  await expect(dialog(page).locator('.diff-added')).toHaveCount(0);
  await expect(dialog(page).locator('.answer-lines .code')).toHaveCount(lines.length + 1);
  // A piece from its middle, at the left margin, one line changed.
  server.next = {answer: `\`\`\`python\n${lines.slice(2, 6).map((line) => line.slice(8)).join('\n')}  # noted\n\`\`\``};
  await send(page);
  await expect(dialog(page).getByText(/^Complete after/)).toBeVisible();
  await expect(dialog(page).locator('.diff-added').first()).toContainText('# noted');
  // What is no replacement is not forced into one.
  server.next = {answer: '```sql\nSELECT 1\n```'};
  await send(page);
  await expect(dialog(page).locator('.answer-lines')).toHaveText('SELECT 1');
  await expect(dialog(page).locator('[class^="code diff"]')).toHaveCount(0);
});

test('copy, retry', async ({open, server, context}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await open();
  await connect(page, server, 'Ollama');
  server.next = {answer: ANSWER};
  await send(page);
  await dialog(page).getByRole('button', {name: 'Copy', exact: true}).click();
  await expect(dialog(page).getByRole('button', {name: 'Copied'})).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(ANSWER);
  await dialog(page).getByRole('button', {name: 'Copy code'}).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('    return 1  # ✓');
  server.next = {answer: 'Second thoughts.'};
  await dialog(page).getByRole('button', {name: 'Retry'}).click();
  await expect(answerText(page)).toHaveText('Second thoughts.');
  expect(server.posts().length).toBe(2);
  expect(server.posts()[0].body).toEqual(server.posts()[1].body);
});

test('stop keeps what came and closes the connection', async ({open, server}) => {
  const page = await open();
  await connect(page, server, 'Anthropic');
  server.next = {answer: 'The first half', hold: true};
  await send(page);
  await expect(answerText(page)).toHaveText('The first half');
  // It goes on while the dialog is closed.
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', {name: 'AI suggestions, an answer is coming'})).toBeVisible();
  await page.keyboard.press('i');
  await expect(answerText(page)).toHaveText('The first half');
  await dialog(page).locator('.answer').getByRole('button', {name: 'Stop'}).click();
  await expect(dialog(page).getByText('Stopped.')).toBeVisible();
  await expect(answerText(page)).toHaveText('The first half');
  await expect.poll(() => server.closed).toBe(1);
});

test('models of the server are listed', async ({open, server}) => {
  const page = await open();
  await page.keyboard.press('i');
  await dialog(page).getByRole('radio', {name: 'Ollama'}).check();
  await dialog(page).getByRole('textbox', {name: 'Address'}).fill(server.address);
  await dialog(page).getByRole('button', {name: 'Allow this address'}).click();
  await dialog(page).getByRole('button', {name: 'List its models'}).click();
  await dialog(page).getByRole('button', {name: 'qwen3-coder:30b'}).click();
  await dialog(page).getByRole('button', {name: 'Use this model'}).click();
  await expect(dialog(page)).toContainText('Asks qwen3-coder:30b at');
  expect(server.requests.map(({path}) => path)).toEqual(['/api/tags']);
});

test('refused by CORS: says what to set', async ({open, server}) => {
  const page = await open();
  for (const [provider, path, hint] of [['Ollama', '', 'OLLAMA_ORIGINS="*"'], ['llama.cpp', '/v1', '--cors-origins'],
                                        ['OpenAI-compatible', '/v1', 'Access-Control-Allow-Origin']]) {
    await page.reload();
    await expect(page.locator('.source-table')).toBeVisible();
    server.next = {answer: ''};
    await connect(page, server, provider, {path});
    server.next = {refuse: true};
    await send(page);
    await expect(trouble(page)).toContainText(`The server at ${server.address} is there, but refuses this page (CORS).`);
    await expect(trouble(page)).toContainText(hint);
  }
  expect(server.posts()).toEqual([]);
  // What found out that it is there told it nothing.
  expect(server.requests.filter(({method}) => method === 'GET').every(
      ({headers, body, path}) => headers.authorization === undefined && body === null && path === '/')).toBe(true);
});

test('errors say what happened and what to do', async ({open, server}) => {
  const page = await open();
  await connect(page, server, 'OpenAI-compatible', {path: '/v1'});
  const error = (message) => JSON.stringify({error: {message}});
  for (const [next, said] of [
    [{status: 404, body: error('model not found')}, 'The server knows no such model as “double” or address (404). The server says: model not found'],
    [{status: 429, headers: {'retry-after': '20'}, body: error('slow down')}, 'quota is used up (429). Try again in 20 seconds. The server says: slow down'],
    [{status: 413}, 'The text is too long for the server (413)'],
    [{status: 503, body: error('Loading model')}, 'still loading the model (503)'],
    [{status: 500, body: '<h1>Oops</h1>'}, 'The server failed (500). The server says: <h1>Oops</h1>'],
    [{status: 200, headers: {'content-type': 'text/html'}, body: '<html>'}, 'this is not the address of its API'],
    [{answer: 'half', cut: true}, 'The connection ended before the answer did'],
    [{answer: 'half', fail: 'out of memory'}, 'The server broke off: out of memory'],
    [{answer: 'half', end: 'length'}, 'The model reached its limit of length'],
    [{answer: ''}, 'The model answered nothing'],
  ]) {
    server.next = next;
    await send(page);
    await expect(trouble(page), said).toContainText(said);
    if (next.answer) await expect(answerText(page)).toHaveText(next.answer);
  }
  await server.close();
  await send(page);
  await expect(trouble(page)).toContainText(`Nothing answers at ${server.address}. Is the server running there`);
  await modelServer().then(({close}) => Object.assign(server, {close}));
});

test('a server that falls silent is given up', async ({page, open, server}) => {
  await page.clock.install();
  await open();
  await connect(page, server, 'Ollama');
  server.next = {answer: 'The first half', hold: true};
  await send(page);
  await page.clock.runFor(100);
  await expect(answerText(page)).toHaveText('The first half');
  await page.clock.runFor(61_000);
  await expect(trouble(page)).toContainText('The server sent nothing for 60 seconds');
  await expect(answerText(page)).toHaveText('The first half');
});

test('addresses out of bounds are refused before anything happens', async ({open}) => {
  const page = await open();
  await page.keyboard.press('i');
  for (const [typed, said] of [['http://192.168.1.5:8080', 'Only https: addresses'], ['nonsense', 'This is no address'],
                               ['https://me:pw@host', 'Leave name and password out'], ['javascript:alert(1)', 'Only https: addresses'],
                               ['http://localhost.evil.example', 'Only https: addresses']]) {
    await dialog(page).getByRole('textbox', {name: 'Address'}).fill(typed);
    await dialog(page).locator('form').evaluate((form) => { form.noValidate = true; });
    await dialog(page).getByRole('button', {name: 'Allow this address'}).click();
    await expect(trouble(page)).toContainText(said);
  }
});

test('a hostile answer stays text', async ({open, server}) => {
  const page = await open();
  await connect(page, server, 'Ollama', {model: '<img src=x onerror=alert(1)>'});
  const evil = '<img src=x onerror="document.title=\'owned\'"><script>alert(1)</script> [x](javascript:alert(1)) \u202etxet ' +
      'https://evil.example/\n```html"><b onclick=alert(1)>\n</pre><svg onload=alert(1)>\u202e\u0000\n```';
  server.next = {answer: evil};
  await send(page);
  await expect(dialog(page).getByText(/^Complete after/)).toBeVisible();
  await expect(answerText(page)).toContainText('<img src=x onerror="document.title=\'owned\'"><script>alert(1)</script>');
  await expect(answerText(page)).toContainText('U+202Etxet');
  await expect(answerText(page)).toContainText('</pre><svg onload=alert(1)>U+202E␀');
  await expect(answerText(page).locator('img, script, a, b, svg, pre')).toHaveCount(0);
  server.next = {status: 500, body: JSON.stringify({error: '<img src=x onerror=alert(1)>\u202e'})};
  await send(page);
  await expect(trouble(page)).toContainText('<img src=x onerror=alert(1)>U+202E');
  await expect(dialog(page).locator('img')).toHaveCount(0);
  expect(await page.title()).not.toBe('owned');
});

test('each view says what is asked about', async ({open, server}) => {
  const page = await open('#overview');
  await connect(page, server, 'Ollama');
  const asks = async (said) => {
    await expect(prompt(page)).toHaveValue(said);
    await page.keyboard.press('Escape');
  };
  await asks(/in route:\n\n```python\n *nearest = min\(left/);
  await page.getByRole('link', {name: 'Functions'}).click();
  await page.locator('.scroller').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.getByRole('button', {name: /^Ask a model about/}).click();
  await asks(/The code, lines \d+–\d+ of [\w./]+, in \w+:/);
  await page.goto(`${page.url().split('#')[0]}#f/1/74`);
  await page.getByRole('button', {name: 'Ask a model about line 74'}).click();
  await asks(/The code, lines? [\d–]+ of simulate\.py/);
});

for (const theme of ['light', 'dark']) {
  test(`axe finds nothing in any step: ${theme}`, async ({page, open, server}) => {
    test.setTimeout(180_000);
    await page.emulateMedia({colorScheme: theme});
    const clean = async (step) => {
      const {violations, faint} = await axeFindings(page);
      expect(violations, step).toEqual([]);
      expect(faint, step).toEqual([]);
    };
    for (const width of [1440, 390]) {
      await page.setViewportSize({width, height: 844});
      await page.goto('about:blank');
      await open(LINE, 'closed');
      await page.keyboard.press('i');
      await clean('closed');
      await page.goto('about:blank');
      await open();
      await expect(page.getByRole('button', {name: 'Ask a model about line 74'})).toBeVisible();
      await clean('row');
      await page.keyboard.press('i');
      await clean('server');
      await page.keyboard.press('Escape');
      await connect(page, server, 'Anthropic');
      await clean('ask');
      server.next = {answer: ANSWER};
      await send(page);
      await expect(dialog(page).getByText(/^Complete after/)).toBeVisible();
      await clean('answer');
      const wide = await dialog(page).evaluate((element) => element.scrollWidth - element.clientWidth);
      expect(wide).toBeLessThanOrEqual(0);
      server.next = {status: 500};
      await send(page);
      await expect(trouble(page)).toBeVisible();
      await clean('trouble');
      await dialog(page).getByRole('button', {name: /^Change/}).click();
      await clean('model');
    }
  });
}
