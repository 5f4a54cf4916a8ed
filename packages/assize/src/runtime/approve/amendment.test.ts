import { exportLines, importLines } from '@assize/audit/internal/export';
import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { writId } from '#authority';
import { plainText } from '#canon';
import { declareTool } from '#effects';
import { call, defineDomain, escalate, pass, reject } from '#kernel';
import {
  type CommitPayload,
  entryRow,
  integrateLog,
  Replayer,
  readRow,
  verifyTrajectory,
} from '#ledger';
import { listWrits, type Ruling, type Trajectory } from '#runtime';
import { HandClock, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';

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
        calls: (state, { id }) =>
          state.orders[id] === 0 ? [] : [call(pay, { id, amount: state.orders[id]! })],
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
          {
            verb: 'assert',
            space: 'shop',
            subject: id,
            predicate: 'price',
            object: String(amount),
          },
        ],
        apply: (state, { id, amount }) => {
          state.orders[id] = amount;
        },
      },
    },
    invariants: (rules) => [
      rules.each('AT_MOST_5000', '/orders/*', { overridable: true }, (amount) =>
        amount <= 5_000 ? pass : reject(`${amount} is more than 5000`),
      ),
      rules.each('ASK_OWNER_ABOVE_4500', '/orders/*', { channel: 'owner' }, (amount) =>
        amount <= 4_500 ? pass : escalate(`${amount} needs the owner`),
      ),
    ],
  });
}

const writ = writFor('agent:a', {
  require_approval: ['**'],
  budget: { usd: 10_000 },
  trajectory: 't',
});
const boss = { principal: 'boss:olga', method: 'desk' };
const lamp = (amount: number) => ({ id: 'lamp', amount });

async function opened(clock = new HandClock(), options = {}) {
  const bank = new Bank();
  const store = new MemoryStore();
  const domain = shopOf(bank);
  const assize = runtimeOver(store, [domain], {
    tools: [bank.pay],
    ports: { clock },
    ...options,
  } as never);
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

async function waiting(
  trajectory: Opened,
  action: string,
  args: object = lamp(4_000),
): Promise<string> {
  const ruling = await trajectory.propose({ action, role: 'clerk', args, writ } as never);
  if (ruling.ruling !== 'escalated') throw new Error(JSON.stringify(ruling));
  return ruling.pending;
}

function ordersOf(trajectory: Opened): unknown {
  return (trajectory.state() as { readonly orders: unknown }).orders;
}

async function* trimmed(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield line.trimEnd();
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
  expect(trajectory.state()).toMatchObject({
    orders: { lamp: 40 },
    approved: { lamp: 'boss:olga' },
  });
  expect(ruling).toMatchObject({
    effects: 'settled',
    calls: [{ tool: 'bank.pay', phase: 'applied' }],
  });
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
  await expect(
    trajectory.approvals.approve(ruling.pending, { ...boss, args: lamp(40) }),
  ).rejects.toMatchObject({
    code: 'invalid_amendment',
    message: expect.stringContaining('transaction body'),
  });
  expect([bank.paid, ordersOf(trajectory)]).toEqual([[], {}]);
  await assize.close();
});

test('calls that follow from the state are derived from the amended state', async () => {
  const { bank, trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'priced', { id: 'lamp', count: 800 });
  commitOf(
    await trajectory.approvals.approve(pending, { ...boss, args: { id: 'lamp', count: 8 } }),
  );
  expect([bank.paid, ordersOf(trajectory)]).toEqual([[40], { lamp: 40 }]);
  await verify();
});

test('an amendment can leave no call at all', async () => {
  const { bank, trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'priced', { id: 'lamp', count: 800 });
  expect(
    commitOf(
      await trajectory.approvals.approve(pending, { ...boss, args: { id: 'lamp', count: 0 } }),
    ).delta.effects,
  ).toEqual([]);
  expect(bank.paid).toEqual([]);
  await verify();
});

