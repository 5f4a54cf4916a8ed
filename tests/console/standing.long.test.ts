/** Many calls together in the console: compared, allowed ahead, listed, and ended. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { gateway, readRules } from '#domains/gateway';
import type { Domain } from '#kernel';
import { expectAccessible, showIn, withConsole } from '../support/console/browser.ts';
import { succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';

const { rules } = readRules(`
id: bills
tools: { bank/pay: { class: irreversible, amounts: { cents: /cents } } }
rules: [{ id: pay, ask: bank/pay }]
standing: { uses: 20, hours: 48, amounts: { cents: 500 } }
`);
const PATH = { trajectory: 'calls' };
const folder = process.env['ASSIZE_SCREENSHOTS'];

async function pictured(page: Page, name: string): Promise<void> {
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  for (const scheme of ['dark', 'light'] as const) {
    await showIn(page, scheme);
    await page.screenshot({ path: join(folder, `${name}-${scheme}.png`) });
  }
}

withConsole(({ serve, open }) => {
  const served = (): Promise<TestServer> =>
    serve({
      config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
      principals: {
        'agent:scout': {
          kinds: ['agent'],
          grants: [{ actions: ['call', 'begin', 'report', 'session'], scopes: ['**'] }],
        },
        'human:grace': { kinds: ['counselor'] },
        'human:otto': { kinds: ['counselor'] },
      } as never,
      domains: [gateway({ rules }) as unknown as Domain],
      rules,
    });
  const pay = (server: TestServer, id: string, cents: number, to = 'eve'): Promise<any> => {
    const body = { id, server: 'bank', tool: 'pay', args: { to, cents } };
    return succeed(server, 'calls.ask', { path: PATH, body });
  };

  test('one person asks at a call, another approves, and each use is listed', async () => {
    const server = await served();
    const waits = await pay(server, 'c1', 120, 'eve<b>\u202e');
    await pay(server, 'c2', 80);
    const page = await open(server, 'human:grace', `/inbox/${waits.approval}`);
    await page.getByRole('button', { name: 'Allow more like this…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Allow more like this' });
    const form = dialog.getByRole('form', { name: 'Standing approval' });
    await form.getByLabel('cents').waitFor();
    expect(await form.getByLabel('cents').inputValue()).toBe('120');
    await form.getByText('together for at most 120 cents').waitFor();
    await form
      .getByText('2 of 2 calls of this agent that wait would be let through')
      .waitFor({ state: 'detached' });
    await form.getByText('1 of 2 calls of this agent that wait would be let through').waitFor();
    await form.getByLabel('cents').fill('500');
    await form.getByText('2 of 2 calls of this agent that wait would be let through').waitFor();
    await form
      .getByText('The rules allow these terms. Another person has to approve them.')
      .waitFor();
    expect(await form.getByRole('button', { name: 'Ask for it' }).isDisabled()).toBe(true);
    // A key of the page below decides nothing.
    await dialog.getByRole('button', { name: 'Close' }).press('a');
    await form.getByLabel('Why').fill('the bills of May');
    await expectAccessible(page);
    await pictured(page, 'standing-form');
    await form.getByRole('button', { name: 'Ask for it' }).click();
    const asked = page.getByRole('status', { name: 'Asked for' });
    await asked
      .getByText('waits for another person, because you asked for it: human:otto')
      .waitFor();
    await expectAccessible(page);

    const other = await open(server, 'human:otto', '/inbox');
    await other.getByRole('button', { name: /^stand/ }).click();
    await other.getByRole('heading', { name: 'stand' }).waitFor();
    await other
      .getByText(/^scout may make up to 10 calls of bank\/pay without a person, until/)
      .waitFor();
    await other.getByRole('button', { name: /^Approve/ }).click();
    await expect.poll(() => pay(server, 'c3', 200)).toMatchObject({ decision: 'allowed' });

    // The call that waited before is still decided by a person.
    expect(
      (await succeed(server, 'approvals.get', { path: { approval: waits.approval } })).status,
    ).toBe('pending');
    await asked.getByRole('button', { name: 'Approve the call that waits' }).click();
    await page.getByText('1 of 1 approved').waitFor();
    expect(await pay(server, 'c1', 120, 'eve<b>\u202e')).toMatchObject({ decision: 'allowed' });
    await succeed(server, 'calls.report', {
      path: { ...PATH, call: 'c3' },
      body: { outcome: 'done' },
    });

    const agents = await open(server, 'human:grace', '/agents/calls');
    const one = agents.getByRole('region', { name: /^Standing approval / });
    await one.getByText(/^1 of 10 uses, 200 of 500 cents/).waitFor();
    await one.getByRole('cell', { name: '{"cents":200,"to":"eve"}' }).waitFor();
    await one.getByRole('cell', { name: /^done/ }).waitFor();
    await expectAccessible(agents);
    await pictured(agents, 'standing-list');
    await one.getByRole('button', { name: 'End it…' }).click();
    await agents.getByRole('dialog').getByRole('button', { name: 'End it' }).click();
    await one.getByText('ended', { exact: true }).waitFor();
    expect(await pay(server, 'c4', 1)).toMatchObject({ decision: 'pending' });
  });

  test('marked calls are compared, judged, and decided with an entry each', async () => {
    const server = await served();
    for (const [n, cents] of [10, 300, 20].entries())
      await pay(server, `c${n}`, cents, n === 2 ? 'mallory' : 'eve');
    const page = await open(server, 'human:grace', '/inbox');
    await page.getByRole('checkbox', { name: 'Mark all 3 of bank/pay' }).check();
    await page.getByText('3 marked').waitFor();
    await page.getByRole('button', { name: 'Compare…' }).click();
    const dialog = page.getByRole('dialog', { name: 'What differs' });
    await dialog.getByText('A value that only one of them has is bold.').waitFor();
    const rows = await dialog.getByRole('row').allInnerTexts();
    expect(
      rows.map((text) =>
        text
          .split('\t')
          .slice(0, 2)
          .map((cell) => cell.trim()),
      ),
    ).toEqual([
      ['cents', 'to'],
      ['20', '"mallory"'],
      ['10', '"eve"'],
      ['300', '"eve"'],
    ]);
    expect(await dialog.locator('strong').allInnerTexts()).toEqual(['"mallory"']);
    await dialog.getByRole('button', { name: 'Judge each' }).click();
    await expect
      .poll(() => dialog.getByRole('cell', { name: 'would be approved' }).count())
      .toBe(3);
    await expectAccessible(page);
    await pictured(page, 'compare-many');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.locator('button:focus', { hasText: 'Compare' }).waitFor();
    await page.getByLabel('Reason for all').fill('checked');
    await page.getByRole('button', { name: 'Approve 3' }).click();
    await page.getByText('3 proposals decided, each by itself').waitFor();
    await expect.poll(() => page.getByRole('link', { name: /^entry calls@/ }).count()).toBe(3);
    await expectAccessible(page);
    for (const n of [0, 1, 2])
      expect(
        await pay(server, `c${n}`, [10, 300, 20][n]!, n === 2 ? 'mallory' : 'eve'),
      ).toMatchObject({
        decision: 'allowed',
      });
  });
});
