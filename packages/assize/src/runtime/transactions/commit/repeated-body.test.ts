import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { defineDomain, escalate, pass, reject } from '#kernel';
import type { Transaction, TransactionOptions } from '#runtime';
import { runtimeOver, writFor } from '../../../../../../tests/support/ledger/runtime.ts';
import { OutsideSink, Steps, toolFor } from '../../../../../../tests/support/tools/effect-sink.ts';

/** Payments of at most 100; a person approves payments above 50. */
const payments = defineDomain<any, any>({
  name: 'payments',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({
    paid: z.record(z.string(), z.number()),
    approved: z.record(z.string(), z.boolean()),
  }),
  initial: { paid: {}, approved: {} },
  processes: { pay: { writes: ['/paid/*'] } },
  roles: { clerk: { processes: ['pay'] } },
  actions: {
    pay: {
      process: 'pay',
      args: z.object({ id: z.string(), cents: z.number(), note: z.string().default('none') }),
      apply: ({ paid }: any, { id, cents }: any) => {
        paid[id] = cents;
      },
    },
  } as never,
  invariants: ({ each }: any) => [
    each(
      'LIMIT',
      '/paid/*',
      {
        reads: ['/approved/*'],
        with: (_: number, [id]: string[]) => ({ by: `/approved/${id}` }),
        onApprove: (state: any, { keys: [id] }: any) => {
          state.approved[id] = true;
        },
      },
      (cents: number, { by }: any) =>
        cents > 100 ? reject('too much') : cents > 50 && by !== true ? escalate('ask') : pass,
    ),
  ],
  counselors: { boss: (principal: string) => principal === 'bob' },
});

async function stage() {
  const sink = new OutsideSink('keyed');
  const outside = { sink, steps: new Steps() };
  let looked = 0;
  const look = declareTool({
    name: 'look',
    input: z.strictObject({ at: z.string() }),
    class: 'read',
    reads: ['test:{at}'],
    execute: () => ++looked,
  });
  const tools = [
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'irreversible', 'buffered'),
    look,
  ];
  const assize = runtimeOver(new MemoryStore(), [payments], { tools });
  const trajectory = await assize.create(payments, { trajectoryId: 't' });
  const run = (body: (tx: Transaction) => unknown, options: Partial<TransactionOptions> = {}) =>
    trajectory.transaction(
      { name: 'invoice-7', writ: writFor('alice'), writes: ['test:**'], retries: 0, ...options },
      body as (tx: Transaction) => Promise<unknown>,
    );
  return { sink, assize, trajectory, run, looks: () => looked };
}

const pay = (cents: number) => ({ action: 'pay', role: 'clerk', args: { id: 'a', cents } });
const BUFFERED = 'irreversible.buffered';
const ACTED = 'reversible.externalised';
const CONFLICT = { code: 'idempotency_conflict', evidence: { name: 'invoice-7' } };

/** A read, a call that executes immediately, a call that waits for the commit, and a proposal. */
const body =
  ({ read = 'r', acted = 'a', held = 'b', cents = 40 }) =>
  async (tx: Transaction) => {
    const seen = await tx.call('look', { at: read });
    const { did } = await tx.call(ACTED, { what: acted });
    await tx.call(BUFFERED, { what: `${held}${did}${seen}` });
    tx.propose(pay(cents));
    return 'done';
  };

