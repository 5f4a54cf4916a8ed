import { exportLines, importLines } from '@assize/audit/internal/export';
import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { DidNothing } from '#effects';
import { defineDomain, escalate, pass, reject } from '#kernel';
import { integrateLog, readRow } from '#ledger';
import type { Ruling } from '#runtime';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { Bank, LIMIT, payments } from '../../../../../tests/support/tools/bank.ts';

const writ = writFor('agent:a', { trajectory: 't' });

async function stage(bank = new Bank(), unjudgedCalls?: 'allow') {
  const store = new MemoryStore();
  const domain = payments(bank, unjudgedCalls);
  const assize = runtimeOver(store, [domain], { tools: [bank.pay, bank.wire] });
  const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [writ] });
  return { bank, store, domain, assize, trajectory };
}

const pay = (cents: number, to = 'bob') => ({
  action: 'pay' as const,
  role: 'clerk' as const,
  args: { to, cents },
  writ,
});

function committed(ruling: Ruling): Extract<Ruling, { ruling: 'committed' }> {
  if (ruling.ruling !== 'committed') throw new Error(JSON.stringify(ruling));
  return ruling;
}

test('propose commits the action and makes the calls that it declares', async () => {
  const { bank, trajectory, assize, store, domain } = await stage();
  const ruling = committed(await trajectory.propose(pay(300)));
  expect(bank.paid).toEqual([300]);
  expect(ruling).toMatchObject({
    effects: 'settled',
    calls: [{ tool: 'bank.pay', phase: 'applied', answer: { receipt: 1 } }],
  });
  expect((readRow(ruling.entry).payload as any).delta.effects).toHaveLength(1);
  const report = await deepReplay(store, 't', { domains: [domain] } as never);
  expect(report.differences).toEqual([]);
  await assize.close();
});

test('an approval returns the outcomes of the calls', async () => {
  const { trajectory } = await stage();
  const ruling = await trajectory.propose(pay(501));
  if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
  const approved = await trajectory.approvals.approve(ruling.pending, {
    principal: 'manager:m',
    method: 'test',
  });
  expect(approved).toMatchObject({
    ruling: 'committed',
    effects: 'settled',
    calls: [{ tool: 'bank.pay', phase: 'applied', answer: { receipt: 1 } }],
  });
});

test('a repeated key gets the ruling while its own call is in doubt', async () => {
  const bank = new Bank();
  const { trajectory, store, domain } = await stage(bank);
  bank.trouble = () => new Error('no answer');
  const once = { ...pay(300), idempotencyKey: 'invoice 1' };
  const first = committed(await trajectory.propose(once));
  expect(first.effects).toBe('needs_human');
  expect(committed(await trajectory.propose(once))).toMatchObject({
    entry: { id: first.entry.id },
    effects: 'needs_human',
    calls: [{ tool: 'bank.pay', phase: first.calls?.[0]?.phase }],
  });
  // A runtime without tools answers, too.
  const reader = await runtimeOver(store, [domain]).open('t');
  expect(committed(await reader.propose(once)).entry.id).toBe(first.entry.id);
});

test('a repeated key of an imported ruling gets the ruling without its calls', async () => {
  const { bank, trajectory, store, domain } = await stage();
  const once = { ...pay(300), idempotencyKey: 'invoice 1' };
  const first = committed(await trajectory.propose(once));
  const copy = new MemoryStore();
  await integrateLog(store);
  await importLines(copy, linesOf(store));
  const moved = await runtimeOver(copy, [domain], { tools: [bank.pay, bank.wire] }).open('t');
  const { entry, effects, calls } = committed(await moved.propose(once));
  expect([entry.id, effects, calls]).toEqual([first.entry.id, undefined, undefined]);
  expect(bank.paid).toEqual([300]);
});

async function* linesOf(store: MemoryStore): AsyncGenerator<string> {
  for await (const line of exportLines(store)) yield line.slice(0, -1);
}

test('a rule over calls refuses the proposal, and no call is made', async () => {
  const { bank, trajectory } = await stage();
  expect(await trajectory.propose(pay(LIMIT + 1))).toMatchObject({
    ruling: 'rejected',
    reason: 'invariant_rejected',
    invariantId: 'WITHIN_LIMIT',
    detail: 'bank.pay: 10001 is more than 10000',
  });
  expect(bank.paid).toEqual([]);
});

test('an approver sees the calls, and they are made after the approval', async () => {
  const { bank, trajectory } = await stage();
  const ruling = await trajectory.propose(pay(501));
  if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
  expect(bank.paid).toEqual([]);
  committed(
    await trajectory.approvals.approve(ruling.pending, { principal: 'manager:m', method: 'desk' }),
  );
  expect(bank.paid).toEqual([501]);
});

test('an input that does not fit the tool is refused with the reason', async () => {
  const { trajectory } = await stage();
  expect(await trajectory.propose(pay(-1))).toMatchObject({
    ruling: 'rejected',
    reason: 'type_mismatch',
    detail: expect.stringContaining('calls of pay: '),
  });
});

