/** Arguments of every form, beliefs and contradictions in the inbox, in a real Chromium. */
import { expect, test } from 'vitest';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { BOOKING, FRONT_PRINCIPALS, frontDesk } from '../support/console/front-desk.ts';
import { succeed } from '../support/server/calling.ts';
import type { Starting, TestServer } from '../support/server/serving.ts';

const FRONT: Starting = {
  domains: [frontDesk],
  config: { tools: [], worlds: { main: { domain: 'front' } } },
  principals: FRONT_PRINCIPALS as never,
};
const MAIN = { trajectory: 'main' };

async function asked(server: TestServer, path: string, body: unknown): Promise<any> {
  const token = await server.tokenFor('agent:host');
  return (await server.ask('POST', `/v1/trajectories/main/${path}`, { token, key: path, body }))
    .body;
}

withConsole(({ serve, open }) => {
  test('each member of the arguments has a field, and only that changes', async () => {
    const server = await serve(FRONT);
    const observations = [{ name: 'mail\u202e', value: 'six people' }];
    const role = { name: 'host', params: { room: '12' } };
    const { approval_id } = await asked(server, 'proposals', {
      action: 'book',
      role,
      args: BOOKING,
      observations,
    });
    const page = await open(server, 'boss:ada', `/inbox/${approval_id}`);
    await page.getByRole('button', { name: /^Amend/ }).click();
    await page.getByText('States ada phone = none').waitFor();
    await page.getByText('six people').waitFor();
    await page.getByText('adults and children. from 1 to 12').waitFor();
    await expectAccessible(page);

    await page.getByLabel('rate').fill('90');
    await page.getByRole('checkbox', { name: 'isPaid' }).check();
    await page.getByRole('combobox', { name: 'size' }).click();
    await page.getByRole('option', { name: 'single' }).click();
    await page.getByLabel('phone (optional)').fill('555');
    await page.getByRole('button', { name: 'Add to extras' }).click();
    await page.getByLabel('what').nth(1).fill('desk');
    await page.getByRole('textbox', { name: 'code' }).fill('7');
    await page.getByLabel('guests').fill('0');
    await page
      .getByText(/Too small/i)
      .first()
      .waitFor();
    await page.getByLabel('guests').fill('5');
    await page.getByText('States ada phone = 555').waitFor();
    await page
      .getByRole('status', { name: 'Judgement' })
      .getByText('Would be approved as amended')
      .waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: /^Approve amended/ }).click();
    await page.getByText('Nothing waits').waitFor();
    const { ruling } = await succeed(server, 'approvals.get', {
      as: 'boss:ada',
      path: { approval: approval_id },
    });
    const query = { values: 'true' };
    const entry = await succeed(server, 'entries.get', {
      as: 'boss:ada',
      path: { entry: ruling.entry_id },
      query,
    });
    const held = entry.values.find(
      ({ pointer }: { pointer: string }) => pointer === '/action/args',
    );
    expect(held?.value ?? entry.payload.action.args).toEqual({
      ...BOOKING,
      ...{ guests: 5, rate: 90, isPaid: true, size: 'single', code: 7 },
      contact: { name: 'ada', phone: '555' },
      extras: [
        { what: 'cot', count: 1 },
        { what: 'desk', count: 0 },
      ],
    });
  });

  test('an amount is typed in its currency, and recorded in minor units', async () => {
    const server = await serve(FRONT);
    const { approval_id } = await asked(server, 'proposals', {
      action: 'charge',
      role: { name: 'host', params: { room: '7' } },
      args: { guests: 6, cents: 124_000, in: 'EUR' },
    });
    const page = await open(server, 'boss:ada', `/inbox/${approval_id}`);
    await page.getByRole('heading', { name: 'Charge €1,240.00' }).waitFor();
    await page.getByText('The card is charged €1,240.00.').waitFor();
    await page.getByText('124000').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: /^Amend/ }).click();
    const amount = page.getByRole('textbox', { name: 'Amount, EUR' });
    expect(await amount.inputValue()).toBe('1240.00');
    await amount.fill('');
    // Each letter is read alone: `930.` is not an amount yet.
    await amount.pressSequentially('930.05');
    await page.getByText('As amended: Charge €930.05').waitFor();
    await amount.fill('1,241.00');
    await page.getByText('As amended: Charge €1,241.00').waitFor();
    await amount.fill('1.240,00');
    await page
      .getByText(/expected number/i)
      .first()
      .waitFor();
    await page.getByRole('textbox', { name: 'in', exact: true }).fill('JPY');
    await page.getByRole('textbox', { name: 'Amount, JPY' }).fill('500');
    await page.getByText('As amended: Charge ¥500').waitFor();
    await page.getByRole('textbox', { name: 'in', exact: true }).fill('EUR');
    await amount.fill('930');
    await page.getByText('As amended: Charge €930.00').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: /^Approve amended/ }).click();
    await page.getByText('Nothing waits').waitFor();
    const { entries } = await succeed(server, 'entries.find', { as: 'boss:ada' });
    expect(entries[0].args).toBe('{"cents":93000,"guests":6,"in":"EUR"}');
    expect(entries[0].title).toBe('Charge €930.00');
  });

  test('a contradiction waits for the choice of a winner', async () => {
    const server = await serve(FRONT);
    const statement = { verb: 'assert', subject: 'bo', predicate: 'phone', object: '111' };
    expect((await asked(server, 'memory/front/statements', statement)).ruling).toBe('committed');
    const token = await server.tokenFor('agent:host');
    const body = { ...statement, object: '222' };
    const path = '/v1/trajectories/main/memory/front/statements';
    const { approval_id } = (await server.ask('POST', path, { token, key: 'other', body })).body;
    const page = await open(server, 'boss:ada', `/inbox/${approval_id}`);
    await page.getByText('A contradiction to decide').waitFor();
    expect(await page.getByRole('button', { name: /^Approve/ }).isDisabled()).toBe(true);
    await page.getByRole('radio', { name: /222/ }).check();
    await page.getByRole('status', { name: 'Judgement' }).getByText('Would be approved').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByText('Nothing waits').waitFor();
    const recall = {
      as: 'boss:ada' as const,
      path: { ...MAIN, space: 'front' },
      body: { subject: 'bo' },
    };
    const { facts } = await succeed(server, 'memory.recall', recall);
    expect(facts.map(({ object }: { object: string }) => object)).toEqual(['222']);
  });
});
