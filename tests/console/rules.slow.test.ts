/** The rules in the console: what only observes, on every page, and what it would have refused. */
import { expect, test } from 'vitest';
import { gateway, readRules } from '#domains/gateway';
import type { Domain } from '#kernel';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { succeed } from '../support/server/calling.ts';

const { rules } = readRules(`
id: bills
mode: observe
until: 2099-01-01
tools: { bank/pay: { class: irreversible } }
rules: [{ id: pay, ask: bank/pay }]
`);

withConsole(({ serve, open }) => {
  test('every page says that the rules observe, and one what they would ask', async () => {
    const server = await serve({
      config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
      principals: {
        'agent:scout': {
          kinds: ['agent'],
          grants: [{ actions: ['call', 'begin', 'report', 'session'], scopes: ['**'] }],
        },
        'human:grace': { kinds: ['counselor'] },
      } as never,
      domains: [gateway({ rules }) as unknown as Domain],
      rules,
    });
    const body = { id: 'c1', server: 'bank', tool: 'pay', args: { to: 'eve' } };
    const called = await succeed(server, 'calls.ask', { path: { trajectory: 'calls' }, body });
    expect(called).toMatchObject({ decision: 'allowed' });
    for (const path of ['/inbox', '/timeline/calls', '/effects', '/memory', '/audit']) {
      const page = await open(server, 'human:grace', path);
      await page.getByRole('note').getByText('observing until 2099-01-01').waitFor();
      await page.close();
    }
    const page = await open(server, 'human:grace', '/agents/calls');
    const row = page.getByRole('row').filter({ hasText: 'would have asked' });
    await row.getByText('bank/pay').waitFor();
    await row.getByRole('link', { name: 'c1' }).waitFor();
    await expectAccessible(page);
  });
});
