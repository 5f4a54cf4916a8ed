/** A proposal that is tried at an entry of the timeline, in a real Chromium. */
import { expect, test } from 'vitest';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import type { TestServer } from '../support/server/serving.ts';

async function pay(server: TestServer, amount: number, key: string): Promise<number> {
  const body = { action: 'pay', role: { name: 'clerk', params: { desk: 'a' } }, args: { amount } };
  const token = server.tokens['agent:scout'];
  return (await server.ask('POST', '/v1/trajectories/main/proposals', { token, key, body })).body
    .seq;
}

withConsole(({ serve, open }) => {
  test('a proposal is tried before and after an entry, and nothing is recorded', async () => {
    const server = await serve();
    const seq = await pay(server, 60, 'k1');
    const page = await open(server, 'auditor:eve', `/timeline/main/${seq}?view=try`);
    const before = await server.contents();
    const told = page.getByRole('status', { name: 'Judgement' });
    await told.getByText('Would be committed').waitFor();
    await page.getByRole('cell', { name: '/desks/a' }).first().waitFor();
    await expectAccessible(page);

    await page.getByText('After this entry').click();
    await page.getByRole('cell', { name: '120' }).waitFor();
    await page.getByLabel('amount').fill('5000');
    await told.getByText(/Would be rejected by rule LARGE/).waitFor();
    await page.getByLabel('amount').fill('much');
    await told.getByText(/Would be rejected \(type mismatch\)/).waitFor();
    await page.getByLabel('amount').fill('200');
    await told.getByText(/Would wait for boss/).waitFor();
    await page.getByText('JSON', { exact: true }).click();
    await page.getByRole('textbox', { name: 'JSON' }).fill('{bad');
    await told.getByText('Not judged').waitFor();
    expect(await told.textContent()).toBe('!Not judged: this is not JSON');
    expect(await server.contents()).toEqual(before);
    expect(page.url()).toContain('view=try');
  });

  test('an entry without a proposal asks for an action', async () => {
    const server = await serve();
    await pay(server, 60, 'k1');
    const page = await open(server, 'boss:ada', '/timeline/main/0?view=try');
    await page.getByRole('combobox', { name: 'Action' }).click();
    await page.getByRole('option', { name: 'pay' }).click();
    await page.getByLabel('desk of the role clerk').fill('b');
    await page.getByLabel('amount').fill('10');
    await page.getByRole('status', { name: 'Judgement' }).getByText('Would be committed').waitFor();
    await page.getByRole('cell', { name: '/desks/b' }).first().waitFor();
    await expectAccessible(page);
  });
});
