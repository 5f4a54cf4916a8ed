/** Answers of a server of a cell under orders of the root log. */

import { CellsError, EVERY_TENANT } from '@assize/cells';
import { expect, test } from 'vitest';
import { deployment } from '../../../../tests/support/cells/deployment.ts';
import { callOperation, pay, succeed } from '../../../../tests/support/server/calling.ts';

const BY = 'operator:test';
const PATIENCE = { timeout: 15_000, interval: 50 };

test('a server is ready unless its cell refuses every entry', async () => {
  const { log, serve } = await deployment({ cells: ['one'], tenants: { main: 'one' } });
  const one = await serve('one');
  const ready = async () => {
    const { status, body } = await one.ask('GET', '/readyz');
    return [status, body.code ?? body.status];
  };
  expect(await ready()).toEqual([200, 'ready']);
  await log.order('halt', { tenant: EVERY_TENANT, reason: 'audit' }, BY);
  await expect.poll(ready, PATIENCE).toEqual([503, 'cell_halted']);
  const { body } = await one.ask('GET', '/readyz');
  expect(body.detail).toContain("audit. Resume it with: assize cells resume '*'");
  expect((await one.ask('GET', '/healthz')).status).toBe(200);
  await log.order('resume', { tenant: EVERY_TENANT, reason: 'done' }, BY);
  await expect.poll(ready, PATIENCE).toEqual([200, 'ready']);
  one.cell.watch.diverge(new CellsError('cell_diverged', 'The log of the cell lacks entries.'));
  expect(await ready()).toEqual([503, 'cell_diverged']);
});

test('a refusal of a halted tenant names the command of the root log', async () => {
  const { log, serve } = await deployment({ tenants: { main: 'one' } });
  const one = await serve('one');
  const paid = (key: string) => pay('a', 1, key, { path: { trajectory: 'main' } });
  let keys = 0;
  const refusal = async () =>
    (await callOperation(one, 'proposals.create', paid(`try ${keys++}`))).body;
  await succeed(one, 'proposals.create', paid('before'));

  await log.order('halt', { tenant: 'main', reason: 'audit' }, BY);
  const halted = {
    code: 'halted',
    retryable: false,
    detail: expect.stringContaining('assize cells resume main'),
  };
  await expect.poll(refusal, PATIENCE).toMatchObject(halted);
  const body = { proposals: [{ ...(paid('in a list').body as object), key: 'in a list' }] };
  const { body: list } = await callOperation(one, 'proposals.create_many', {
    path: { trajectory: 'main' },
    body,
  });
  expect(list.results[0].problem).toMatchObject(halted);

  await log.order('beginMove', { tenant: 'main', to: 'two' }, BY);
  const moves = {
    code: 'halted',
    retryable: true,
    detail: expect.stringContaining('moves to the cell two'),
  };
  await expect.poll(refusal, PATIENCE).toMatchObject(moves);
});
