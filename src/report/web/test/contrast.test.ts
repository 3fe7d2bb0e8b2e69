// Text keeps a contrast of 4.5:1 wherever it stands: on the page, on panels, and on rows of any heat.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';

// Where the style sheet is; put in when the tests are bundled.
declare const TOKENS_CSS: string;

type Rgb = readonly [number, number, number];

const css = readFileSync(TOKENS_CSS, 'utf8');
const MINIMUM = 4.5;
const HOTTEST_TINT = 0.2;

for (const theme of ['light', 'dark']) {
  const colors = tokens(theme);
  const color = (name: string): Rgb => {
    const found = colors.get(name);
    assert.ok(found !== undefined, `no --${name} in ${theme}`);
    return found;
  };

  test(`${theme}: text on page, panel and soft`, () => {
    for (const text of ['ink', 'muted', 'accent', 'ok', 'failed', 'warning']) {
      for (const ground of ['page', 'panel']) check(color(text), color(ground), `${text} on ${ground}`);
    }
    for (const ground of ['soft', 'hover']) check(color('ink'), color(ground), `ink on ${ground}`);
    check(color('accent'), color('soft'), 'accent on soft');
    check(color('failed'), color('failed-soft'), 'failed on failed-soft');
    check(color('warning'), color('warning-soft'), 'warning on warning-soft');
  });

  test(`${theme}: text on rows of any heat`, () => {
    const texts = ['ink', 'muted', 'keyword', 'string', 'number', 'comment', 'definition', 'link', 'accent'];
    for (const text of texts) {
      for (let tint = 0; tint <= HOTTEST_TINT + 1e-9; tint += 0.05) {
        check(color(text), mix(color('heat'), color('panel'), tint), `${text} at ${tint.toFixed(2)} heat`);
      }
    }
  });

  test(`${theme}: labels on the boxes of a flame graph`, () => {
    const fills = [...colors.keys()].filter((name) => /^flame-(\d|library|native|task|group)/.test(name));
    assert.equal(fills.length, 8 + 4 + 3);
    for (const fill of fills) {
      for (const shade of [0, 0.16, 0.32]) {
        check(color('ink'), mix(color('panel'), color(fill), shade), `ink on ${fill}, shade ${shade}`);
      }
    }
    for (let part = 0; part <= 0.45 + 1e-9; part += 0.05) {
      check(color('ink'), mix(color('heat'), color('flame-cold'), part), `ink at ${part.toFixed(2)} heat`);
    }
  });

  test(`${theme}: parts of charts stand out from the panel`, () => {
    for (const part of ['state-running', 'state-gil']) {
      assert.ok(contrast(color(part), color('panel')) >= 3, part);
    }
  });
}

function tokens(theme: string): Map<string, Rgb> {
  const block = new RegExp(`data-theme="${theme}"\\] \\{([^}]*)\\}`).exec(css)?.[1] ?? '';
  const out = new Map<string, Rgb>();
  for (const [, name, hex] of block.matchAll(/--([\w-]+): #([0-9a-f]{6});/g)) {
    out.set(name, [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb);
  }
  return out;
}

function check(text: Rgb, ground: Rgb, what: string): void {
  const value = contrast(text, ground);
  assert.ok(value >= MINIMUM, `${what}: ${value.toFixed(2)}`);
}

function mix(over: Rgb, under: Rgb, alpha: number): Rgb {
  return over.map((part, i) => part * alpha + under[i] * (1 - alpha)) as unknown as Rgb;
}

function contrast(a: Rgb, b: Rgb): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: Rgb): number {
  const [r, g, b] = color.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