test('the amended cost is booked', async () => {
  const { store, trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'costly');
  expect(
    commitOf(await trajectory.approvals.approve(pending, { ...boss, args: lamp(40) })).budget_cost,
  ).toEqual({
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

test.each([
  ['a rule that it breaks', 'plain', { args: lamp(6_000) }, 'override_needed'],
  ['a rule of another counselor', 'plain', { args: lamp(4_600) }, 'unauthorised_counselor'],
  [
    'arguments of another type',
    'plain',
    { args: { id: 'lamp', amount: 'all' } },
    'invalid_amendment',
  ],
  ['a role that the domain lacks', 'plain', { role: 'chef' }, 'invalid_amendment'],
  ['a cost above the budget', 'costly', { args: lamp(4_000_000) }, 'invalid_amendment'],
  ['the same arguments', 'plain', { args: lamp(4_000) }, 'invalid_amendment'],
  ['additional answers', 'told', { args: lamp(40), answers: [] }, 'bad_intent'],
  ['an additional replacement', 'plain', { args: lamp(40), replacement: [] }, 'bad_intent'],
  ['undefined arguments', 'plain', { args: undefined }, 'bad_intent'],
  [
    'the requester as counselor',
    'plain',
    { args: lamp(40), principal: 'agent:a' },
    'unauthorised_counselor',
  ],
])('an amendment is refused for %s, and nothing happens', async (_why, action, more, code) => {
  const { bank, trajectory, verify } = await opened();
  const pending = await waiting(trajectory, action);
  const { length } = trajectory;
  const approving = trajectory.approvals.approve(pending, { ...boss, ...more } as never);
  await expect(approving).rejects.toMatchObject({ code });
  expect([bank.paid, ordersOf(trajectory), trajectory.length]).toEqual([[], {}, length]);
  expect(trajectory.approvals.pending().map(({ id }) => id)).toEqual([pending]);
  await verify();
});

test('an override of an amendment is recorded with its violations', async () => {
  const { bank, trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'place');
  const approving = trajectory.approvals.approve(pending, {
    ...boss,
    args: lamp(6_000),
    override: true,
  });
  const { counselor, detection_vector: vector } = commitOf(await approving);
  expect(counselor).toMatchObject({ override: true });
  expect(vector).toContainEqual({
    invariant_id: 'AT_MOST_5000',
    result: 'reject',
    detail: expect.stringContaining('6000 is more than 5000'),
  });
  expect(bank.paid).toEqual([6_000]);
  await verify();
});

test('a counselor of both kinds amends into the range of the other rule', async () => {
  const { bank, trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'place');
  const ruling = await trajectory.approvals
    .approve(pending, { principal: 'boss:owner', method: 'desk', args: lamp(4_600) })
    .catch(({ code }) => code);
  // The rule has no mark of its own, so the state does not pass it without an override.
  expect(ruling).toBe('override_needed');
  const owner = { principal: 'boss:owner', method: 'desk', override: true };
  commitOf(await trajectory.approvals.approve(pending, { ...owner, args: lamp(4_600) }));
  expect(bank.paid).toEqual([4_600]);
  await verify();
});

test('of a concurrent amendment and plain approval, one commits and pays', async () => {
  const { bank, trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'place');
  const both = await Promise.allSettled([
    trajectory.approvals.approve(pending, { ...boss, args: lamp(40) }),
    trajectory.approvals.approve(pending, { ...boss, principal: 'boss:ole' }),
  ]);
  const codes = both.map((one) =>
    one.status === 'fulfilled' ? one.value.ruling : one.reason.code,
  );
  expect(codes.toSorted()).toEqual(['committed', 'not_pending']);
  expect(bank.paid).toEqual([(ordersOf(trajectory) as { lamp: number }).lamp]);
  await verify();
});

test('two concurrent amendments: one commits and pays', async () => {
  const { bank, trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'place');
  const both = await Promise.allSettled(
    [40, 50].map((amount) =>
      trajectory.approvals.approve(pending, { ...boss, args: lamp(amount) }),
    ),
  );
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(bank.paid).toEqual([(ordersOf(trajectory) as { lamp: number }).lamp]);
  await verify();
});

test('an amendment that comes too late records the expiry, and pays nothing', async () => {
  const clock = new HandClock();
  const { bank, trajectory, verify } = await opened(clock, { approvals: { timeoutMs: 1_000 } });
  const pending = await waiting(trajectory, 'place');
  clock.forward(1_001);
  const ruling = await trajectory.approvals.approve(pending, { ...boss, args: lamp(40) });
  expect(ruling).toMatchObject({ ruling: 'rejected', reason: 'expired' });
  expect([bank.paid, ordersOf(trajectory)]).toEqual([[], {}]);
  await verify();
});

test('a repeated key gets the amended commit', async () => {
  const { bank, trajectory } = await opened();
  const keyed = {
    action: 'place',
    role: 'clerk',
    args: lamp(4_000),
    writ,
    idempotencyKey: 'k',
  } as never;
  const ruling = await trajectory.propose(keyed);
  if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
  const committed = commitOf(
    await trajectory.approvals.approve(ruling.pending, { ...boss, args: lamp(40) }),
  );
  expect(commitOf(await trajectory.propose(keyed))).toEqual(committed);
  expect(bank.paid).toEqual([40]);
});

test('another digest than the shown one is refused', async () => {
  const { trajectory } = await opened();
  const pending = await waiting(trajectory, 'plain');
  const approving = trajectory.approvals.approve(pending, {
    ...boss,
    args: lamp(40),
    digest: 'f'.repeat(64),
  });
  await expect(approving).rejects.toMatchObject({ code: 'digest_mismatch' });
});

test('a revoked writ stops an amendment as it stops a proposal', async () => {
  const { trajectory } = await opened();
  const pending = await waiting(trajectory, 'plain');
  const revoking = writFor('operator', { actions: ['assize.revoke'], scopes: ['writ:**'] });
  await trajectory.writs.revoke({ writ: writId(writ), reason: 'stolen', by: revoking });
  await expect(
    trajectory.approvals.approve(pending, { ...boss, args: lamp(40) }),
  ).rejects.toMatchObject({
    code: 'invalid_amendment',
    message: expect.stringContaining('invalid_authority'),
  });
});

test('the policy decides on the amended arguments and calls', async () => {
  const asked: unknown[] = [];
  const policy = {
    digest: 'a'.repeat(64),
    evaluate: ({ args, calls = [] }: any) => {
      asked.push([args.amount, calls.map(({ input }: any) => input.amount)]);
      return {
        decision: args.amount === 41 ? 'deny' : 'allow',
        rule: 'r',
        reasons: [],
        errors: [],
      };
    },
  };
  const { bank, trajectory, verify } = await opened(new HandClock(), { policy });
  const pending = await waiting(trajectory, 'place');
  await expect(
    trajectory.approvals.approve(pending, { ...boss, args: lamp(41) }),
  ).rejects.toMatchObject({
    code: 'invalid_amendment',
    message: expect.stringContaining('policy_denied'),
  });
  const { policy: recorded } = commitOf(
    await trajectory.approvals.approve(pending, { ...boss, args: lamp(40) }),
  );
  expect(recorded).toEqual({ digest: policy.digest, decision: 'allow', rule: 'r' });
  expect(asked).toContainEqual([40, [40]]);
  expect(bank.paid).toEqual([40]);
  await verify();
});

test('sensitive arguments are erased from both sides of an amendment', async () => {
  const { store, trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'told', { id: 'lamp', amount: 4_321 });
  const ruling = await trajectory.approvals.approve(pending, {
    ...boss,
    args: { id: 'lamp', amount: 1_234 },
  });
  const { amended } = commitOf(ruling);
  expect(amended).toMatchObject({
    action: { args: { salted: true } },
    difference: { salted: true },
  });
  const eraser = writFor('eraser', { trajectory: 't' });
  const beliefs = [{ space: 'shop', subject: 'lamp', predicate: 'price' }];
  const erased = await trajectory.erase({ beliefs, reason: 'asked', writ: eraser } as never);
  expect(erased.ruling).toBe('committed');
  for (const { $blob } of [amended!.action.args, amended!.difference] as { $blob: string }[]) {
    expect(await store.blob($blob)).toBeUndefined();
    expect(await store.erasedBy($blob)).toBeDefined();
  }
  await verify();
});

test('a branch and an export have the amended commit', async () => {
  const { assize, store, domain, trajectory } = await opened();
  const pending = await waiting(trajectory, 'plain');
  const ruling = await trajectory.approvals.approve(pending, { ...boss, args: lamp(40) });
  if (ruling.ruling !== 'committed') throw new Error(ruling.ruling);
  const branch = await assize.branch('t', ruling.entry.id, {
    trajectoryId: 'b',
    note: 'try',
  } as never);
  expect(ordersOf(branch as never)).toEqual({ lamp: 40 });
  await assize.close();
  const other = new MemoryStore();
  await integrateLog(store);
  await importLines(other, trimmed(exportLines(store)));
  expect((await deepReplay(other, 't', { domains: [domain] } as never)).differences).toEqual([]);
});

test('a forged amendment is found by a deep replay', async () => {
  const { store, domain, trajectory } = await opened();
  const pending = await waiting(trajectory, 'plain');
  await trajectory.approvals.approve(pending, { ...boss, args: lamp(40) });
  for (const [from, to, what] of [
    [
      '"difference":[{"op":"replace","path":"/args/amount","value":40}]',
      '"difference":[]',
      'amendment',
    ],
    [
      '"state":[{"op":"add","path":"/orders/lamp","value":40}]',
      '"state":[{"op":"add","path":"/orders/lamp","value":4000}]',
      'delta',
    ],
    ['"budget_cost":{}', '"budget_cost":{"usd":5}', 'cost'],
  ] as const) {
    const forged = new MemoryStore();
    let parent: string | null = null;
    for (const row of await store.entries('t')) {
      const isLast = row.kind === 'commit';
      const text = isLast ? row.payload.replace(from, to) : row.payload;
      if (isLast) expect(text).not.toBe(row.payload);
      const entry = entryRow({ ...JSON.parse(text), parent } as never);
      parent = entry.id;
      await forged.commit({
        entries: [entry],
        blobs: [{ hash: writId(writ), text: plainText(writ as never) }],
      });
    }
    const { differences } = await deepReplay(forged, 't', { domains: [domain] } as never);
    expect(differences.map((one) => one.what)).toContain(what);
  }
});

test('an amended role is judged and recorded', async () => {
  const { trajectory, verify } = await opened();
  const pending = await waiting(trajectory, 'plain');
  const { action, amended } = commitOf(
    await trajectory.approvals.approve(pending, { ...boss, role: 'buyer' }),
  );
  expect([action.role.name, amended]).toMatchObject([
    'buyer',
    { difference: [{ op: 'replace', path: '/role/name', value: 'buyer' }] },
  ]);
  await verify();
});