describe.each([
  ['committed', 40],
  ['rejected', 500],
  ['escalated', 60],
])('a name with a %s transaction', (ruling, cents) => {
  test('answers the same content with its outcome, and calls nothing', async () => {
    const { sink, run, looks } = await stage();
    const first = await run(body({ cents }));
    expect(first.ruling.ruling).toBe(ruling);
    const log = [...sink.log];
    const again = await run(body({ cents }));
    expect(again).toMatchObject({
      ruling: { ruling, entry: { id: (first.ruling as any).entry.id } },
      value: undefined,
    });
    expect(sink.log).toEqual(log);
    expect(looks()).toBe(1);
  });

  test.each([
    ['a read', { read: 'q' }, 'its call number 1 was another than this one of look'],
    ['an executed call', { acted: 'x' }, `its call number 2 was another than this one of ${ACTED}`],
    ['a held call', { held: 'x' }, `its call number 3 was another than this one of ${BUFFERED}`],
    ['the amount', { cents: cents + 1 }, 'it proposed another action, role or arguments'],
  ])('refuses another content, of %s', async (_, other, says) => {
    const { sink, run, looks } = await stage();
    await run(body({ cents }));
    const log = [...sink.log];
    const refused = run(body({ cents, ...other }));
    await expect(refused).rejects.toMatchObject(CONFLICT);
    await expect(refused).rejects.toThrow(
      `The transaction name invoice-7 was used for other content: ${says}`,
    );
    expect([sink.log, looks()]).toEqual([log, 1]);
  });

  test('refuses a body that makes fewer calls, more calls, or no proposal', async () => {
    const { run } = await stage();
    const held = async (tx: Transaction, ...whats: string[]) => {
      for (const what of whats) await tx.call(BUFFERED, { what });
      tx.propose(pay(cents));
    };
    await run((tx) => held(tx, 'a', 'b'));
    await expect(run((tx) => held(tx, 'a'))).rejects.toThrow(
      `its call of ${BUFFERED} is not made again`,
    );
    await expect(run((tx) => held(tx, 'a', 'b', 'c'))).rejects.toMatchObject(CONFLICT);
    await expect(
      run(async (tx) => {
        for (const what of ['a', 'b']) await tx.call(BUFFERED, { what });
      }),
    ).rejects.toThrow('the body does not propose');
    expect((await run((tx) => held(tx, 'a', 'b'))).ruling.ruling).toBe(ruling);
  });

  test('refuses another writ, and a body that catches the refusal', async () => {
    const { run } = await stage();
    await run(body({ cents }));
    const other = { writ: writFor('alice', { nonce: 'other' }) };
    await expect(run(body({ cents }), other)).rejects.toThrow('its writ was');
    const caught = run(async (tx) => {
      await body({ cents, read: 'q' })(tx).catch(() => undefined);
      tx.propose(pay(cents));
    });
    await expect(caught).rejects.toMatchObject(CONFLICT);
  });
});

test('a late transaction is compared too', async () => {
  const { run } = await stage();
  const late = (cents: number) =>
    run(
      async (tx) => {
        await tx.call(BUFFERED, { what: 'a' });
        tx.propose(pay(cents));
      },
      { epoch: 'late' },
    );
  await late(500);
  await expect(late(50)).rejects.toMatchObject(CONFLICT);
  expect((await late(500)).ruling.ruling).toBe('rejected');
});

test('an approved transaction is compared with its submission, also amended', async () => {
  const { trajectory, run } = await stage();
  const submit = (cents: number) => run((tx) => tx.propose(pay(cents)));
  const { ruling } = await submit(60);
  const args = { id: 'a', cents: 55 };
  const amended = await trajectory.approvals.approve((ruling as any).pending, {
    principal: 'bob',
    method: 'test',
    args,
  });
  expect(amended.ruling).toBe('committed');
  expect((await submit(60)).ruling).toMatchObject({ ruling: 'committed' });
  await expect(submit(55)).rejects.toMatchObject(CONFLICT);
});

test.each(['approve', 'reject'] as const)(
  'a decision to %s keeps the content of the submission',
  async (way) => {
    const { assize, trajectory, run } = await stage();
    const { ruling } = await run(body({ cents: 60 }));
    const decision = { principal: 'bob', method: 'test', reason: 'no' };
    if (way === 'reject') await trajectory.approvals.reject((ruling as any).pending, decision);
    else
      await trajectory.approvals.approve((ruling as any).pending, {
        principal: 'bob',
        method: 'test',
      });
    await assize.recoverEffects();
    const decided = way === 'reject' ? 'rejected' : 'committed';
    expect((await run(body({ cents: 60 }))).ruling.ruling).toBe(decided);
    for (const other of [{ cents: 61 }, { held: 'x' }, { acted: 'x' }, { read: 'x' }])
      await expect(run(body({ cents: 60, ...other }))).rejects.toMatchObject(CONFLICT);
  },
);

test('what the entry cannot answer ends the comparison', async () => {
  const { run } = await stage();
  const tried = (cents: number) => async (tx: Transaction) => {
    await tx.nested((part) => part.call(BUFFERED, { what: `${cents}` }));
    tx.propose(pay(cents));
  };
  const { ruling } = await run(tried(40));
  expect((await run(tried(41))).ruling).toMatchObject({ entry: { id: (ruling as any).entry.id } });
  const throws = run(() => {
    throw new Error('the invoice is gone');
  });
  expect((await throws).ruling).toMatchObject({ ruling: 'committed' });
});