test('a call that fails permanently needs a human', async () => {
  const bank = new Bank();
  bank.trouble = () => new DidNothing('the account is closed', { final: true } as never);
  const { trajectory } = await stage(bank);
  expect(committed(await trajectory.propose(pay(5)))).toMatchObject({
    effects: 'needs_human',
    calls: [{ phase: 'unresolved' }],
  });
});

test('calls are planned again if the state has changed meanwhile', async () => {
  const { bank, trajectory } = await stage();
  const both = await Promise.all([
    trajectory.propose({ action: 'rest', role: 'clerk', args: { to: 'bob' }, writ }),
    trajectory.propose(pay(100)),
    trajectory.propose({ action: 'rest', role: 'clerk', args: { to: 'bob' }, writ }),
  ]);
  expect(both.map(({ ruling }) => ruling)).toEqual(['committed', 'committed', 'committed']);
  expect(bank.paid.toSorted()).toEqual([1, 1, 100]);
});

test('an action whose last commit made no call is applied once', async () => {
  const bank = new Bank();
  const { actions, ...declared } = payments(bank).declared as any;
  let applied = 0;
  const counted = {
    ...actions.pay,
    apply: (state: object, args: object) => {
      applied += 1;
      actions.pay.apply(state, args);
    },
    calls: (state: object, args: { cents: number }) =>
      args.cents < 10 ? [] : actions.pay.calls(state, args),
  };
  const domain = defineDomain({ ...declared, actions: { pay: counted } }) as any;
  const assize = runtimeOver(new MemoryStore(), [domain], { tools: [bank.pay, bank.wire] });
  const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [writ] });
  const appliedFor = async (cents: number): Promise<number> => {
    applied = 0;
    expect(committed(await trajectory.propose(pay(cents) as never)).calls ?? []).toHaveLength(
      cents < 10 ? 0 : 1,
    );
    return applied;
  };
  expect([await appliedFor(1), await appliedFor(2), await appliedFor(3)]).toEqual([2, 1, 1]);
  // Its calls are planned when the ruling finds them, and before it from then on.
  expect([await appliedFor(300), await appliedFor(400)]).toEqual([3, 2]);
  expect([await appliedFor(4), await appliedFor(5)]).toEqual([2, 1]);
  expect(bank.paid).toEqual([300, 400]);
  await assize.close();
});

test('an upgrade by another process to an action with calls plans them', async () => {
  const bank = new Bank();
  const store = new MemoryStore({ shared: true });
  const calling = payments(bank);
  const { calls: _, ...silent } = (calling.declared as any).actions.pay;
  const before = defineDomain({
    ...(calling.declared as any),
    version: '0',
    actions: { pay: silent },
  });
  const runtime = () => runtimeOver(store, [before, calling], { tools: [bank.pay, bank.wire] });
  const [one, other] = [runtime(), runtime()];
  const upgraded = await one.create(before, { trajectoryId: 't' });
  const trajectory = await other.open('t');
  await upgraded.upgrade(calling as never, { writ: writFor('upgrader'), reason: 'calls' });
  committed(await trajectory.propose(pay(300) as never));
  expect(bank.paid).toEqual([300]);
  await one.close();
  await other.close();
});

test('an upgrade by another process to an action without calls drops them', async () => {
  const bank = new Bank();
  const store = new MemoryStore({ shared: true });
  const calling = payments(bank);
  const { calls: _, ...silent } = (calling.declared as any).actions.pay;
  const after = defineDomain({
    ...(calling.declared as any),
    version: '9',
    actions: { pay: silent },
  });
  const runtime = () => runtimeOver(store, [calling, after], { tools: [bank.pay, bank.wire] });
  const [one, other] = [runtime(), runtime()];
  const upgraded = await one.create(calling, { trajectoryId: 't' });
  const trajectory = await other.open('t');
  await upgraded.upgrade(after as never, { writ: writFor('upgrader'), reason: 'no calls' });
  expect(committed(await trajectory.propose(pay(300) as never)).calls).toBeUndefined();
  expect(bank.paid).toEqual([]);
  await one.close();
  await other.close();
});

test('a repeated key gets its ruling and the outcomes; no call is repeated', async () => {
  const { bank, trajectory } = await stage();
  const keyed = { ...pay(7), idempotencyKey: 'k' };
  const [one, two] = await Promise.all([trajectory.propose(keyed), trajectory.propose(keyed)]);
  const three = await trajectory.propose(keyed);
  expect([one, two, three].map((each) => committed(each).entry.id)).toEqual(
    Array(3).fill(committed(one).entry.id),
  );
  expect(committed(three)).toMatchObject({
    effects: 'settled',
    calls: [{ answer: { receipt: 1 } }],
  });
  expect(bank.paid).toEqual([7]);
  await expect(trajectory.propose({ ...pay(8), idempotencyKey: 'k' })).rejects.toMatchObject({
    code: 'idempotency_conflict',
  });
});

