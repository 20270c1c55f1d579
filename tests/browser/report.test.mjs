// What Chromium makes of an HTML report: whether it is drawn, fetches nothing, can be used and read by everyone.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import {
  callers, callersOf, comparisonOf, crowded, described, empty, explained, few, fitted, historyOf, hostile, hosts, later, leaking, long, longNamed, many, mapped, names, outlyingQuantities, pageOf, probed,
  recorded, reference, replayed, runs, specOf, swept, watched,
} from './reports.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

const concurrently = { concurrency: 2 }; // tabs have processes of their own

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: flags });
});
after(() => browser.close());

const pages = {
  modes: pageOf('modes', reference('finalizer_repro')),
  churn: pageOf('churn', reference('churn')),
  hostile: pageOf('hostile', hostile()),
  long: pageOf('long', long()),
  swept: pageOf('swept', swept()),
  empty: pageOf('empty', empty()),
  comparedModes: comparisonOf('comparedModes', reference('finalizer_repro'), reference('finalizer_repro')),
  comparedHostile: comparisonOf('comparedHostile', few(hostile()), later(few(hostile()), 1, 1.3)),
  historyHostile: historyOf('historyHostile', runs(few(hostile()))),
};

// One of each kind of page.
const subjects = {
  run: pageOf('run', few()),
  map: pageOf('map', mapped()),
  longNames: pageOf('longNames', longNamed()),
  compare: comparisonOf('compared', few(), later(few(), 1, 1.3), '--explain'),
  probe: probed(),
  replay: replayed(),
  crowded: crowded(),
  fit: fitted(),
  info: described(),
  processes: recorded(),
  fleet: hosts(),
  history: historyOf('history', runs(few())),
  watch: watched(),
  leaks: leaking(),
};

const stacks = callers();
const memory = explained();

const many80 = pageOf('many', many());
const comparedMany = comparisonOf('comparedMany', many(), later(many(), 1, 1.3)); // too long to draw all of it twice

// A tab, and what went wrong in it. A test takes one that is open already, because opening one costs as much as a page.
async function newTab(options) {
  const page = await (await browser.newContext(options)).newPage();
  const tab = { page, file: '', trouble: [] };
  page.on('console', (message) => tab.trouble.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => tab.trouble.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => tab.trouble.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => {
    if (request.url() !== `file://${tab.file}`) tab.trouble.push(`request: ${request.url()}`);
  });
  return tab;
}
const unused = [];

// Opens a page, lets `act` do something with it, and fails on anything that went wrong meanwhile.
async function opened(file, { viewport = { width: 1280, height: 720 }, colorScheme = 'light', javaScriptEnabled = true }, act) {
  const tab = (javaScriptEnabled && unused.pop()) || (await newTab({ javaScriptEnabled }));
  let isUsable = false; // whatever state a failed test leaves its tab in
  try {
    await tab.page.setViewportSize(viewport);
    await tab.page.emulateMedia({ media: null, colorScheme });
    tab.file = file;
    await tab.page.goto(`file://${file}`);
    await act(tab.page);
    assert.deepEqual(tab.trouble, []);
    await tab.page.goto('about:blank');
    await tab.page.mouse.move(0, 0);
    isUsable = javaScriptEnabled;
  } finally {
    if (isUsable) unused.push(tab);
    else await tab.page.context().close();
  }
}

// The first figure that has lines over an axis: the page's first one shows its answer as dots.
function lines(page) {
  return page.locator('figure').filter({ has: page.locator('.plot .mark-line') }).first();
}

