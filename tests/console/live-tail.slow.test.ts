/** A live tail keeps its memory, in a real Chromium: a short run stands for a long one. */
import type { CDPSession, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { withConsole } from '../support/console/browser.ts';
import { pay, succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';

/** Entries of a quarter of the run. More of them would only take longer. */
const QUARTER = 400;
/**
 * The last two quarters add less than this. Their entries, kept in a list, would take more; pages
 * of the timeline that are out of sight stay for half a minute, and take a fraction.
 */
const GROWTH_BYTES = 400_000;
const ROWS_MAX = 60;

async function paid(server: TestServer, from: number): Promise<void> {
  for (let n = from; n < from + QUARTER; n += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => {
        const key = `k${n + i}`;
        return succeed(server, 'proposals.create', pay(`d${(n + i) % 50}`, 1, key, { as: 'agent:scout' }));
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
    const heaps: number[] = [];
    for (let quarter = 1; quarter <= 4; quarter++) {
      await paid(server, (quarter - 1) * QUARTER);
      await shown(page, quarter * QUARTER);
      heaps.push(await heapOf(session));
      expect(await page.locator('li').count()).toBeLessThan(ROWS_MAX);
    }
    // The first quarter fills the caches of the page and of the browser.
    expect((heaps.at(-1) as number) - (heaps[1] as number)).toBeLessThan(GROWTH_BYTES);
  });
});
