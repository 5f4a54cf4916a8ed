import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain, sensitive } from '#kernel';
import { intent, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';

const writ = writFor('agent');

const ordersOf = (note: z.ZodType) =>
  defineDomain<any, any>({
    name: 'orders',
    version: '1',
    state: z.object({ n: z.number() }),
    initial: { n: 0 },
    processes: { order: { writes: ['/n'] } },
    roles: { worker: { processes: ['order'] } },
    actions: {
      order: {
        process: 'order',
        args: z.strictObject({ count: z.number(), items: z.array(z.string()), note }),
        apply: (state: any) => {
          state.n++;
        },
      },
    } as never,
    invariants: [],
  });

const begun = async (note: z.ZodType = z.string()) => {
  const orders = ordersOf(note);
  const assize = runtimeOver(new MemoryStore(), [orders]);
  return assize.create(orders, { trajectoryId: 't', writs: [writ] });
};

const WRONG = { cuont: 1, items: ['a', 2], note: 'n' };
const FINDINGS = [
  { pointer: '', message: expect.stringContaining('cuont') },
  { pointer: '/count', message: expect.stringContaining('number') },
  { pointer: '/items/1', message: expect.stringContaining('string') },
];

test('a refused proposal has every misfit of its arguments as data', async () => {
  const trajectory = await begun();
  const ruling = await trajectory.propose(intent('order', WRONG, writ, { idempotencyKey: 'k' }));
  expect(ruling).toMatchObject({ ruling: 'rejected', reason: 'type_mismatch', findings: FINDINGS });
  expect((ruling as { detail: string }).detail).toMatch(
    /^args .*cuont.*; \/count: .*; \/items\/1: /,
  );
  // The repeated proposal gets the same ruling, from the ledger.
  expect(await trajectory.propose(intent('order', WRONG, writ, { idempotencyKey: 'k' }))).toEqual(
    ruling,
  );
});

test('sensitive arguments have findings too', async () => {
  const trajectory = await begun(sensitive(z.string()));
  expect(await trajectory.propose(intent('order', WRONG, writ))).toMatchObject({
    findings: FINDINGS,
  });
});

test('another refusal has no findings', async () => {
  const trajectory = await begun();
  const fits = { count: 1, items: [], note: '' };
  const refused = [
    await trajectory.propose(intent('ordr', WRONG, writ)),
    await trajectory.propose(intent('order', fits, writ, { role: 'nobody' } as never)),
  ];
  for (const ruling of refused) {
    expect(ruling).toMatchObject({ ruling: 'rejected' });
    expect(ruling).not.toHaveProperty('findings');
  }
  expect(await trajectory.propose(intent('order', fits, writ))).not.toHaveProperty('findings');
});