// Every chart has been in view once, in closed parts of the page too.
async function drawAll(page) {
  await page.evaluate(async () => {
    for (const details of document.querySelectorAll('details')) details.open = true;
    for (const figure of document.querySelectorAll('figure')) {
      figure.scrollIntoView();
      const end = performance.now() + 10_000;
      while (!figure.querySelector('.plot svg') && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    scrollTo(0, 0);
  });
}

// What axe finds in a page. Of the rows that differ in their text alone it gets the first, of the drawings too: it cannot
// judge their text (see `faint`), and both are hidden from whoever does not see. Tables and drawings keep their sizes.
async function violations(page) {
  if (await page.evaluate(() => !globalThis.axe)) await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const plain = ({ name, value }) => (['class', 'scope', 'role', 'style'].includes(name) ? `${name}=${value.replace(/[\d.]+/g, '0')}` : name);
    const shape = (one) =>
      `<${one.localName} ${[...one.attributes].map(plain).sort()}>${one.children.length ? [...one.children].map(shape).join('') : one.textContent.trim() !== ''}`;
    const place = (one) => (one ? `${place(one.parentElement)} ${one.localName}.${one.className}` : '');
    const undo = [];
    const seen = new Set();
    for (const table of document.querySelectorAll('table')) {
      const [where, width, height] = [place(table), table.offsetWidth, table.offsetHeight];
      const repeated = [...table.querySelectorAll('tbody tr')].filter((row) => {
        const key = `${where} ${row.sectionRowIndex % 2} ${shape(row)}`;
        return seen.has(key) || !seen.add(key);
      });
      if (repeated.length === 0) continue;
      table.style.cssText = `width: ${width}px; height: ${height}px`;
      undo.push(() => table.removeAttribute('style'));
      for (const row of repeated) {
        const mark = document.createComment('');
        row.replaceWith(mark);
        undo.push(() => mark.replaceWith(row));
      }
    }
    for (const svg of [...document.querySelectorAll('.plot svg')].slice(1)) {
      const content = [...svg.childNodes];
      svg.replaceChildren();
      undo.push(() => svg.replaceChildren(...content));
    }
    const result = await globalThis.axe.run(document, { resultTypes: ['violations'] });
    undo.forEach((step) => step());
    return result.violations;
  });
  return found.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`);
}

// Text of the drawings with less contrast to what is behind the plot than 4.5:1. axe takes no notice of `fill`.
const faint = (page) =>
  page.evaluate(() => {
    const light = (colour) => {
      const [r, g, b] = colour.match(/[\d.]+/g).slice(0, 3).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const found = new Set();
    for (const figure of document.querySelectorAll('figure')) {
      const behind = light(getComputedStyle(figure).backgroundColor);
      for (const text of figure.querySelectorAll('.plot svg text')) {
        const { fill, opacity } = getComputedStyle(text);
        if (!text.textContent || opacity === '0') continue;
        const own = light(fill);
        const contrast = (Math.max(own, behind) + 0.05) / (Math.min(own, behind) + 0.05);
        if (contrast < 4.5) found.add(`${text.textContent}: ${fill}, ${contrast.toFixed(2)}:1`);
      }
    }
    return [...found];
  });

// What is wrong with the drawings of a page: cut off, too small to read, with labels that cover each other or are the same.
// The boxes of labels that lean cover each other without the labels.
const misdrawn = (page) =>
  page.evaluate(() => {
    const found = new Set();
    const isShown = (text) => text.textContent && getComputedStyle(text).opacity !== '0'; // Vega hides labels that would overlap
    const covers = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
    for (const svg of document.querySelectorAll('.plot svg')) {
      const title = svg.closest('figure').querySelector('h3').textContent;
      const box = svg.getBoundingClientRect();
      if (box.width < 0.85 * Number(svg.getAttribute('width'))) found.add(`${title}: shrunk to ${box.width} of ${svg.getAttribute('width')}`);
      for (const text of [...svg.querySelectorAll('text')].filter(isShown)) {
        const own = text.getBoundingClientRect();
        const isOut = own.left < box.left - 1 || own.right > box.right + 1 || own.top < box.top - 1 || own.bottom > box.bottom + 1;
        if (own.width > 0 && isOut) found.add(`${title}: cut off: ${text.textContent}`);
      }
      for (const group of svg.querySelectorAll('.role-axis-label, .mark-text.role-mark')) {
        const seen = [...group.querySelectorAll('text')].filter((text) => isShown(text) && !/rotate\(-?(?!0\b|90\b)\d/.test(text.getAttribute('transform')));
        const twice = group.matches('.role-axis-label') && seen.find((text, at) => seen.findIndex((other) => other.textContent === text.textContent) !== at);
        if (twice) found.add(`${title}: two are called ${twice.textContent}`);
        const boxes = seen.map((text) => text.getBoundingClientRect());
        for (let i = 0; i < boxes.length; ++i) {
          const j = boxes.findIndex((other, at) => at > i && covers(boxes[i], other));
          if (j >= 0) found.add(`${title}: ${seen[i].textContent} covers ${seen[j].textContent}`);
        }
      }
    }
    return [...found];
  });

// Every chart is there, and no text in it is a number that went wrong.
async function assertDrawn(page) {
  assert.equal(await page.locator('figure .plot svg').count(), await page.locator('figure').count());
  for (const text of await page.locator('figure .plot svg').allTextContents()) assert.doesNotMatch(text, /NaN|undefined|Infinity|\[object/);
}

// The screen gets another width, and each chart is drawn anew for it.
async function resized(page, width, height = 900) {
  if (page.viewportSize().width === width) return;
  await page.evaluate(() => document.querySelectorAll('.plot svg').forEach((svg) => svg.classList.add('former')));
  await page.setViewportSize({ width, height });
  await page.waitForFunction(() => !document.querySelector('.plot svg.former'));
}

async function assertRead(page) {
  assert.deepEqual(await faint(page), []);
  assert.deepEqual(await violations(page), []);
}

const screen = (page, width, colorScheme) => async () => {
  await page.emulateMedia({ media: null, colorScheme });
  await resized(page, width);
  await assertDrawn(page);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
};

async function assertNamesAreText(page) {
  assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script:not([type="application/json"])').count(), 2);
}

// Each page is loaded once and then seen in every way: loading and drawing it costs more than what is asked of it.
describe('every page', concurrently, () => {
  const judged = ['modes', 'hostile', 'swept', 'empty', 'comparedHostile', 'historyHostile'];
  for (const [name, file] of Object.entries(pages)) {
    test(name, (context) =>
      opened(file, {}, async (page) => {
        await drawAll(page);
        assert.equal((await page.locator('figure').count()) > 0, name !== 'empty');
        await context.test('draws each of its charts', screen(page, 1280, 'light'));
        if (judged.includes(name)) {
          await context.test('is accessible in light', () => assertRead(page));
          await page.emulateMedia({ colorScheme: 'dark' });
          await context.test('is accessible in dark', () => assertRead(page));
        }
        await context.test('nothing sticks out of a narrow screen', screen(page, 390, 'light'));
        if (name.toLowerCase().endsWith('hostile')) await context.test('names are text and nothing else', () => assertNamesAreText(page));
      }));
  }

  test('many: draws each of its charts, and nothing sticks out of a narrow screen', () =>
    opened(many80, { viewport: { width: 390, height: 800 } }, async (page) => {
      await drawAll(page);
      await screen(page, 390, 'light')();
    }));
});

describe('every kind of page, on a phone, a laptop, a wide screen and paper', concurrently, () => {
  for (const [name, file] of Object.entries(subjects)) {
    test(name, (context) =>
      opened(file, { viewport: { width: 390, height: 900 }, colorScheme: 'dark' }, async (page) => {
        await drawAll(page);
        assert.ok((await page.locator('figure').count()) > 0);
        for (const [width, colorScheme] of [[390, 'dark'], [1280, 'light'], [1920, 'dark']]) {
          await context.test(`${width} px: nothing is clipped or covered, and everyone can read it in ${colorScheme}`, async () => {
            await screen(page, width, colorScheme)();
            assert.deepEqual(await misdrawn(page), []);
            await assertRead(page);
          });
        }
        await context.test('printed: light, whole, and everyone can read it', async () => {
          await resized(page, 700, 1000);
          await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
          assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
          assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 700, 'fits the width of A4');
          await assertRead(page);
        });
      }));
  }
});

describe('charts', concurrently, () => {
  test('a sweep over two axes begins with its lines, whose axes have a label at each end of what was measured', () =>
    opened(pages.swept, {}, async (page) => {
      await drawAll(page);
      const first = page.locator('figure').first();
      assert.ok((await first.locator('.mark-line path').count()) >= 2);
      const labels = await first.locator('.role-axis-label text').allTextContents();
      for (const end of ['4 KiB', '16 MiB']) assert.ok(labels.includes(end), `${labels}`);
    }));

  test('a map has numbers in its cells where there is room for them', () =>
    opened(subjects.map, {}, async (page) => {
      const numbers = async () => {
        await drawAll(page);
        return page.locator('figure').filter({ has: page.locator('.plot .mark-rect') }).first().locator('.mark-text.role-mark text').count();
      };
      assert.equal(await numbers(), 49);
      await resized(page, 390);
      assert.equal(await numbers(), 0);
    }));
});

describe('the memory of a program', concurrently, () => {
  for (const [width, colorScheme] of [[390, 'dark'], [1280, 'light'], [1920, 'dark']]) {
    test(`${width} px: drawn, nothing sticks out, and everyone can read it in ${colorScheme}`, () =>
      opened(memory, { viewport: { width, height: 900 }, colorScheme }, async (page) => {
        assert.ok((await page.locator('.memory-bar i').count()) > 5);
        assert.ok((await page.locator('.memory-strips li').count()) > 5);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        assert.deepEqual(await violations(page), []);
      }));
  }

  test('answers first, then the bar, whose parts are as wide as their shares', () =>
    opened(memory, {}, async (page) => {
      const places = await page.evaluate(() => ['.verdict', 'main > p', '.memory-bar', 'table', '.memory-strips'].map((one) => document.querySelector(one).getBoundingClientRect().top));
      assert.deepEqual(places, [...places].sort((a, b) => a - b));
      const { holes, all } = await page.evaluate(() => {
        const width = (one) => document.querySelector(one).getBoundingClientRect().width;
        return { holes: width('.memory-bar .m-holes'), all: width('.memory-bar') };
      });
      const share = Number((await page.locator('.memory-legend li', { hasText: /^holes/ }).innerText()).match(/([\d.]+) %/)[1]);
      assert.ok(Math.abs((100 * holes) / all - share) < 4, `${holes} of ${all} px for ${share} %`);
      assert.match(await page.locator('.memory-bar').getAttribute('aria-label'), /One bar of .*holes [\d.]+ MiB/);
    }));

  test('every kind has a colour of its own, in both themes', () =>
    opened(memory, {}, async (page) => {
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        const colours = await page.evaluate(() => {
          const style = getComputedStyle(document.documentElement);
          return [...document.querySelectorAll('.memory-bar i')].map((one) => style.getPropertyValue(`--${one.className}`).trim());
        });
        assert.ok(colours.every((one) => one !== ''));
        assert.equal(new Set(colours).size, colours.length);
      }
    }));

  test('an area tells what it is to the mouse and to the keyboard', () =>
    opened(memory, {}, async (page) => {
      const heap = page.locator('.memory-strips li', { hasText: '[heap]' });
      const about = heap.locator('.memory-about');
      const height = () => about.evaluate((one) => one.getBoundingClientRect().height);
      assert.ok((await height()) <= 1);
      await heap.hover();
      assert.ok((await height()) > 10);
      assert.match(await about.innerText(), /0x[0-9a-f]+ to 0x[0-9a-f]+: [\d.]+ MiB of [\d.]+ MiB resident, [\d,]+ pages: .*holes/);
      await page.mouse.move(0, 0);
      await heap.focus();
      assert.ok((await height()) > 10);
    }));

  test('the same stands in a table', () =>
    opened(memory, {}, async (page) => {
      await page.locator('summary', { hasText: 'as a table' }).click();
      const row = page.locator('tr', { hasText: '[heap]' });
      assert.match(await row.innerText(), /holes/);
    }));
});

const verdict = (page) => page.locator('.verdict h2').innerText();
const titles = (page) => page.locator('figure h3').allTextContents();

// What stands on the first screen as text.
const firstScreen = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('.verdict h2, .verdict li')]
      .filter((item) => item.getBoundingClientRect().bottom <= innerHeight)
      .map((item) => item.textContent)
      .join('\n'),
  );

describe('a flame graph', concurrently, () => {
  const frame = (page, name) => page.locator('.flame-graph .frame', { hasText: new RegExp(`^${name}$`) }).first();
  const focused = (page) => page.evaluate(() => document.activeElement.textContent);

  for (const [width, colorScheme] of [[390, 'dark'], [1280, 'light'], [1920, 'dark']]) {
    test(`${width} px: drawn, nothing sticks out, and everyone can read it in ${colorScheme}`, () =>
      opened(stacks, { viewport: { width, height: 900 }, colorScheme }, async (page) => {
        assert.ok((await page.locator('.flame-graph .frame').count()) > 10);
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
        assert.deepEqual(await violations(page), []);
      }));
  }

  test('widths are what functions have of each figure, and the table says the same', () =>
    opened(stacks, {}, async (page) => {
      const all = await page.locator('.flame-graph .frame').first().getAttribute('aria-label');
      assert.equal(all, 'all, 11.7 MiB, 100.0%');
      for (const [figure, value] of [['allocated', '57.2 MiB'], ['live at the end', '8.73 KiB'], ['temporary allocations', '401,589']]) {
        await page.getByRole('radio', { name: figure, exact: true }).check();
        assert.equal(await page.locator('.flame-graph .frame').first().getAttribute('aria-label'), `all, ${value}, 100.0%`);
        assert.match(await page.locator('.flame-status').innerText(), new RegExp(`^${value} ${figure}$`));
        const [first] = await page.locator('.flame-table tbody tr').all();
        assert.ok(first);
      }
    }));

  test('arrows walk, Enter widens and Escape goes back', () =>
    opened(stacks, {}, async (page) => {
      await page.locator('.flame-graph .frame').first().focus();
      await page.keyboard.press('ArrowDown');
      const inner = await focused(page);
      assert.notEqual(inner, 'all');
      await page.keyboard.press('ArrowDown');
      const deeper = await focused(page);
      await page.keyboard.press('Enter');
      assert.equal(await focused(page), deeper);
      const box = await page.locator('.flame-graph .frame:focus').boundingBox();
      const graph = await page.locator('.flame-graph').boundingBox();
      assert.ok(box.width > graph.width * 0.98);
      await page.keyboard.press('ArrowUp');
      assert.equal(await focused(page), inner);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Home');
      assert.equal(await focused(page), 'all');
    }));

  test('a search marks functions, says what they have, and narrows the table', () =>
    opened(stacks, {}, async (page) => {
      await page.getByRole('searchbox').fill('sqlite3Malloc');
      assert.ok((await page.locator('.frame.hit').count()) > 0);
      assert.match(await page.locator('.flame-status').innerText(), /^"sqlite3Malloc": [\d.]+ MiB, [\d.]+% of 11\.7 MiB/);
      for (const name of await page.locator('.flame-table tbody th').allInnerTexts()) assert.match(name, /sqlite3malloc/i);
    }));

  test('without script the table of sites is there', () =>
    opened(stacks, { javaScriptEnabled: false }, async (page) => {
      assert.ok((await page.locator('table tbody tr').count()) > 5);
    }));

  test('100,000 stacks are drawn too, and what is too narrow to see is left out', (context) =>
    opened(callersOf(100_000), {}, async (page) => {
      const drawn = await page.locator('.flame-graph .frame').count();
      assert.ok(drawn > 100 && drawn < 20_000, `${drawn}`);
      context.diagnostic(`${await page.evaluate(() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd)} ms`);
    }));
});

describe('what a page says and does', concurrently, () => {
  test('a replay says in its first line what to take', () =>
    opened(subjects.replay, {}, async (page) => {
      assert.match(await verdict(page), /^Both cases were measured; .*(glibc|tlsf)/);
      assert.doesNotMatch(await page.locator('body').innerText(), /Nothing was asserted/);
      await drawAll(page);
      assert.match((await page.locator('figure .plot svg').allTextContents()).join('\n'), /logarithmic/);
    }));

  test('what was watched says how it ended, and draws faults', () =>
    opened(subjects.watch, {}, async (page) => {
      assert.match(await verdict(page), /^Exit code 0 after .*: .* resident at the peak, [\d,]+ minor and [\d,]+ major faults/);
      await drawAll(page);
      const at = (await titles(page)).indexOf('Page faults and memory stalls over time');
      assert.ok(at >= 0);
      assert.match(await page.locator('figure .plot svg').nth(at).textContent(), /minor faults: [\d,]+ in all/);
    }));

  test('a probe folds what the machine consists of', () =>
    opened(subjects.probe, {}, async (page) => {
      assert.doesNotMatch(await verdict(page), /Nothing was asserted/);
      const facts = page.locator('details', { hasText: /^\d+ facts of \d+ parts/ });
      assert.equal(await facts.count(), 1);
      assert.ok(!(await facts.locator('table').isVisible()));
      assert.ok((await facts.locator('tbody tr').count()) > 12);
    }));

  test('a fit begins with a sentence, and has a picture for every policy', () =>
    opened(subjects.fit, {}, async (page) => {
      assert.match(await verdict(page), /^2 times in a row, this trace fits into .* under \d of 8 policies: /);
      assert.match(await page.locator('.verdict').innerText(), /\w+ needs .*: the .* block of event [\d,]+ fails/);
      const drawn = (await titles(page)).filter((title) => title.startsWith('Address space over time'));
      assert.equal(new Set(drawn).size, 8);
    }));

  test('a trace of several processes tells them apart', () =>
    opened(subjects.processes, {}, async (page) => {
      await drawAll(page);
      const at = (await titles(page)).indexOf('Live bytes of each process');
      const text = await page.locator('figure .plot svg').nth(at).textContent();
      assert.ok((text.match(/cat/g) ?? []).length >= 8, text);
      assert.ok((await page.locator('table', { has: page.locator('#processes') }).locator('tbody tr').count()) >= 9);
    }));

  test('a fleet has one drawing for each quantity with outliers, and its axes say where they begin', () =>
    opened(subjects.fleet, {}, async (page) => {
      const drawn = await titles(page);
      assert.equal(new Set(drawn).size, drawn.length);
      assert.ok(drawn.length > 0 && drawn.length <= outlyingQuantities().size);
      for (const about of await page.locator('figcaption p').allTextContents()) assert.match(about, /The axis does not begin at 0/);
    }));

  test('the axis of a history says where it begins', () =>
    opened(subjects.history, {}, async (page) => {
      for (const about of await page.locator('figcaption p').allTextContents()) assert.match(about, /The axis does not begin at 0/);
    }));

  test('80 cases: the first screen has the verdict, the slower mode, the ratio with its interval and the cause', () =>
    opened(many80, {}, async (page) => {
      assert.equal(await page.locator('table').first().locator('tbody tr').count(), 80);
      const seen = await firstScreen(page);
      assert.match(seen, /80 cases/);
      assert.match(seen, /finalizer.*x the time.*refcount.*95 % interval/);
      assert.match(seen, /page faults explain/);
      assert.deepEqual(await violations(page), []);
    }));

  // The five pages that people open most, a sweep and the search for leaks.
  for (const [name, file] of [
    ...['run', 'map', 'compare', 'replay', 'fit', 'leaks'].map((subject) => [subject, subjects[subject]]),
    ...['modes', 'churn', 'swept'].map((subject) => [subject, pages[subject]]),
  ]) {
    test(`${name}: on a phone the picture comes before the findings, and most of it is on the first screen`, () =>
      opened(file, { viewport: { width: 390, height: 844 } }, async (page) => {
        await page.waitForFunction(() => document.querySelector('figure .plot svg'));
        const place = await page.evaluate(() => {
          const plot = document.querySelector('figure .plot');
          const findings = [...document.querySelectorAll('.verdict li')];
          return {
            top: plot.getBoundingClientRect().top + scrollY,
            before: findings.filter((item) => item.compareDocumentPosition(plot) & Node.DOCUMENT_POSITION_FOLLOWING).length,
          };
        });
        assert.ok(place.top < 844 * 0.65, `the picture begins at ${place.top} of 844`);
        assert.equal(place.before, 0);
      }));
  }

  test('80 cases compared: the first screen has the verdict and the worst of what changed', () =>
    opened(comparedMany, {}, async (page) => {
      const seen = await firstScreen(page);
      assert.match(seen, /regressed/);
      assert.match(seen, /1\.3\d*x \(95 % interval/);
      await page.waitForFunction(() => document.querySelector('figure .plot svg'));
    }));

  test('a comparison shows memory over time before and after, in the words of both', () =>
    opened(pages.comparedModes, {}, async (page) => {
      await drawAll(page);
      const text = await page.locator('figure .plot svg').allTextContents();
      assert.ok(text.some((one) => one.includes('base: ') && one.includes('candidate: ')));
    }));

  test('a history says first what changed and since which run, and marks it in its chart', () =>
    opened(subjects.history, {}, async (page) => {
      const seen = await firstScreen(page);
      assert.match(seen, /24 runs of churn: \d+ changes for the worse, 0 for the better/);
      assert.match(seen, /1\.2\d*x \(95 % interval .*\) from run 15 of 24, 2026-01-15/);
      await page.waitForFunction(() => document.querySelector('figure .plot svg'));
      assert.match(await page.locator('figure .plot svg').first().textContent(), /1\.2\d*x from run 15/);
    }));

  for (const name of ['compare', 'history']) {
    test(`${name}: without script the verdict and the figures are there, and paper is light`, () =>
      opened(subjects[name], { javaScriptEnabled: false, colorScheme: 'dark' }, async (page) => {
        assert.ok(await page.locator('.verdict h2').isVisible());
        assert.ok((await page.locator('table tbody tr').count()) > 10);
        await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
        assert.equal(await page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor), 'rgb(255, 255, 255)');
      }));
  }

  test('the first screen says who is slower, by how much, how sure that is, and why', () =>
    opened(pages.churn, {}, async (page) => {
      const seen = await page.evaluate(() =>
        [...document.querySelectorAll('.verdict h2, .verdict li')]
          .filter((item) => item.getBoundingClientRect().bottom <= innerHeight)
          .map((item) => item.textContent)
          .join('\n'),
      );
      assert.match(seen, /assertions hold/);
      assert.match(seen, /finalizer .*: \d+x the time per array of refcount \(95 % interval \d+ to \d+\)/);
      assert.match(seen, /page faults explain \d+ % of the extra time/);
    }));

  test('paper is light, whatever the screen', () =>
    opened(pages.modes, { colorScheme: 'dark' }, async (page) => {
      await drawAll(page);
      const colours = () =>
        page.evaluate(() => [
          getComputedStyle(document.body).color,
          getComputedStyle(document.querySelector('.plot .role-axis-label text')).fill,
          getComputedStyle(document.querySelector('.plot .mark-line path')).stroke,
        ]);
      const dark = await colours();
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      const printed = await colours();
      assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
      await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
      assert.deepEqual(printed, await colours());
      printed.forEach((colour, i) => assert.notEqual(colour, dark[i]));
      await page.setViewportSize({ width: 700, height: 900 });
      await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
      await page.emulateMedia({ media: 'print' });
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 700, 'fits the width of A4');
    }));

  test('printing draws charts that were not seen yet, and opens what opens on demand', () =>
    opened(pages.churn, {}, async (page) => {
      await page.pdf();
      const figures = await page.locator('figure').count();
      assert.equal(await page.locator('figure .plot svg').count(), figures);
      assert.equal(await page.locator('details[open]').count(), 0, 'closed again afterwards');
    }));

  test('without script the verdict and every figure are there', () =>
    opened(pages.modes, { javaScriptEnabled: false }, async (page) => {
      assert.ok(await page.getByText('All 3 cases were measured.').isVisible());
      assert.ok(await page.getByRole('cell', { name: '762.9 MiB' }).first().isVisible());
      const figures = page.locator('figure').filter({ has: page.locator('table') });
      let rows = 0;
      for (const figure of await figures.all()) {
        const table = figure.locator('table').first();
        assert.ok(!(await table.isVisible()));
        await figure.locator('summary').first().click();
        assert.ok(await table.isVisible());
        rows = Math.max(rows, await table.locator('tbody tr').count());
      }
      assert.ok(rows > 20);
    }));

  test('hostile names are shown, and stay text under the pointer', () =>
    opened(pages.hostile, {}, async (page) => {
      await drawAll(page);
      const text = await page.locator('body').innerText();
      for (const name of [names[0], names[1], names[2]]) assert.ok(text.includes(name), name);
      assert.ok(!text.includes('\u202e'));
      await page.locator('.plot svg .mark-rect path').last().hover({ force: true });
      await assertNamesAreText(page);
    }));

  test('the pointer shows the values of the nearest sample', () =>
    opened(pages.modes, {}, async (page) => {
      await drawAll(page);
      const slice = page.locator('figure .mark-rect.child_layer_4_marks').first().locator('path').nth(20);
      await slice.hover({ force: true });
      assert.match(await page.locator('.tip').innerText(), /time [\d.]+ ms\nworking set [\d.]+ MiB\nlive bytes [\d.]+ MiB/);
      await page.mouse.move(2, 2);
      assert.ok(!(await page.locator('.tip').isVisible()));
    }));

  for (const name of ['modes', 'swept']) {
    test(`${name}: buttons zoom in and back`, () =>
      opened(pages[name], {}, async (page) => {
        await drawAll(page);
        const figure = lines(page);
        const line = () => figure.locator('.plot .mark-line path').first().getAttribute('d');
        const whole = await line();
        await figure.getByRole('button', { name: 'Zoom in' }).click();
        const zoomed = await line();
        assert.notEqual(zoomed, whole);
        await figure.getByRole('button', { name: 'Zoom out' }).click();
        await figure.getByRole('button', { name: 'Whole' }).click();
        assert.equal(await line(), whole);
      }));
  }

  for (const colorScheme of ['light', 'dark']) {
    test(`a chart is saved as it is shown, in ${colorScheme}`, () =>
      opened(subjects.replay, { colorScheme }, async (page) => {
        await drawAll(page);
        const figure = page.locator('figure').first();
        const saved = async (kind) => {
          const coming = page.waitForEvent('download');
          await figure.getByRole('button', { name: `Save as ${kind.toUpperCase()}`, exact: true }).click();
          const download = await coming;
          assert.match(download.suggestedFilename(), new RegExp(`^[a-z0-9_]+[.]${kind}$`));
          return readFileSync(await download.path());
        };
        const svg = (await saved('svg')).toString();
        const ground = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--surface').trim());
        assert.ok(!svg.includes('var('), 'colours stand in the file');
        assert.ok(svg.includes(`fill="${ground}"`), `on ${ground}`);
        for (const label of await figure.locator('.plot svg text').allTextContents()) {
          if (label.trim() && !/[<>&"]/.test(label)) assert.ok(svg.includes(label), label);
        }
        const png = await saved('png');
        assert.equal(png.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n');
        const shown = await figure.locator('.plot svg').evaluate((one) => Number(one.getAttribute('width')));
        assert.ok(Math.abs(png.readUInt32BE(16) - 2 * shown) <= 4, `${png.readUInt32BE(16)} pixels of ${shown}`);
      }));
  }

  test('the wheel zooms with Ctrl alone, so that a page can be scrolled over its charts', () =>
    opened(pages.modes, {}, async (page) => {
      await drawAll(page);
      const line = lines(page).locator('.plot .mark-line path').first();
      const whole = await line.getAttribute('d');
      await lines(page).locator('.plot svg').first().hover();
      await page.mouse.wheel(0, 40);
      await page.waitForFunction(() => scrollY > 0);
      assert.equal(await line.getAttribute('d'), whole);
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -200);
      await page.keyboard.up('Control');
      await page.waitForFunction((before) => document.querySelector('figure .mark-line path').getAttribute('d') !== before, whole);
    }));

  test('a click on a header sorts the table by it, a second one turns it round', () =>
    opened(pages.churn, {}, async (page) => {
      const table = page.locator('table.sortable').first();
      const peaks = () => table.locator('tbody tr').evaluateAll((rows) => rows.map((row) => parseFloat(row.cells[4].title.replaceAll(',', ''))));
      const up = (await peaks()).sort((a, b) => a - b);
      await table.getByRole('button', { name: 'working set peak' }).first().click();
      assert.deepEqual(await peaks(), up);
      assert.equal(await table.locator('th[aria-sort="ascending"]').count(), 1);
      await table.getByRole('button', { name: 'working set peak' }).first().click();
      assert.deepEqual(await peaks(), up.reverse());
    }));

  test('charts are drawn again when the window gets another width', () =>
    opened(pages.modes, {}, async (page) => {
      await drawAll(page);
      const width = async () => Number(await page.locator('.plot svg').first().getAttribute('width'));
      const wide = await width();
      await page.setViewportSize({ width: 700, height: 700 });
      await page.waitForFunction((before) => Number(document.querySelector('.plot svg').getAttribute('width')) < before, wide);
    }));

  test('vega: Vega-Lite draws the whole specification, without a warning', () =>
    opened(pages.modes, {}, async (page) => {
      for (const [name, result] of Object.entries({ churn: reference('churn'), hostile: hostile(), swept: swept(), empty: empty() })) {
        const spec = specOf(result);
        const { drawn, warnings } = await page.evaluate(async (spec) => {
          const warnings = [];
          const note = (...text) => warnings.push(text.join(' '));
          const logger = { level: () => logger, error: note, warn: note, info: () => logger, debug: () => logger };
          const { compile, expressionInterpreter, parse, View } = globalThis.memsweepCharts;
          const view = new View(parse(compile(spec, { logger }).spec, null, { ast: true }), { expr: expressionInterpreter, renderer: 'none' });
          return { drawn: await view.toSVG(), warnings };
        }, spec);
        assert.deepEqual(warnings, [], name);
        assert.doesNotMatch(drawn, /NaN|undefined/);
        for (const { title } of spec.vconcat) assert.ok(name === 'hostile' || drawn.includes(title), title);
      }
    }));

  test('long curves and many cases stay small', () => {
    for (const file of [pages.long, many80]) assert.ok(statSync(file).size < 8e6, `${file}: ${statSync(file).size}`);
  });

  test('80 cases with curves: what is open is drawn without being scrolled to', async (context) => {
    const start = performance.now();
    await opened(many80, {}, async (page) => {
      await page.waitForFunction(() =>
        [...document.querySelectorAll('figure')].every((figure) => figure.closest('details') || figure.querySelector('svg')),
      );
      context.diagnostic(`${Math.round(performance.now() - start)} ms, ${statSync(many80).size} bytes`);
    });
  });
});
