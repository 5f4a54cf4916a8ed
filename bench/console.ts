/**
 * The console in a real Chromium, over a ledger of a million entries and a world of a hundred
 * thousand members: the time to the first paint and to the first entries, the longest task of the
 * page while a reader scrolls, jumps, filters and searches, and the time to open the world at a
 * point. Then the inbox over 200 waiting proposals, also at the speed of a slow mobile network. A
 * task is one of the page's main thread, from a trace of the browser.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { chromiumHere } from '../tests/support/tools/browser/with-chromium.ts';
import { writeWaiting } from './bills.ts';
import type { Ready } from './console-server.ts';
import { type LedgerFile, writeLedger } from './ledger.ts';
import { type BenchResult, formatTable, median } from './measure.ts';

const ENTRIES = 1_000_000;
const MEMBERS = 100_000;
/** Entries of the ledger with the large world. */
const COMMITS = 10_000;
const ROUNDS = 3;
const PATIENCE = { timeout: 300_000 };

const FIRST_MS_MAX = 1_000;
const TASK_MS_MAX = 100;
const WORLD_MS_MAX = 2_000;

const WAITING = 200;
const INBOX_MS_MAX = { 'this machine': 1_000, 'slow 4G': 2_500 };
/** As of the developer tools of Chromium, by their published figures. */
const SLOW_4G = { latency: 400, downloadThroughput: 200_000, uploadThroughput: 94_000 };

export async function consoleBench(): Promise<BenchResult[]> {
  const executablePath = chromiumHere();
  if (executablePath === undefined) {
    console.error(
      'console is left out: there is no Chromium here, and none is named in CHROMIUM_PATH.',
    );
    return [];
  }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    return [
      ...(await over(await writeLedger(ENTRIES), (site) => timeline(browser, site))),
      ...(await over(await writeLedger(COMMITS, MEMBERS), (site) => world(browser, site))),
      ...(await over(await writeWaiting(WAITING), (site) => inbox(browser, site))),
    ];
  } finally {
    await browser.close();
  }
}

/** A ledger that a server shows. */
interface Site {
  readonly ready: Ready;
  readonly trajectoryId: string;
  readonly head: number;
}

async function over(
  file: LedgerFile,
  measure: (site: Site) => Promise<BenchResult[]>,
): Promise<BenchResult[]> {
  const server = fork(fileURLToPath(new URL('console-server.ts', import.meta.url)), [file.url], {
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
  });
  try {
    const [ready] = (await once(server, 'message')) as [Ready];
    return await measure({ ready, trajectoryId: file.trajectoryId, head: file.entries - 1 });
  } finally {
    await ended(server);
    file.remove();
  }
}

async function ended(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const exit = once(server, 'exit');
  server.kill();
  await exit;
}

export async function timeline(browser: Browser, site: Site): Promise<BenchResult[]> {
  const { trajectoryId, head } = site;
  const at = `/timeline/${trajectoryId}`;
  const painted: number[] = [];
  const shown: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const page = await openPage(browser, site, at);
    await row(page, head).waitFor(PATIENCE);
    shown.push(await page.evaluate(() => performance.now()));
    painted.push(await page.evaluate<number>(FIRST_PAINT));
    await page.context().close();
  }
  const page = await openPage(browser, site, at);
  await row(page, head).waitFor(PATIENCE);
  const longest: Record<string, number> = {};
  const during = async (name: string, work: () => Promise<void>): Promise<void> => {
    longest[name] = await longestTask(browser, page, work);
  };
  const list = page.getByLabel('Entries, newest first');
  await during('scrolling', async () => {
    for (let step = 1; step <= 40; step++) {
      await list.evaluate(
        (element, part) => element.scrollTo({ top: element.scrollHeight * part }),
        ((step * 37) % 40) / 40,
      );
      await page.waitForTimeout(50);
    }
    for (let step = 0; step < 40; step++) await page.mouse.wheel(0, 600);
  });
  await during('jumping to the ends', async () => {
    await page.keyboard.press('End');
    await row(page, 0).waitFor(PATIENCE);
    await page.keyboard.press('Home');
    await row(page, head).waitFor(PATIENCE);
    await page.keyboard.press('Escape');
  });
  await during('searching', async () => {
    await page.getByLabel('Search entries').fill('bench-shop@1');
    await row(page, 0).waitFor(PATIENCE);
    await page.getByLabel('Search entries').fill('');
  });
  await during('filtering', async () => {
    await page.goto(`${site.ready.url}${at}?ruling=committed`);
    await row(page, head).waitFor(PATIENCE);
    await list.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
    await page.waitForTimeout(1_000);
  });
  await page.context().close();
  const name = `console, ${ENTRIES.toLocaleString('en')} entries`;
  return [
    {
      name: `${name}: first paint`,
      value: median(painted),
      unit: 'ms',
      goal: { max: FIRST_MS_MAX },
    },
    { name: `${name}: first entries shown`, value: median(shown), unit: 'ms' },
    ...Object.entries(longest).map(([what, value]) => ({
      ...{ name: `${name}: longest task, ${what}`, value, unit: 'ms', goal: { max: TASK_MS_MAX } },
    })),
  ];
}

