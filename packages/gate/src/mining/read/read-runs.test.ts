/** Runs as they are read from trajectories: of a domain of one's own, and of the gateway. */

import { MemoryStore } from '@assize/testing/memory';
import { declareTool } from 'assize/internal/effects';
import { call, defineDomain, escalate, pass } from 'assize/internal/kernel';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { mine, readRuns } from '../index.ts';

const tool = declareTool({
  name: 'bank.pay',
  input: z.strictObject({ cents: z.int() }),
  class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['bank'],
  execute: () => null,
  compensate: () => ({ undone: 'all' }),
});
const look = declareTool({
  name: 'stock.look',
  input: z.strictObject({ item: z.string() }),
  class: 'read',
  reads: ['stock'],
  execute: () => 7,
});

const shop = defineDomain({
  name: 'shop',
  version: '1',
  state: z.strictObject({
    paid: z.record(z.string(), z.int()),
    approved: z.record(z.string(), z.string()),
  }),
  initial: { paid: {}, approved: {} },
  processes: { paying: { writes: ['/paid', '/approved'] } },
  roles: { clerk: { processes: ['paying'] } },
  actions: {
    refund: {
      process: 'paying',
      args: z.strictObject({ order: z.string(), cents: z.int().min(0) }),
      apply: ({ paid }, { order, cents }) => {
        paid[order] = cents;
      },
      calls: (_, { cents }) => [call(tool, { cents })],
    },
  },
  counselors: { manager: (principal) => principal.startsWith('manager:') },
  invariants: ({ each }) => [
    each(
      'LARGE',
      '/paid/*',
      {
        reads: ['/approved/*'],
        with: (_, [order]) => ({ by: `/approved/${order}` }),
        onApprove: ({ approved }, { counselor, keys: [order = ''] }) => {
          approved[order] = counselor;
        },
      },
      (cents, { by }) => (cents < 100 || by !== undefined ? pass : escalate('a manager decides')),
    ),
  ],
});

async function stage() {
  const store = new MemoryStore();
  const assize = runtimeOver(store, [shop], { tools: [tool, look], oracle: store });
  const writ = writFor('agent:ada');
  const begin = (trajectoryId: string) => assize.create(shop, { trajectoryId, writs: [writ] });
  const refund = (order: string, cents: number) =>
    ({ action: 'refund', role: 'clerk', args: { order, cents }, writ }) as const;
  return { store, assize, writ, begin, refund };
}

test('a commit has the readings before it, its action and its tool calls', async () => {
  const { store, assize, writ, begin, refund } = await stage();
  const trajectory = await begin('one');
  const { writ: _, ...asked } = refund('a', 5);
  await trajectory.transaction(
    { writ, reads: ['stock'], writes: ['bank'] } as never,
    async (tx: any) => {
      await tx.call(look, { item: 'a' });
      return tx.propose(asked);
    },
  );
  const looked = { name: 'crm.get', value: { arguments: { id: 'b' }, output: 'x' } };
  await trajectory.propose({ ...refund('b', 6), observations: [looked] } as never);
  const { runs, erased } = await readRuns(store, ['one', 'one']);
  expect(erased).toBe(0);
  const by = { ruling: 'committed', principal: 'agent:ada', role: 'clerk' };
  expect(runs[0]!.calls).toMatchObject([
    { tool: 'stock.look', args: { item: 'a' }, ...by },
    { tool: 'refund', args: { order: 'a', cents: 5 }, ...by },
    { tool: 'bank.pay', args: { cents: 5 }, ...by },
    { tool: 'crm.get', args: { id: 'b' }, ...by },
    { tool: 'refund', args: { order: 'b', cents: 6 }, ...by },
    { tool: 'bank.pay', args: { cents: 6 }, ...by },
  ]);
  await assize.close();
});

test('waiting, approved and rejected proposals have their last ruling once', async () => {
  const { store, assize, begin, refund } = await stage();
  const trajectory = await begin('one');
  const manager = { principal: 'manager:ann', method: 'test' };
  const looked = { name: 'crm.get', value: { arguments: { id: 'x' } } };
  const asked = await Promise.all(
    ['a', 'b', 'c'].map((order) =>
      trajectory.propose({ ...refund(order, 500), observations: [looked] } as never),
    ),
  );
  const [first, second] = asked.map((ruling) => (ruling as { readonly pending: string }).pending);
  await trajectory.approvals.approve(first!, manager);
  await trajectory.approvals.reject(second!, { ...manager, reason: 'no' });
  const [run] = (await readRuns(store, ['one'])).runs;
  const refunds = run!.calls.filter(({ tool: name }) => name === 'refund');
  expect(
    refunds.map(({ args, ruling, approvedBy }) => [(args as any).order, ruling, approvedBy]),
  ).toEqual([
    ['b', 'rejected', undefined],
    ['c', 'escalated', undefined],
    ['a', 'committed', ['manager:ann']],
  ]);
  // Readings took place, whatever the ruling is, and no person approved them.
  const reads = run!.calls.filter(({ tool: name }) => name === 'crm.get');
  expect(reads.map(({ ruling, approvedBy }) => [ruling, approvedBy])).toEqual(
    Array(3).fill(['committed', undefined]),
  );
  await assize.close();
});

test('the runs of a domain show its approvals and its orderings', async () => {
  const { store, assize, begin, refund } = await stage();
  const ids: string[] = [];
  for (let i = 0; i < 24; i++) {
    const trajectory = await begin(`run-${i}`);
    ids.push(trajectory.id);
    const order = `o-${i}`;
    const looked = { name: 'crm.get', value: { arguments: { id: order } } };
    const ruling = await trajectory.propose({
      ...refund(order, 20 + i * 7),
      observations: [looked],
    } as never);
    if (ruling.ruling === 'escalated')
      await trajectory.approvals.approve(ruling.pending, {
        principal: 'manager:ann',
        method: 'test',
      });
  }
  const { runs } = await readRuns(store, ids);
  const found = mine(runs).map(({ rule }) => rule);
  expect(found).toContainEqual({
    kind: 'approval',
    tool: 'refund',
    from: { path: '/cents', min: 100 },
  });
  expect(found).toContainEqual({
    kind: 'ordering',
    tool: 'refund',
    needs: 'crm.get',
    on: { path: '/order', needsPath: '/id' },
  });
  await assize.close();
});

test('a trajectory without entries is a fault; no trajectories have no runs', async () => {
  const store = new MemoryStore();
  await expect(readRuns(store, ['nothing'])).rejects.toMatchObject({ name: 'LedgerFault' });
  expect(await readRuns(store, [])).toEqual({ runs: [], erased: 0 });
});
