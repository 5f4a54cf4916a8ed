/** Mined rules by the API. */

import { gateway } from '@assize/gate/unstable/gateway';
import type { Domain } from 'assize/internal/kernel';
import { expect, test } from 'vitest';
import { callOperation, succeed } from '../../../../tests/support/server/calling.ts';
import { minedDesk } from '../../../../tests/support/server/mined-desk.ts';
import { start, UNGRANTED } from '../../../../tests/support/server/serving.ts';

const DESK = { trajectories: ['desk'] };

async function served() {
  const config = { tools: [], worlds: {} };
  const domains = [gateway() as unknown as Domain];
  return start({ store: await minedDesk(), domains, config, principals: UNGRANTED });
}

test('rules are listed with exceptions, and chosen ones are backtested', async () => {
  const server = await served();
  const before = await server.contents();
  const listed = await succeed(server, 'mining.run', { as: 'auditor:eve', body: DESK });
  expect(listed).toMatchObject({ runs: 40, good: 40, calls: 80, erased: 0 });
  const kinds = new Map<string, any>(listed.candidates.map((one: any) => [one.kind, one]));
  expect(kinds.get('approval')).toMatchObject({
    rule: { tool: 'bank/pay', from: { path: '/cents', min: 100 } },
    support: { runs: 20, calls: 20 },
    counter_example_count: 0,
    written: { list: 'rules', text: expect.stringContaining('ask: bank/pay') },
  });
  expect(kinds.get('approval').written.backtest).toBeUndefined();
  const ordering = kinds.get('ordering');
  expect(ordering).toMatchObject({
    rule: { tool: 'bank/pay', needs: 'crm/get', on: { path: '/order', needsPath: '/order' } },
    counter_example_count: 1,
    counter_examples: [{ run: 'desk#s-30', call: 1, entry: { trajectory_id: 'desk' } }],
    not_written: expect.any(String),
  });
  const { id } = kinds.get('approval');
  const good = Array.from({ length: 30 }, (_, i) => `desk#s-${i}`);
  const body = { ...DESK, kinds: ['approval', 'ordering'], good, backtest: [id] };
  const tried = await succeed(server, 'mining.run', { as: 'boss:ada', body });
  expect(tried).toMatchObject({ runs: 40, good: 30 });
  const found = new Map<string, any>(tried.candidates.map((one: any) => [one.id, one]));
  expect(found.get(id).written.backtest).toMatchObject({ difference_count: 0, changes: {} });
  expect(found.get(ordering.id)).toMatchObject({
    counter_example_count: 0,
    everywhere: { support: { runs: 40 }, counter_example_count: 1 },
  });
  expect(await server.contents()).toEqual(before);
});

test('wrong requests are refused', async () => {
  const server = await served();
  const refused = async (body: object, code: string, detail = '') =>
    expect(
      (await callOperation(server, 'mining.run', { as: 'boss:ada', body })).body,
    ).toMatchObject({
      code,
      detail: expect.stringContaining(detail),
    });
  await refused({ trajectories: ['nothing'] }, 'not_found');
  await refused({ ...DESK, good: ['desk#nobody'] }, 'not_found', 'No run has the id');
  await refused({ ...DESK, kinds: ['guess'] }, 'invalid_request');
  await refused({ ...DESK, chance: 2 }, 'invalid_request');
  await refused({ trajectories: [] }, 'invalid_request');
  const agent = await callOperation(server, 'mining.run', { as: 'agent:scout', body: DESK });
  expect(agent).toMatchObject({ status: 403, body: { code: 'forbidden' } });
});
