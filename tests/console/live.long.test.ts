/** The live stream of the console, in a real Chromium. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { withConsole } from '../support/console/browser.ts';
import { pay, succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';

const PATIENCE = { timeout: 30_000 };
const TABS = 8;

/** A payment that commits immediately, in a trajectory. */
async function paid(
  server: TestServer,
  key: string,
  trajectory = 'main',
  amount = 1,
): Promise<void> {
  const as = trajectory === 'other' ? 'agent:other' : 'agent:scout';
  const desk = trajectory === 'other' ? 'away' : `d${key}`;
  await succeed(server, 'proposals.create', pay(desk, amount, key, { as, path: { trajectory } }));
}

/** The requests that a page makes from now on, without the address of the server. */
function requestsOf(page: Page, server: TestServer): string[] {
  const made: string[] = [];
  page.on('request', (request) => made.push(request.url().slice(server.url.length)));
  return made;
}

async function openStreams(server: TestServer): Promise<number> {
  const { text } = await server.ask('GET', '/metrics', { token: server.tokens['auditor:eve'] });
  return Number(/^assize_event_streams (\d+)$/m.exec(text)?.[1]);
}

function rowOf(page: Page, seq: number) {
  return page.locator(`li a[href$="/timeline/main/${seq}"]`).getByText('committed');
}

withConsole(({ serve, open }) => {
  test('a server that hangs is offline, and live again with its next sign', async () => {
    const server = await serve();
    const streams: ServerResponse[] = [];
    // It begins a stream, and says nothing more.
    const hanging = createServer((_, response) => {
      const headers = { 'content-type': 'text/event-stream' };
      response.writeHead(200, headers).write('event: ready\nid: 3\ndata: {}\n\n');
      streams.push(response);
    });
    await new Promise<void>((done) => hanging.listen(0, '127.0.0.1', done));
    onTestFinished(() => {
      hanging.close();
      hanging.closeAllConnections();
    });
    const { port } = hanging.address() as AddressInfo;
    const page = await open(server, 'auditor:eve', '/activity', {
      before: (page) =>
        page.route('**/v1/events*', (route) =>
          route.continue({ url: `http://127.0.0.1:${port}/v1/events` }),
        ),
    });
    await page.getByText('Live').waitFor();
    await page.getByText('Offline').waitFor({ timeout: 10_000 });
    for (const stream of streams) stream.write('event: alive\ndata: {}\n\n');
    await page.getByText('Live').waitFor();
  });

  test('an entry loads only the data again that it can change', async () => {
    const server = await serve();
    const page = await open(server, 'auditor:eve', '/timeline/main');
    await page.getByText('Live').waitFor();
    await page.locator('li a[href$="/timeline/main/0"]').getByText('Started').waitFor();
    await page.waitForLoadState('networkidle');
    const made = requestsOf(page, server);
    for (let n = 0; n < 3; n++) await paid(server, `o${n}`, 'other');
    await paid(server, 'm0');
    await rowOf(page, 1).waitFor();
    expect([...new Set(made)]).toEqual(['/v1/trajectories/main/entries?from=0&limit=100']);
  });

  test('the inbox is loaded again by what waits, and not by other entries', async () => {
    const server = await serve();
    const page = await open(server, 'boss:ada', '/inbox');
    await page.getByText('Live').waitFor();
    await page.getByText('Nothing waits').waitFor();
    await expect.poll(async () => openStreams(server), PATIENCE).toBe(1);
    const made = requestsOf(page, server);
    for (let n = 0; n < 3; n++) await paid(server, `m${n}`);
    // The page has the gathered entries after this time.
    await page.waitForTimeout(1_000);
    expect(made).toEqual([]);
    await succeed(server, 'proposals.create', pay('a', 200, 'large'));
    await page.getByRole('button', { name: /pay/ }).waitFor();
    expect(made.sort()).toEqual([
      '/v1/approvals?limit=200&view=card&mine=true',
      // The navigation counts the calls in doubt, and the row says whether its world is halted.
      '/v1/effects?needs_human=true',
      '/v1/trajectories?halted=true&limit=500',
    ]);
  });

  test(`${TABS} tabs share one stream, and keep it when a tab closes`, async () => {
    const server = await serve();
    const first = await open(server, 'auditor:eve', '/timeline/main');
    await first.getByText('Live').waitFor();
    const tabs: Page[] = [first];
    while (tabs.length < TABS) {
      const tab = await first.context().newPage();
      await tab.goto(`${server.url}/timeline/main`);
      tabs.push(tab);
    }
    for (const tab of tabs) await tab.getByText('Live').waitFor();
    await paid(server, 'm0');
    for (const tab of tabs) await rowOf(tab, 1).waitFor();
    expect(await openStreams(server)).toBe(1);
    await first.close();
    await expect.poll(async () => openStreams(server), PATIENCE).toBe(1);
    await paid(server, 'm1');
    for (const tab of tabs.slice(1)) await rowOf(tab, 2).waitFor();
    expect(await openStreams(server)).toBe(1);
  });
});
