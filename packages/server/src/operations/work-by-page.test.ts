import { budget } from '@assize/cli/internal/domains/budget';
import { MemoryStore } from '@assize/testing/memory';
import type { Domain } from 'assize/internal/kernel';
import { Delegations } from 'assize/internal/runtime';
import { expect, test, vi } from 'vitest';
import { callOperation, pay, succeed } from '../../../../tests/support/server/calling.ts';
import { PRINCIPALS, start } from '../../../../tests/support/server/serving.ts';
import { laterTill, till } from '../../../../tests/support/server/till.ts';

const PENDINGS = 60;

/** The pending proposals that were copied since. */
function copiesOf(clone: ReturnType<typeof vi.spyOn>): number {
  return clone.mock.calls.filter(
    ([value]: unknown[]) => (value as { kind?: string })?.kind === 'pending_approval',
  ).length;
}

test('a page of approvals copies the proposals that it shows, once', async () => {
  const server = await start();
  const proposals = Array.from({ length: PENDINGS }, (_, i) => ({
    ...(pay(`desk${i}`, 500, 'k').body as object),
    key: `k${i}`,
  }));
  const path = { trajectory: 'main' };
  await succeed(server, 'proposals.create_many', { path, body: { proposals } });
  const clone = vi.spyOn(globalThis, 'structuredClone');
  const listed = async (query: Record<string, string>) => {
    clone.mockClear();
    const { approvals } = await succeed(server, 'approvals.list', { as: 'boss:ada', query });
    return [approvals.length, copiesOf(clone)];
  };
  // One more than the page shows whether there is another page.
  expect(await listed({ limit: '5' })).toEqual([5, 6]);
  expect(await listed({ limit: '5' })).toEqual([5, 0]);
  expect(await listed({ limit: '5', channel: 'none' })).toEqual([0, 0]);
  expect(await listed({ limit: '5', action: 'none' })).toEqual([0, 0]);
  expect(await listed({ limit: '500', mine: 'true' })).toEqual([PENDINGS, PENDINGS - 6]);
});

test('no part of a revoked grant gets a token', async () => {
  const server = await start();
  const path = { trajectory: 'main' };
  const part = {
    subject: 'agent:scout/sub',
    actions: ['pay'],
    scopes: ['role:clerk:a'],
    seconds: 600,
  };
  await succeed(server, 'writs.attenuate', { path, body: part });
  const by = { path: { ...path, writ: 'agent:scout' }, body: { reason: 'stolen' } };
  await succeed(server, 'writs.revoke', { as: 'admin:ann', ...by });
  const { status, body } = await callOperation(server, 'writs.attenuate', { path, body: part });
  expect([status, body.code, body.token]).toEqual([403, 'forbidden', undefined]);
});

test('a grant has at most 1,000 open delegations in a trajectory', async () => {
  const server = await start();
  const terms = {
    subject: 'agent:scout/far',
    actions: ['pay'],
    scopes: ['role:clerk:a'],
    task: 'count',
  };
  const path = { trajectory: 'main' };
  const delegate = async (child: string) => {
    const body = { ...terms, child_trajectory_id: child };
    const { status, body: answer } = await callOperation(server, 'delegations.create', {
      path,
      body,
    });
    return [status, answer.code];
  };
  expect(await delegate('one')).toEqual([201, undefined]);
  const read = Delegations.prototype.open;
  // As if 999 more were open under the same grant.
  vi.spyOn(Delegations.prototype, 'open').mockImplementation(function (this: Delegations) {
    const open = read.call(this);
    return Array.from({ length: 1_000 }, () => open[0]!);
  });
  expect(await delegate('two')).toEqual([429, 'too_many_open']);
  expect(await delegate('one')).toEqual([201, undefined]);
  vi.restoreAllMocks();
  expect(await delegate('two')).toEqual([201, undefined]);
});

test('a world with the name of a delegated trajectory is refused at the start', async () => {
  const store = new MemoryStore();
  const before = await start({ store });
  const terms = {
    subject: 'agent:scout/far',
    actions: ['pay'],
    scopes: ['role:clerk:a'],
    task: 'count',
  };
  const path = { trajectory: 'main' };
  await succeed(before, 'delegations.create', {
    path,
    body: { ...terms, child_trajectory_id: 'payroll' },
  });
  await before.stop();
  const domains = [till, laterTill, budget as unknown as Domain];
  const worlds = { main: { domain: 'till' }, payroll: { domain: 'till' } };
  await expect(
    start({ store, domains, principals: PRINCIPALS, config: { worlds } }),
  ).rejects.toMatchObject({
    code: 'bad_config',
    message: expect.stringMatching(/payroll has the name of a trajectory/),
  });
});
