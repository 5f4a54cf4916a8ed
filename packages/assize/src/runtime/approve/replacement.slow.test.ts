import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { defineDomain } from '#kernel';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';

// A replacement changes the state only. What else a proposal does would go out as it was proposed.
const shop = defineDomain({
  name: 'shop',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({ orders: z.record(z.string(), z.number()) }),
  initial: { orders: {} },
  processes: { order: { writes: ['/orders/*'] } },
  roles: { clerk: { processes: ['order'] } },
  actions: Object.fromEntries(
    [
      ['place', {}],
      ['costly', { cost: ({ amount }: { amount: number }) => ({ usd: amount }) }],
      [
        'told',
        {
          beliefs: ({ amount }: { amount: number }) => [
            {
              verb: 'assert',
              space: 'shop',
              subject: 'lamp',
              predicate: 'price',
              object: String(amount),
            },
          ],
        },
      ],
    ].map(([name, more]) => [
      name,
      {
        process: 'order',
        args: z.object({ id: z.string(), amount: z.number() }),
        apply: (
          state: { orders: Record<string, number> },
          { id, amount }: { id: string; amount: number },
        ) => {
          state.orders[id] = amount;
        },
        ...(more as object),
      },
    ]),
  ) as never,
  counselors: { boss: (principal: string) => principal.startsWith('boss:') },
  memory: { predicates: { price: { cardinality: 'single-valued', strategy: 'lww' } } },
  invariants: [],
} as never);

const args = { id: 'lamp', amount: 4_000 };
const writ = writFor('agent', {
  require_approval: ['**'],
  budget: { usd: 10_000 },
  trajectory: 't',
});
const lower = {
  principal: 'boss:olga',
  method: 'desk',
  replacement: [{ op: 'add' as const, path: '/orders/lamp', value: 40 }],
};

async function opened() {
  const paid: number[] = [];
  const pay = declareTool({
    name: 'pay',
    input: z.strictObject({ amount: z.number() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['pay:lamp'],
    execute: ({ amount }) => {
      paid.push(amount);
    },
    compensate: () => ({ undone: 'all' }),
  });
  const assize = runtimeOver(new MemoryStore(), [shop], { tools: [pay] });
  return { assize, paid, trajectory: await assize.create(shop, { trajectoryId: 't' }) };
}

test('a replacement of a proposal with a call is refused, nothing is paid', async () => {
  const { assize, paid, trajectory } = await opened();
  const { ruling } = await trajectory.transaction({ writ, writes: ['pay:*'] }, async (tx) => {
    await tx.call('pay', { amount: 4_000 });
    tx.propose({ action: 'place', role: 'clerk', args });
  });
  if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
  await expect(trajectory.approvals.approve(ruling.pending, lower)).rejects.toMatchObject({
    code: 'invalid_state',
    message: expect.stringContaining('also has tool calls'),
  });
  expect([paid, trajectory.state()]).toEqual([[], { orders: {} }]);
  // The proposal is still pending, and can be approved as it is.
  const { principal, method } = lower;
  expect(await trajectory.approvals.approve(ruling.pending, { principal, method })).toMatchObject({
    ruling: 'committed',
  });
  await assize.recoverEffects();
  expect([paid, trajectory.state()]).toEqual([[4_000], { orders: { lamp: 4_000 } }]);
  await assize.close();
});

test.each([
  ['costly', 'a cost'],
  ['told', 'statements of facts'],
])('a replacement of a proposal that is %s is refused: %s', async (action, reason) => {
  const { trajectory } = await opened();
  const ruling = await trajectory.propose({ action, role: 'clerk', args, writ } as never);
  if (ruling.ruling !== 'escalated') throw new Error(JSON.stringify(ruling));
  const length = trajectory.length;
  await expect(trajectory.approvals.approve(ruling.pending, lower)).rejects.toMatchObject({
    code: 'invalid_state',
    message: expect.stringContaining(reason),
  });
  expect(trajectory.length).toBe(length);
});

test('a replacement of a proposal that changes the state only is committed', async () => {
  const { trajectory } = await opened();
  const ruling = await trajectory.propose({ action: 'place', role: 'clerk', args, writ } as never);
  if (ruling.ruling !== 'escalated') throw new Error(JSON.stringify(ruling));
  expect(await trajectory.approvals.approve(ruling.pending, lower)).toMatchObject({
    ruling: 'committed',
  });
  expect(trajectory.state()).toEqual({ orders: { lamp: 40 } });
});

test('a replacement is copied at the call and ignores later changes to it', async () => {
  const { trajectory } = await opened();
  const ruling = await trajectory.propose({ action: 'place', role: 'clerk', args, writ } as never);
  if (ruling.ruling !== 'escalated') throw new Error(JSON.stringify(ruling));
  const replacement = [{ op: 'add' as const, path: '/orders/lamp', value: 40 }];
  const approving = trajectory.approvals.approve(ruling.pending, { ...lower, replacement });
  replacement[0]!.value = 41;
  expect(await approving).toMatchObject({ ruling: 'committed' });
  expect(trajectory.state()).toEqual({ orders: { lamp: 40 } });
});

test('a replacement of shared lists that are too long to copy is refused', async () => {
  const { assize, trajectory } = await opened();
  const asked = await trajectory.propose({ action: 'place', role: 'clerk', args, writ } as never);
  const { pending } = asked as Extract<typeof asked, { ruling: 'escalated' }>;
  let value: unknown = [1];
  for (let i = 0; i < 60; i++) value = [value, value];
  const replacement = [{ op: 'add', path: '/orders/lamp', value }];
  const approving = async () =>
    trajectory.approvals.approve(pending, { ...lower, replacement } as never);
  await expect(approving()).rejects.toMatchObject({
    code: 'invalid_state',
    message: expect.stringContaining('The approved state is not JSON: The value has more than'),
    name: 'KernelError',
  });
  expect(trajectory.approvals.pending()).toHaveLength(1);
  await assize.close();
});
