/** The steps of a person's first sign-in, in a real Chromium. */
import { expect, test } from 'vitest';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { expectFitting } from '../support/console/page-checks.ts';
import type { TestServer } from '../support/server/serving.ts';

const FIRST = { isFirst: true };

async function propose(server: TestServer, key: string, amount: number): Promise<any> {
  const answer = await server.ask('POST', '/v1/trajectories/main/proposals', {
    ...{ token: server.tokens['agent:scout'], key },
    body: { action: 'pay', role: { name: 'clerk', params: { desk: 'a' } }, args: { amount } },
  });
  return answer.body;
}

withConsole(({ serve, open }) => {
  test('a person without an entry gets three steps, each ticked when done', async () => {
    const server = await serve();
    await propose(server, 'k1', 200);
    const page = await open(server, 'boss:ada', '/', FIRST);
    const steps = page.getByRole('navigation', { name: 'First steps' });
    const done = async () => (await steps.getByText('✓').count()) as number;
    await steps.getByRole('link', { name: 'Decide what waits for you' }).waitFor();
    expect(await done()).toBe(0);
    await expectAccessible(page);
    await expectFitting(page);
    await page.getByRole('link', { name: /^pay/ }).click();
    await page.getByRole('button', { name: /^Approve/ }).click();
    await expect.poll(done).toBe(1);
    await steps.getByRole('link', { name: /^See why/ }).click();
    expect(new URL(page.url()).pathname).toBe('/activity');
    await page.goto(`${server.url}/timeline/main/1`);
    await expect.poll(done).toBe(2);
    await page.reload();
    await expect.poll(done).toBe(2);
    await page.setViewportSize({ width: 390, height: 800 });
    await expectFitting(page);
    await steps.getByRole('button', { name: 'Dismiss these steps' }).click();
    await steps.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByText('Live').waitFor();
    expect(await steps.count()).toBe(0);
  });

  test('steps that arrive after the page move none of it', async () => {
    const server = await serve();
    await propose(server, 'k1', 200);
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    const page = await open(server, 'boss:ada', '/needs', {
      ...FIRST,
      before: (opened) =>
        opened.route('**/v1/entries?principal=*', async (route) => {
          await isRead;
          await route.continue();
        }),
    });
    const row = page.getByRole('link', { name: /^pay/ });
    const before = await row.boundingBox();
    read();
    await page.getByRole('navigation', { name: 'First steps' }).waitFor();
    expect(await row.boundingBox()).toEqual(before);
  });

  test('an auditor proves after another person of the browser has decided', async () => {
    const server = await serve();
    const { approval_id: approval } = await propose(server, 'k1', 200);
    const page = await open(server, 'auditor:eve', '/audit', {
      ...FIRST,
      before: (opened) =>
        opened.addInitScript(
          "if (localStorage.length === 0) localStorage.setItem('assize-first-steps', 'decide why')",
        ),
    });
    const steps = page.getByRole('navigation', { name: 'First steps' });
    await expect.poll(() => steps.getByText('✓').count()).toBe(2);
    const saved = page.evaluate(
      "fetch('/v1/checkpoints', { method: 'POST' }).then((answer) => answer.ok)",
    );
    expect(await saved).toBe(true);
    await page.getByLabel('Approval').and(page.locator('input:not([type="radio"])')).fill(approval);
    await page.getByRole('button', { name: 'Download the proof bundle' }).click();
    await expect.poll(() => steps.getByText('✓').count()).toBe(3);
  });

  test('a person with a decision in the ledger gets no steps', async () => {
    const server = await serve();
    const { approval_id: approval } = await propose(server, 'k1', 200);
    const first = await open(server, 'boss:ada', `/inbox/${approval}`);
    await first.getByRole('button', { name: /^Approve/ }).click();
    await first.getByText('Nothing waits').or(first.getByText('is decided')).first().waitFor();
    const page = await open(server, 'boss:ada', '/', FIRST);
    await expect
      .poll(() => page.evaluate("localStorage.getItem('assize-first-steps')"))
      .toBe('off');
    expect(await page.getByRole('navigation', { name: 'First steps' }).count()).toBe(0);
  });
});
