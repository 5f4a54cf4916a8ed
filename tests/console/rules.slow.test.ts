/** The rules in the console: what only observes, on every page, and what it would have refused. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { gateway, readRules } from '#domains/gateway';
import type { Domain } from '#kernel';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { succeed } from '../support/server/calling.ts';

const TEXT = `
id: bills
mode: observe
until: 2099-01-01
tools: { bank/pay: { class: irreversible } }
rules: [{ id: pay, ask: bank/pay }]
`;
const { rules } = readRules(TEXT);

withConsole(({ serve, open }) => {
  test('every page says that the rules observe, and one what they would ask', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assize-rules-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'assize.yaml');
    writeFileSync(file, TEXT);
    const server = await serve({
      config: { worlds: { calls: { domain: 'gateway' } }, tools: [], policy: file },
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
    await row.getByText('bank/pay', { exact: true }).waitFor();
    await row.getByRole('link', { name: 'c1' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('note').getByRole('link', { name: 'calls' }).click();
    await page.waitForURL(/\/rules$/);
    await page.getByText('bills: observing until 2099-01-01').waitFor();
    await row.getByText('{ id: pay, ask: [bank/pay] }').waitFor();
    await row.getByText('bank/pay', { exact: true }).waitFor();
    await expectAccessible(page);

    await page.goto(`${server.url}/what-if/calls`);
    const field = page.getByLabel('Rules file (YAML)');
    expect(await field.inputValue()).toBe(TEXT);
    await field.fill(TEXT.replace('ask: bank/pay', 'deny: bank/pay'));
    const changed = page.getByRole('region', { name: 'Changed lines' });
    await changed.getByText('− rules: [{ id: pay, ask: bank/pay }]').waitFor();
    await changed.getByText('+ rules: [{ id: pay, deny: bank/pay }]').waitFor();
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await page.getByText('Rejected').first().waitFor();
    await expectAccessible(page);
    await field.fill('id: [');
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await page
      .getByRole('alert')
      .getByText(/assize.yaml/)
      .waitFor();
  });
});