export async function world(browser: Browser, site: Site): Promise<BenchResult[]> {
  const { trajectoryId, head, ready } = site;
  const page = await openPage(browser, site, `/timeline/${trajectoryId}`);
  await row(page, head).waitFor(PATIENCE);
  const times: number[] = [];
  const tasks: number[] = [];
  for (const part of [0.9, 0.5, 0.1]) {
    const seq = Math.round(head * part);
    const open = async (): Promise<void> => {
      await page.goto(`${ready.url}/timeline/${trajectoryId}/${seq}?view=state`);
      await page.getByLabel(`State after the entry ${seq}`).waitFor(PATIENCE);
    };
    tasks.push(await longestTask(browser, page, async () => void times.push(await timeOf(open))));
  }
  await page.context().close();
  const name = `console, ${MEMBERS.toLocaleString('en')} members`;
  return [
    {
      name: `${name}: world opened at a point`,
      value: Math.max(...times),
      unit: 'ms',
      goal: { max: WORLD_MS_MAX },
    },
    {
      name: `${name}: longest task, opening`,
      value: Math.max(...tasks),
      unit: 'ms',
      goal: { max: TASK_MS_MAX },
    },
  ];
}

export async function inbox(browser: Browser, site: Site): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const [network, max] of Object.entries(INBOX_MS_MAX)) {
    const shown: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const page = await openPage(browser, site, '/inbox', async (context, page) => {
        if (network !== 'slow 4G') return;
        const session = await context.newCDPSession(page);
        await session.send('Network.emulateNetworkConditions', { offline: false, ...SLOW_4G });
      });
      await page
        .getByRole('checkbox', { name: /^Mark Pay/ })
        .first()
        .waitFor(PATIENCE);
      shown.push(await page.evaluate(() => performance.now()));
      await page.context().close();
    }
    const name = `console, inbox of ${WAITING}: first proposals shown, ${network}`;
    results.push({ name, value: median(shown), unit: 'ms', goal: { max } });
  }
  return results;
}

/** Milliseconds from the request of the page to its first content. */
const FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime";

async function openPage(
  browser: Browser,
  { ready }: Site,
  path: string,
  before?: (context: BrowserContext, page: Page) => Promise<void>,
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
  await context.addCookies([{ ...ready.cookie, url: ready.url, httpOnly: true, sameSite: 'Lax' }]);
  const page = await context.newPage();
  await before?.(context, page);
  await page.goto(ready.url + path, { waitUntil: 'commit' });
  return page;
}

function row(page: Page, seq: number) {
  return page.locator(`li a[href*="/${seq}"]:not(:has([role=status]))`).first();
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** One event of a trace, in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly args: { readonly name?: string };
}

/** The longest task of the main thread of the page, in milliseconds, during some work. */
async function longestTask(
  browser: Browser,
  page: Page,
  work: () => Promise<void>,
): Promise<number> {
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'] });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: TraceEvent[];
  };
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(placeOf),
  );
  const tasks = traceEvents.filter(
    (event) => event.name.endsWith('RunTask') && mains.has(placeOf(event)),
  );
  return tasks.reduce((longest, { dur = 0 }) => Math.max(longest, dur), 0) / 1_000;
}

function placeOf({ pid, tid }: TraceEvent): string {
  return `${pid} ${tid}`;
}

if (import.meta.main) console.log(formatTable(await consoleBench()));
