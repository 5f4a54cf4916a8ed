/** An inbox with more proposals than a page of the API has, in a real Chromium. */
import type { Locator } from 'playwright-core';
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
/** With a Cyrillic letter. */
const ALIKE = '\u0421arla';

/** The texts of a list in the order in which an element shows them, from left to right. */
function placed(element: Locator, texts: readonly string[]): Promise<string[]> {
  return element.evaluate((one, texts) => {
    const leftOf = (text: string): number => {
      const walk = one.ownerDocument.createTreeWalker(one, 4);
      while (walk.nextNode() !== null) {
        const at = walk.currentNode.textContent.indexOf(text);
        if (at < 0) continue;
        const range = one.ownerDocument.createRange();
        range.setStart(walk.currentNode, at);
        range.setEnd(walk.currentNode, at + text.length);
        return range.getBoundingClientRect().left;
      }
      throw new Error(`The element does not show ${text}.`);
    };
    return texts.toSorted((one, other) => leftOf(one) - leftOf(other));
  }, texts);
}

withConsole(({ serve, open }) => {
  test('the first answers are asked for once, by the document', async () => {
    const asked: string[] = [];
    const page = await open(await serve(), 'boss:ada', '/inbox', {
      // A connection of the log would load them again.
      before: async (one) => {
        await one.route('**/v1/events*', () => undefined);
        one.on('request', (request) => asked.push(new URL(request.url()).pathname));
      },
    });
    await page.getByText('Nothing waits').waitFor();
    const code = asked.findIndex((one) => one.endsWith('.js'));
    for (const path of ['/v1/me', '/v1/approvals']) expect(asked.slice(0, code)).toContain(path);
    // A window that gets the focus asks for the person again.
    expect(asked.filter((one) => one === '/v1/approvals').length).toBe(1);
  });

  test('201 proposals are searched, grouped, summed, and decided as a group', async () => {
    const grants = [{ actions: ['pay', 'bank.transfer'], scopes: ['**'] }];
    const server = await serve({
      domains: [bills],
      config: { worlds: { bills: { domain: 'bills' } }, tools: [transfer] },
      principals: {
        'agent:scout': { kinds: ['agent'], grants },
        'boss:ada': { kinds: ['counselor', 'auditor'] },
      } as never,
    });
    for (let n = 0; n <= 200; n++)
      await succeed(server, 'proposals.create', {
        ...{ as: 'agent:scout' as never, path: { trajectory: 'bills' }, key: `k${n}` },
        body: {
          action: 'pay',
          role: { name: 'clerk', params: {} },
          args: { bill: `b${n}`, to: n === 200 ? ALIKE : NAMES[n % 4], cents: 100 + n },
        },
      });
    const lists: number[] = [];
    const codings = new Set<string | undefined>();
    const page = await open(server, 'boss:ada', '/inbox', {
      before: async (one) =>
        one.on('response', async (response) => {
          if (new URL(response.url()).pathname !== '/v1/approvals') return;
          const length = (await response.body()).length;
          lists.push(length);
          if (length > 100_000) codings.add(response.headers()['content-encoding']);
        }),
    });
    const list = page.getByRole('region', { name: 'Waiting proposals' });
    await list.getByText('201 of pay, ALL in bills, €402.00 in all').waitFor();
    await expectAccessible(page);
    expect(Math.max(...lists)).toBeLessThan(200 * 1_500);
    expect([...codings]).toEqual(['gzip']);
    const rows = list.getByRole('listitem');
    const drawn = await rows.count();
    expect(drawn).toBeLessThan(60);
    await rows.last().scrollIntoViewIfNeeded();
    await rows.nth(drawn).waitFor({ timeout: 30_000 });

    const edges = new Set<number>();
    for (let n = 0; n < NAMES.length; n++) {
      const amount = rows.nth(n).getByText(`€1.0${n}`, { exact: true }).last();
      const { isWhole, right } = await amount.evaluate((one) => ({
        isWhole: one.scrollWidth <= one.clientWidth,
        right: one.getBoundingClientRect().right,
      }));
      expect(isWhole).toBe(true);
      edges.add(Math.round(right));
    }
    expect(edges.size).toBe(1);
    await rows.nth(1).getByRole('button', { name: 'Pay \u2068دانا\u2069 €1.01' }).click();
    const heading = page.getByRole('heading', { name: /دانا/ });
    expect(await placed(heading, ['دانا', '€1.01'])).toEqual(['دانا', '€1.01']);
    await page.keyboard.press('Escape');

    await page.getByLabel('Search in what waits').fill('bills \u0421arla');
    await list.getByRole('button').click();
    await page.getByText('looks like Carla').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Search in what waits').fill('');

    await page.getByRole('combobox', { name: 'Group by' }).click();
    await page.getByRole('option', { name: 'By Payee' }).click();
    await list.getByText('50 of Carla, €99.00 in all').waitFor();
    while ((await list.getByText('50 of 李明').count()) === 0)
      await rows.last().scrollIntoViewIfNeeded();
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
    await page.getByLabel('Search in what waits').fill('nothing has this');
    await page.getByLabel('Reason for all').waitFor({ state: 'hidden' });
    await page.getByLabel('Search in what waits').fill('carla €2.9');
    expect(await page.getByLabel('Reason for all').inputValue()).toBe('both are right');
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
