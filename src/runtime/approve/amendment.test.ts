import { expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { call, defineDomain, escalate, pass, reject } from '#kernel';
import { type CommitPayload, Replayer, readRow, verifyTrajectory } from '#ledger';
import { deepReplay, listWrits, type Ruling, type Trajectory } from '#runtime';
import { MemoryStore } from '#stores';
import { HandClock, runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';

// A counselor lowers an amount. The bank pays what the ledger has, and nothing else.

class Bank {
  readonly paid: number[] = [];
  readonly pay = declareTool({
    name: 'bank.pay',
    input: z.strictObject({ id: z.string(), amount: z.int() }),
    class: { reversibility: 'irreversible', delivery: 'externalised', sink: 'keyed' },
    writes: ['bank:{id}'],
    execute: ({ amount }) => {
      this.paid.push(amount);
      return { paid: amount };
    },
  });
}

const ARGS = z.strictObject({ id: z.string(), amount: z.int() });

function shopOf({ pay }: Bank) {
  return defineDomain({
    name: 'shop',
    version: '1',
    state: z.object({
      orders: z.record(z.string(), z.int()),
      prices: z.record(z.string(), z.int()),
      approved: z.record(z.string(), z.string()),
    }),
    initial: { orders: {}, prices: { lamp: 5 }, approved: {} },
    processes: { order: { reads: ['/prices/*'], writes: ['/orders/*', '/approved/*'] } },
    roles: { clerk: { processes: ['order'] }, buyer: { processes: ['order'] } },
    counselors: {
      boss: (principal) => principal.startsWith('boss:'),
      owner: (principal) => principal === 'boss:owner',
    },
    memory: { predicates: { price: { cardinality: 'single-valued', strategy: 'lww' } } },
    actions: {
      place: {
        process: 'order',
        args: ARGS,
        apply: (state, { id, amount }) => {
          state.orders[id] = amount;
        },
        calls: (_state, { id, amount }) => [call(pay, { id, amount })],
        onApprove: (state, { id }, { counselor }) => {
          state.approved[id] = counselor;
        },
      },
      plain: {
        process: 'order',
        args: ARGS,
        apply: (state, { id, amount }) => {
          state.orders[id] = amount;
        },
      },
      priced: {
        process: 'order',
        args: z.strictObject({ id: z.string(), count: z.int() }),
        apply: (state, { id, count }) => {
          state.orders[id] = count * (state.prices[id] ?? 0);
        },
        calls: (state, { id }) => (state.orders[id] === 0 ? [] : [call(pay, { id, amount: state.orders[id]! })]),
      },
      costly: {
        process: 'order',
        args: ARGS,
        cost: ({ amount }) => ({ usd: amount }),
        apply: (state, { id, amount }) => {
          state.orders[id] = amount;
        },
      },
      told: {
        process: 'order',
        args: ARGS,
        beliefs: ({ id, amount }) => [
          { verb: 'assert', space: 'shop', subject: id, predicate: 'price', object: String(amount) },
        ],
        apply: (state, { id, amount }) => {
          state.orders[id] = amount;
        },
      },
    },
    invariants: (rules) => [
      rules.each('AT_MOST_5000', '/orders/*', {}, (amount) =>
        amount <= 5_000 ? pass : reject(`${amount} is more than 5000`),
      ),
      rules.each('ASK_OWNER_ABOVE_4500', '/orders/*', { channel: 'owner' }, (amount) =>
        amount <= 4_500 ? pass : escalate(`${amount} needs the owner`),
      ),
    ],
  });
}

const writ = writFor('agent:a', { require_approval: ['**'], budget: { usd: 10_000 }, trajectory: 't' });
const boss = { principal: 'boss:olga', method: 'desk' };
const lamp = (amount: number) => ({ id: 'lamp', amount });

async function opened(clock = new HandClock(), options = {}) {
  const bank = new Bank();
  const store = new MemoryStore();
  const domain = shopOf(bank);
  const assize = runtimeOver(store, [domain], { tools: [bank.pay], ports: { clock }, ...options } as never);
  const trajectory = await assize.create(domain, { trajectoryId: 't' });
  const verify = async () => {
    expect((await verifyTrajectory(new Replayer(store), 't')).fault).toBeUndefined();
    const report = await deepReplay(store, 't', { domains: [domain] } as never);
    expect(report.differences).toEqual([]);
    expect(report.preserved).toBe(true);
  };
  return { assize, bank, domain, store, trajectory, verify };
}

type Opened = Trajectory<ReturnType<typeof shopOf>>;

async function waiting(trajectory: Opened, action: string, args: object = lamp(4_000)): Promise<string> {
  const ruling = await trajectory.propose({ action, role: 'clerk', args, writ } as never);
  if (ruling.ruling !== 'escalated') throw new Error(JSON.stringify(ruling));
  return ruling.pending;
}

function ordersOf(trajectory: Opened): unknown {
  return (trajectory.state() as { readonly orders: unknown }).orders;
}

function commitOf(ruling: Ruling): CommitPayload {
  if (ruling.ruling !== 'committed') throw new Error(JSON.stringify(ruling));
  return readRow(ruling.entry).payload as CommitPayload;
}

test('a lowered amount is paid as the ledger has it', async () => {
  const { assize, bank, trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'place');
  const ruling = await trajectory.approvals.approve(pending, { ...boss, args: lamp(40) });
  const { action, amended, delta, resolves, counselor } = commitOf(ruling);
  expect(bank.paid).toEqual([40]);
  expect(trajectory.state()).toMatchObject({ orders: { lamp: 40 }, approved: { lamp: 'boss:olga' } });
  expect(ruling).toMatchObject({ effects: 'settled', calls: [{ tool: 'bank.pay', phase: 'applied' }] });
  expect({ action, amended, resolves, counselor }).toEqual({
    action: { name: 'place', role: { name: 'clerk', params: {} }, args: lamp(40) },
    amended: {
      action: { name: 'place', role: { name: 'clerk', params: {} }, args: lamp(4_000) },
      difference: [{ op: 'replace', path: '/args/amount', value: 40 }],
    },
    resolves: pending,
    counselor: { ...boss, as: 'boss' },
  });
  expect(delta.effects).toHaveLength(1);
  await assize.recoverEffects();
  expect(bank.paid).toEqual([40]);
  await verify();
  await assize.close();
});

test('the calls of a transaction body cannot be amended, nothing is paid', async () => {
  const { assize, bank, trajectory } = await opened();
  const { ruling } = await trajectory.transaction({ writ, writes: ['bank:*'] }, async (tx) => {
    await tx.call('bank.pay', lamp(4_000));
    tx.propose({ action: 'place', role: 'clerk', args: lamp(4_000) });
  });
  if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
  await expect(trajectory.approvals.approve(ruling.pending, { ...boss, args: lamp(40) })).rejects.toMatchObject({
    code: 'invalid_amendment',
    message: expect.stringContaining('transaction body'),
  });
  expect([bank.paid, ordersOf(trajectory)]).toEqual([[], {}]);
  await assize.close();
});

test('calls that follow from the state are derived from the amended state', async () => {
  const { bank, trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'priced', { id: 'lamp', count: 800 });
  commitOf(await trajectory.approvals.approve(pending, { ...boss, args: { id: 'lamp', count: 8 } }));
  expect([bank.paid, ordersOf(trajectory)]).toEqual([[40], { lamp: 40 }]);
  await verify();
});

test('an amendment can leave no call at all', async () => {
  const { bank, trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'priced', { id: 'lamp', count: 800 });
  expect(
    commitOf(await trajectory.approvals.approve(pending, { ...boss, args: { id: 'lamp', count: 0 } })).delta.effects,
  ).toEqual([]);
  expect(bank.paid).toEqual([]);
  await verify();
});

test('the amended cost is booked', async () => {
  const { store, trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'costly');
  expect(commitOf(await trajectory.approvals.approve(pending, { ...boss, args: lamp(40) })).budget_cost).toEqual({
    usd: 40,
  });
  expect(await listWrits(store, 't')).toMatchObject([{ spent: { usd: 40 } }]);
  await verify();
});

test('the amended facts are stated, and not the first ones', async () => {
  const { assize, trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'told');
  commitOf(await trajectory.approvals.approve(pending, { ...boss, args: lamp(40) }));
  const facts = await assize.memory('shop', 't').recall({});
  expect(JSON.stringify(facts)).toContain('"40"');
  expect(JSON.stringify(facts)).not.toContain('4000');
  await verify();
});

test('an amended role is judged and recorded', async () => {
  const { trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'plain');
  const { action, amended } = commitOf(await trajectory.approvals.approve(pending, { ...boss, role: 'buyer' }));
  expect([action.role.name, amended]).toMatchObject([
    'buyer',
    { difference: [{ op: 'replace', path: '/role/name', value: 'buyer' }] },
  ]);
  await verify();
});
