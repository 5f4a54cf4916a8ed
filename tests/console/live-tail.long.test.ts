/** A live tail keeps its memory, in a real Chromium: a short run stands for a long one. */
import type { CDPSession, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { withConsole } from '../support/console/browser.ts';
import { pay, succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';

/** Entries of a quarter of the run. More of them would only take longer. */
const QUARTER = 400;
/** The last two quarters leave less than this. Each page of them, kept, would take more. */
const GROWTH_BYTES = 200_000;
/** The page forgets what is out of sight after half a minute. */
const FORGOTTEN_MS = 60_000;
const ROWS_MAX = 60;

async function paid(server: TestServer, from: number): Promise<void> {
  for (let n = from; n < from + QUARTER; n += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => {
        const key = `k${n + i}`;
        return succeed(
          server,
          'proposals.create',
          pay(`d${(n + i) % 50}`, 1, key, { as: 'agent:scout' }),
        );
      }),
    );
}

async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}

async function shown(page: Page, seq: number): Promise<void> {
  await page.locator(`li a[href$="/timeline/main/${seq}"]`).getByText('Committed').waitFor();
}

withConsole(({ serve, open }) => {
  test('the heap of a live tail does not grow with the entries', async () => {
    const server = await serve();
    const page = await open(server, 'auditor:eve', '/timeline/main');
    await page.getByText('Live').waitFor();
    const session = await page.context().newCDPSession(page);
    let filled = 0;
    for (let quarter = 1; quarter <= 4; quarter++) {
      await paid(server, (quarter - 1) * QUARTER);
      await shown(page, quarter * QUARTER);
      expect(await page.locator('li').count()).toBeLessThan(ROWS_MAX);
      // The first quarter fills the caches of the page and of the browser.
      if (quarter === 2) filled = await heapOf(session);
    }
    const grown = async () => (await heapOf(session)) - filled;
    await expect.poll(grown, { timeout: FORGOTTEN_MS, interval: 1_000 }).toBeLessThan(GROWTH_BYTES);
  });
});
