/** A deputy in the console: named before it may decide, and named as such after its decision. */
import { expect, test } from 'vitest';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { deputised } from '../support/ledger/payments-desk.ts';
import { HandClock } from '../support/ledger/runtime.ts';
import { succeed } from '../support/server/calling.ts';
import type { PrincipalName } from '../support/server/serving.ts';

const OWNER = 'owner:olga' as PrincipalName;

withConsole(({ serve, open }) => {
  test('the card names the deputy and the time, and the entry says as what', async () => {
    const clock = new HandClock();
    const server = await serve({
      ...{ domains: [deputised], clock, config: { worlds: { main: { domain: 'desk' } } } },
      principals: {
        'agent:scout': {
          kinds: ['agent'],
          grants: [{ actions: ['pay'], scopes: ['role:worker'] }],
        },
        'owner:olga': { kinds: ['counselor'] },
      },
    });
    const { approval_id: approval } = await succeed(server, 'proposals.create', {
      ...{ as: 'agent:scout', path: { trajectory: 'main' }, key: 'k1' },
      body: { action: 'pay', role: 'worker', args: { amount: 900, memo: 'rent' } },
    });
    const shown = async () =>
      (await succeed(server, 'approvals.get', { as: OWNER, path: { approval } })).approval;
    const deputies = [{ of: 'boss', kind: 'owner', from: '2026-03-23T10:00:00.000000Z' }];
    expect(await shown()).toMatchObject({ deputies, deciders: [], card: { deputies } });

    const page = await open(server, OWNER, `/inbox/${approval}?show=all`);
    await page.getByText(/The owner may decide for boss from 23 Mar/).waitFor();
    await expectAccessible(page);
    // A new connection loads every page again.
    await page.route(/v1\/events/, (route) => route.abort());
    await page.clock.install();
    await page.goto(`${server.url}/inbox`);
    await page.getByText('Nothing waits').first().waitFor();
    clock.forward(3_600_000);
    await page.clock.fastForward(60_000);
    await page.getByText('rent').first().waitFor();
    const { may_decide, digest } = await shown();
    expect(may_decide).toBe(true);
    const { seq } = await succeed(server, 'approvals.approve', {
      ...{ as: OWNER, path: { approval }, key: 'k2', body: { digest } },
    });
    await page.goto(`${server.url}/timeline/main/${seq}`);
    await page.getByText(/owner:olga, as owner, by token.*, the deputy of boss since/).waitFor();
    await expectAccessible(page);
  });
});