test('a body that calls more than it proposes is refused', async () => {
  const { bank, trajectory } = await stage();
  const { ruling } = await trajectory.transaction({ writ, writes: ['bank:*'] }, async (tx) => {
    await tx.call('bank.wire', { to: 'bob', cents: 1_000_000 });
    tx.propose({ action: 'pay', role: 'clerk', args: { to: 'bob', cents: 1 } });
  });
  expect(ruling).toMatchObject({ ruling: 'rejected', reason: 'unjudged_call' });
  expect(bank.paid).toEqual([]);
});

describe('several rules over calls that escalate', () => {
  const asking = async () => {
    const bank = new Bank();
    const plain = payments(bank);
    const domain = defineDomain({
      ...plain.declared,
      counselors: {
        manager: (principal: string) =>
          principal.startsWith('manager:') || principal.startsWith('boss:'),
        boss: (principal: string) => principal.startsWith('boss:'),
      },
      invariants: ({ eachCall }: any) => [
        eachCall('MANAGER', 'bank.*', { channel: 'manager' }, ({ input }: any) =>
          input.cents <= 10 ? pass : escalate(`${input.cents} cents`),
        ),
        eachCall('BOSS', 'bank.*', { channel: 'boss' }, ({ input }: any) =>
          input.cents <= 100 ? pass : escalate(`${input.cents} cents`),
        ),
        eachCall('TWO', 'bank.*', { channel: 'boss', approvals: 2 }, ({ input }: any) =>
          input.cents <= 1_000 ? pass : escalate(`${input.cents} cents`),
        ),
        eachCall('NOT_EVE', 'bank.*', {}, ({ input }: any) =>
          input.to === 'eve' ? reject('blocked') : pass,
        ),
      ],
    } as never) as typeof plain;
    const store = new MemoryStore();
    const assize = runtimeOver(store, [domain], { tools: [bank.pay, bank.wire] });
    const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [writ] });
    const ask = async (cents: number) => {
      const ruling = await trajectory.propose(pay(cents));
      if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
      const waiting = trajectory.approvals.pending().find(({ id }) => id === ruling.pending);
      return {
        pending: ruling.pending,
        channel: waiting?.payload.channel,
        approvals: waiting?.payload.approvals,
      };
    };
    const approve = (pending: string, principal: string) =>
      trajectory.approvals.approve(pending as never, { principal, method: 'test' });
    return { bank, trajectory, store, domain, ask, approve };
  };

  test('one approval needs a counselor of all their channels', async () => {
    const { bank, ask, approve, store, domain } = await asking();
    const { pending, channel } = await ask(500);
    expect(channel).toBe('boss+manager');
    await expect(approve(pending, 'manager:m')).rejects.toMatchObject({
      code: 'unauthorised_counselor',
    });
    expect((await approve(pending, 'boss:b')).ruling).toBe('committed');
    expect(bank.paid).toEqual([500]);
    expect((await deepReplay(store, 't', { domains: [domain] } as never)).differences).toEqual([]);
  });

  test('the highest number of approvers counts, in any order of the rules', async () => {
    const { bank, trajectory, ask, approve } = await asking();
    const { pending, approvals } = await ask(2_000);
    expect(approvals).toBe(2);
    await approve(pending, 'boss:a');
    const [next] = trajectory.approvals.pending();
    expect(bank.paid).toEqual([]);
    await approve(next!.id, 'boss:b');
    expect(bank.paid).toEqual([2_000]);
  });

  test('the error of an amendment into a rule says to amend it otherwise', async () => {
    const { trajectory, ask } = await asking();
    const { pending } = await ask(500);
    const by = { principal: 'boss:b', method: 'test', args: { to: 'eve', cents: 500 } };
    await expect(trajectory.approvals.approve(pending, by)).rejects.toThrow(
      /NOT_EVE.*Amend it otherwise, or reject it/,
    );
  });
});

test('an amendment above two approvers is refused, also with an override', async () => {
  const bank = new Bank();
  const plain = payments(bank);
  const domain = defineDomain({
    ...plain.declared,
    invariants: ({ each }: any) => [
      each('DAILY', '/spent/*', {}, (cents: number) =>
        cents <= 1_000 ? pass : reject(`${cents} today`),
      ),
      each('TWO', '/spent/*', { channel: 'manager', approvals: 2 }, (cents: number) =>
        cents <= 500 ? pass : escalate(`${cents} cents`),
      ),
      each('ONE', '/spent/*', { channel: 'manager' }, (cents: number) =>
        cents <= 50 ? pass : escalate('ask'),
      ),
    ],
    unjudgedCalls: 'allow',
  } as never) as typeof plain;
  const assize = runtimeOver(new MemoryStore(), [domain], { tools: [bank.pay, bank.wire] });
  const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [writ] });
  const ruling = await trajectory.propose(pay(60));
  if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
  for (const cents of [600, 1_200]) {
    const by = {
      principal: 'manager:m',
      method: 'test',
      override: true,
      args: { to: 'bob', cents },
    };
    await expect(trajectory.approvals.approve(ruling.pending, by)).rejects.toMatchObject({
      code: 'invalid_amendment',
      message: expect.stringContaining('needs 2 approvals'),
    });
  }
  expect(bank.paid).toEqual([]);
});
