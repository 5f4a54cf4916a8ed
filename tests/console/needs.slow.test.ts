/** The first page of the console: what waits for a person, by the rights of that person. */
import { expect, test } from 'vitest';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { expectFitting } from '../support/console/page-checks.ts';
import { pay, succeed } from '../support/server/calling.ts';
import { SILENT_CENTS } from '../support/server/till.ts';

/** An instant some minutes before now. */
const before = (minutes: number): string =>
  new Date(Date.now() - minutes * 60_000).toISOString().replace('Z', '000Z');

const FAILED = {
  ...{ id: 'n1', type: 'approval.requested', receiver: 'mail:boss', shown_as: 'boss:ada' },
  ...{ configured: true, entry_id: 'a'.repeat(64), attempts: 9, at: before(60) },
  error: { code: 'refused', detail: 'no such box' },
};
const run = (trajectory_id: string, minutes: number) => ({
  ...{ trajectory_id, agents: 'team', tenant: 't', status: 'ready', created: before(900) },
  ...{ updated: before(minutes), turns: 1, turns_max: 9, failures: 0, versions: [] },
});

withConsole(({ serve, open }) => {
  test('the first page has what waits, and each row leads to its decision', async () => {
    const server = await serve();
    for (const n of [1, 2, 3, 4, 5, 6])
      await succeed(server, 'proposals.create', pay(`d${n}`, 200 + n, `k${n}`));
    const { body, ...silent } = pay('w', 1, 'silent');
    const wire = { ...(body as object), action: 'wire', args: { cents: SILENT_CENTS } };
    await succeed(server, 'proposals.create', { ...silent, body: wire } as never);
    const page = await open(server, 'boss:ada', '/');
    await page.waitForURL(/\/needs$/);
    await page.getByRole('heading', { name: 'Waiting 6' }).waitFor();
    await page.getByRole('link', { name: /^Needs you 6 waiting/ }).waitFor();
    await expect.poll(() => page.title()).toBe('(6) Needs you · Assize');
    expect(await page.getByRole('link', { name: /amount 20\d/ }).count()).toBe(5);
    await page.getByText('Ends soon: none').waitFor();
    // A counselor sees no queue of the operator.
    expect(await page.getByText(/Failed notices|Stuck runs/).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Incidents' }).count()).toBe(0);
    await expectAccessible(page);
    await page.getByRole('link', { name: /amount 201/ }).click();
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    // No counselor of this domain settles calls, so an admin has the call in doubt.
    const admin = await open(server, 'admin:ann', '/needs');
    await admin.getByRole('link', { name: /bank.pay/ }).click();
    await admin.getByText('in doubt').first().waitFor();
  });

  test('an operator sees failed notices and runs that no worker takes', async () => {
    const server = await serve();
    const page = await open(server, 'admin:ann', '/needs', {
      width: 390,
      before: async (one) => {
        await one.route('**/v1/notices/failed*', (route) =>
          route.fulfill({ json: { notices: [FAILED] } }),
        );
        await one.route('**/v1/runs?*', (route) =>
          route.fulfill({ json: { runs: [run('slow', 6), run('quick', 4)] } }),
        );
      },
    });
    await page.getByText(/boss:ada.*refused: no such box/).waitFor();
    await page.getByRole('heading', { name: 'Stuck runs 1' }).waitFor();
    await page.getByRole('link', { name: 'slow' }).waitFor();
    await page.getByText('Waiting: none').waitFor();
    await expectAccessible(page);
    await expectFitting(page);
  });
});
