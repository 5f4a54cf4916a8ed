/** An inbox with 200 proposals, in a real Chromium. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { call, type Domain, defineDomain, escalate } from '#kernel';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { succeed } from '../support/server/calling.ts';

const cents = z.int().positive();
const transfer = declareTool({
  name: 'bank.transfer',
  input: z.object({ cents }),
  class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['bank:**'],
  execute: () => undefined,
  compensate: () => ({ undone: 'all' }),
});
const bills = defineDomain({
  name: 'bills',
  version: '1',
  state: z.object({ paid: z.record(z.string(), cents) }),
  initial: { paid: {} },
  processes: { paying: { writes: ['/paid/*'] } },
  roles: { clerk: { processes: ['paying'] } },
  actions: {
    pay: {
      process: 'paying',
      args: z.object({ bill: z.string(), to: z.string(), cents }),
      present: {
        title: 'Pay {to} {cents}',
        fields: { to: { label: 'Payee' }, cents: { money: 'EUR' } },
        confirm: 'The bank pays {cents} to {to}.',
      },
      apply: (state, { bill, cents }) => {
        state.paid[bill] = cents;
      },
      calls: (_state, { cents }) => [call(transfer, { cents })],
    },
  },
  invariants: ({ eachCall }) => [
    eachCall('ALL', transfer, { channel: 'boss' }, () => escalate('each payment')),
  ],
  counselors: { boss: (principal) => principal.startsWith('boss:') },
}) as unknown as Domain;

const NAMES = ['Carla', 'دانا', '李明', 'x'.repeat(118)];

withConsole(({ serve, open }) => {
  test('200 proposals are searched, grouped, summed, and decided as a group', async () => {
    const grants = [{ actions: ['pay', 'bank.transfer'], scopes: ['**'] }];
    const server = await serve({
      domains: [bills],
      config: { worlds: { bills: { domain: 'bills' } }, tools: [transfer] },
      principals: {
        'agent:scout': { kinds: ['agent'], grants },
        'boss:ada': { kinds: ['counselor', 'auditor'] },
      } as never,
    });
    for (let n = 0; n < 200; n++)
      await succeed(server, 'proposals.create', {
        ...{ as: 'agent:scout' as never, path: { trajectory: 'bills' }, key: `k${n}` },
        body: {
          action: 'pay',
          role: { name: 'clerk', params: {} },
          args: { bill: `b${n}`, to: NAMES[n % 4], cents: 100 + n },
        },
      });
    const lists: number[] = [];
    const page = await open(server, 'boss:ada', '/inbox', {
      before: async (one) =>
        one.on('response', async (response) => {
          if (new URL(response.url()).pathname === '/v1/approvals')
            lists.push((await response.body()).length);
        }),
    });
    const list = page.getByRole('region', { name: 'Waiting proposals' });
    await list.getByText('200 of pay, ALL in bills, €399.00 in all').waitFor();
    await expectAccessible(page);
    expect(Math.max(...lists)).toBeLessThan(200 * 1_500);

    await page.getByRole('combobox', { name: 'Group by' }).click();
    await page.getByRole('option', { name: 'By Payee' }).click();
    await list.getByText('50 of Carla, €99.00 in all').waitFor();
    await list.getByText('50 of 李明').waitFor();
    await page.getByRole('combobox', { name: 'Order' }).click();
    await page.getByRole('option', { name: 'Largest amount' }).click();
    await page.getByLabel('Search in what waits').fill('carla €2.9');
    await list.getByText('€2.96').first().waitFor();
    expect(await list.getByRole('listitem').count()).toBe(2);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      ...{ group: 'field:Payee', order: 'amount', text: 'carla €2.9' },
    });
    await page.getByLabel('Mark all 2 proposals, €5.88 in all').check();
    await page.getByLabel('Reason for all').fill('both are right');
    await page.getByRole('button', { name: 'Approve 2' }).click();
    await list.getByText('Nothing matches').waitFor();
    const { state } = await succeed(server, 'trajectories.state', {
      path: { trajectory: 'bills' },
    });
    expect(state.paid).toEqual({ b192: 292, b196: 296 });

    await page.getByText('Decided', { exact: true }).click();
    await list.getByText('Pay Carla €2.96').waitFor();
    await list.getByText('bank.transfer: ').first().waitFor();
    expect(await list.getByRole('link', { name: /Pay Carla/ }).count()).toBe(2);
    await expectAccessible(page);
  });
});
