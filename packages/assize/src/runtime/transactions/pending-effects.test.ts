import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DidNothing, declareTool, type Sink, type Tool } from '#effects';
import { defineDomain } from '#kernel';
import { isAbandonment, Replayer, readRow, type SettlementArgs, verifyTrajectory } from '#ledger';
import { seededRandom } from '#oracle';
import { type AssizeOptions, listWrits, type Transaction, type TransactionOptions } from '#runtime';
import {
  HandClock,
  operatorWrit,
  runtimeOver,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import { OutsideSink, Steps, toolFor } from '../../../../../tests/support/tools/effect-sink.ts';
import { asking } from '../../../../../tests/support/tools/ledger-with-effects.ts';

// Effects that executed immediately in a transaction with a pending proposal: they are compensated,
// and called again after the approval (docs/decisions/015-effect-order.md).

const ACTS = 'reversible.externalised';
const HELD = 'reversible.buffered';
const PIVOT = 'irreversible.externalised';
const ASKED = { action: 'count', role: 'counter', args: 'asked' } as const;
const doctor = { principal: 'doc', method: 'test', override: true };

/** Needs two approvals. */
const twice = defineDomain<any, any>({
  ...(asking.declared as any),
  name: 'twice',
  counselors: { doctor: (principal: string) => ['doc', 'ann'].includes(principal) },
  actions: { count: { ...(asking.declared as any).actions.count, approvals: 2 } },
});

/** A pending proposal freezes its footprint and nothing else. */
const footprint = defineDomain<any, any>({
  ...(asking.declared as any),
  name: 'footprint',
  freeze: 'footprint',
});

interface Options {
  readonly shared?: boolean;
  readonly sort?: Sink;
  readonly domain?: typeof asking;
  readonly around?: Partial<AssizeOptions>;
}

async function stage({
  sort = 'keyed',
  domain = asking,
  around = {},
  shared = false,
}: Options = {}) {
  const sink = new OutsideSink(sort);
  const outside = { sink, steps: new Steps() };
  /** The answer of the tool, and whether it does anything. */
  const odd = {
    answer: 'first' as unknown,
    refuses: false,
    isLost: false,
    meanwhile: undefined as (() => Promise<void>) | undefined,
  };
  const costing = (name: string, cost: number, undoCost: number) =>
    declareTool({
      name,
      input: z.strictObject({}),
      class: { reversibility: 'with_cost', delivery: 'externalised', sink: 'keyed' },
      writes: [`test:${name}`],
      cost: () => ({ usd: cost }),
      undoCost: () => ({ usd: undoCost }),
      execute: (_, { key }) => sink.do(key, name) ?? null,
      compensate: (_, __, { key }) => {
        sink.undo(key, name);
        return { undone: 'all' };
      },
    });
  const tools = [
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'reversible', 'buffered'),
    toolFor(outside, 'irreversible', 'externalised'),
    declareTool({
      name: 'odd',
      input: z.strictObject({}),
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
      writes: ['test:odd'],
      sensitive: true,
      execute: async (_, { key }) => {
        await odd.meanwhile?.();
        if (odd.refuses) throw new DidNothing('it is closed');
        sink.do(key, 'odd');
        return odd.answer;
      },
      compensate: (_, __, { key }) => {
        sink.undo(key, 'odd');
        return { undone: 'all' };
      },
    }),
    declareTool({
      name: 'unseen',
      input: z.strictObject({}),
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'blind' },
      writes: ['test:unseen'],
      execute: () => {
        if (odd.isLost) throw new Error('the line went dead');
        return null;
      },
      compensate: () => ({ undone: 'all' }),
    }),
    declareTool({
      name: 'look',
      input: z.strictObject({}),
      class: 'read',
      reads: ['test:odd'],
      cost: () => ({ usd: 3 }),
      execute: () => odd.answer,
    }),
    costing('charge', 5, 2),
    costing('dear', 0, 15),
  ];
  const store = new MemoryStore({ shared });
  const assize = runtimeOver(store, [domain], { tools, ...around });
  const trajectory = await assize.create(domain, { trajectoryId: 't' });
  const all: TransactionOptions = { writ: writFor('alice'), writes: ['test:**'], retries: 0 };
  const transact = (
    body: (tx: Transaction) => Promise<unknown>,
    more: Partial<TransactionOptions> = {},
  ) =>
    trajectory.transaction({ ...all, ...more }, async (tx) => {
      await body(tx);
      tx.propose(ASKED);
    });
  /** Submits the proposal, and returns its id and its ruling. */
  const putUp = async (...given: Parameters<typeof transact>) => {
    const { ruling, effects } = await transact(...given);
    if (ruling.ruling !== 'escalated') throw new Error(`it was ${ruling.ruling}`);
    const { proposal } = JSON.parse(ruling.entry.payload);
    return {
      id: ruling.pending,
      ids: proposal.delta.effects.map(({ id }: { id: string }) => id),
      effects,
    };
  };
  const did = (): string[] => sink.log.map(({ did, what }) => `${did} ${what}`);
  /** Closes the runtime, and verifies and replays the ledger. */
  const verified = async (open = 0) => {
    expect(await assize.recoverEffects()).toEqual([]);
    await assize.close();
    expect(await verifyTrajectory(new Replayer(store), 't')).toMatchObject({ valid: true, open });
    const replayed = await deepReplay(store, 't', { domains: [domain] });
    expect(replayed).toMatchObject({ same: true, differences: [], reworded: 0 });
  };
  const payloads = async () => (await store.entries('t')).map((row) => readRow(row).payload);
  return { sink, did, odd, store, tools, assize, trajectory, transact, putUp, verified, payloads };
}

/** A buffered tool with the same name. */
const reversedHeld = ({ name }: Tool): Tool =>
  declareTool({
    name,
    input: z.strictObject({}),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'blind' },
    writes: ['test:unseen'],
    execute: () => null,
    compensate: () => ({ undone: 'all' }),
  });

const both = async (tx: Transaction): Promise<void> => {
  expect(await tx.call(ACTS, { what: 'a' })).toEqual({ did: 'a' });
  await tx.call(HELD, { what: 'held' });
  expect(await tx.call(ACTS, { what: 'b' })).toEqual({ did: 'b' });
};
const CALLED_AND_UNDONE = ['do a', 'do b', 'undo b', 'undo a'];

test.each<Sink>(['keyed', 'queryable', 'blind'])(
  'pending, no effect stands; approved, it runs again under new keys: %s',
  async (sort) => {
    const { sink, did, assize, trajectory, putUp, verified, payloads } = await stage({ sort });
    const { id, ids, effects } = await putUp(both);
    expect([effects, did()]).toEqual(['waiting', CALLED_AND_UNDONE]);
    // Other transactions may act there in the meantime.
    const beside = await assize.create(asking, { trajectoryId: 'u' });
    const other = await beside.transaction(
      { writ: writFor('alice'), writes: ['test:r'] },
      async (tx) => {
        await tx.call(ACTS, { what: 'other' });
        tx.propose({ ...ASKED, args: 'another' });
      },
    );
    expect(other.ruling.ruling).toBe('committed');

    const ruling = await trajectory.approvals.approve(id, doctor);
    if (ruling.ruling !== 'committed') throw new Error(`it was ${ruling.ruling}`);
    expect(did().slice(CALLED_AND_UNDONE.length)).toEqual(['do other', 'do a', 'do b', 'do held']);
    const keys = sink.log.filter(({ what }) => what === 'a').map(({ key }) => key);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).not.toBe(keys[0]);
    expect(
      JSON.parse(ruling.entry.payload).delta.effects.map((each: { id: string }) => each.id),
    ).toEqual(ids);
    expect(ids).toContain(keys[2]);
    await verified();
    const settled = (await payloads()).flatMap((each) =>
      each.kind === 'commit' && each.action.name === 'assize.settle'
        ? (each.action.args as unknown as SettlementArgs).settled
        : [],
    );
    expect(
      settled.find(({ commit }) => commit === ruling.entry.id)?.effects.map((each) => each.outcome),
    ).toEqual(['applied', 'applied', 'applied']);
    // The first call is named in a separate entry, so that it can be erased.
    const told = (await payloads()).filter(isAbandonment);
    expect(told).toMatchObject([
      { intent: { args: { cause: 'escalated', effects: [{}, {}] }, observations: [{}, {}] } },
    ]);
  },
);

test.each(['reject', 'expire'] as const)(
  'where it comes to %s, nothing is called again',
  async (end) => {
    const clock = new HandClock();
    const { did, trajectory, putUp, verified } = await stage({
      around: { ports: { clock }, approvals: { timeoutMs: 1_000 } },
    });
    const { id } = await putUp(both);
    if (end === 'reject')
      await trajectory.approvals.reject(id, { principal: 'doc', method: 'test', reason: 'no' });
    else clock.forward(2_000);
    if (end === 'expire') await trajectory.approvals.approve(id, doctor);
    await expect(trajectory.approvals.approve(id, doctor)).rejects.toMatchObject({
      code: 'not_pending',
    });
    expect(did()).toEqual(CALLED_AND_UNDONE);
    await verified();
  },
);

test('an unauthorised approver causes no call', async () => {
  const { did, trajectory, putUp, verified } = await stage();
  const { id } = await putUp(both);
  await expect(
    trajectory.approvals.approve(id, { ...doctor, principal: 'eve' }),
  ).rejects.toMatchObject({
    code: 'unauthorised_counselor',
  });
  await expect(
    trajectory.approvals.approve(id, { ...doctor, digest: 'f'.repeat(64) }),
  ).rejects.toMatchObject({
    code: 'digest_mismatch',
  });
  expect(did()).toEqual(CALLED_AND_UNDONE);
  await trajectory.approvals.approve(id, doctor);
  await verified();
});

test('the calls after an approval are those of the proposing principal', async () => {
  const { assize, trajectory, putUp, verified } = await stage();
  const { id } = await putUp(both);
  await trajectory.approvals.approve(id, doctor);
  const [last] = await assize.effects({ all: true, limit: 1 });
  expect(last).toMatchObject({ principal: 'alice', phase: 'settled' });
  await verified();
});

test('where it takes two, it is called again with the second', async () => {
  const { did, trajectory, putUp, verified } = await stage({ domain: twice });
  const { id } = await putUp(both);
  const first = await trajectory.approvals.approve(id, doctor);
  if (first.ruling !== 'escalated') throw new Error(`it was ${first.ruling}`);
  expect(did()).toEqual(CALLED_AND_UNDONE);
  expect(
    (await trajectory.approvals.approve(first.pending, { ...doctor, principal: 'ann' })).ruling,
  ).toBe('committed');
  expect(did().slice(CALLED_AND_UNDONE.length)).toEqual(['do a', 'do b', 'do held']);
  await verified();
});

describe('a repeated call with another outcome', () => {
  const body = async (tx: Transaction): Promise<void> => {
    await tx.call(ACTS, { what: 'a' });
    await tx.call('odd', {});
    await tx.call(HELD, { what: 'held' });
  };

  test('an effect with an oversized answer is kept, as nothing depends on it', async () => {
    const { sink, odd, trajectory, putUp } = await stage();
    odd.answer = 'x'.repeat(2 ** 20 + 1);
    const { id } = await putUp(async (tx) => {
      await expect(tx.call('odd', {})).rejects.toMatchObject({ reason: 'too_much' });
    });
    expect([sink.times('do', 'odd'), sink.standing('odd')]).toEqual([1, 0]);
    expect(await trajectory.approvals.approve(id, doctor)).toMatchObject({ ruling: 'committed' });
    expect([sink.times('do', 'odd'), sink.standing('odd')]).toEqual([2, 1]);
  });

  test.each<[string, (odd: { answer: unknown; refuses: boolean }) => void, string]>([
    ['answers another thing', (odd) => (odd.answer = 'second'), 'its answer differs'],
    ['does nothing', (odd) => (odd.refuses = true), 'it is closed'],
  ])('%s: all is undone, and it waits on, to be rejected', async (_, change, why) => {
    const { sink, odd, trajectory, putUp, verified, payloads } = await stage();
    const { id } = await putUp(body);
    change(odd);
    const refused = { code: 'changed_since', message: expect.stringContaining(why) };
    await expect(trajectory.approvals.approve(id, doctor)).rejects.toMatchObject(refused);
    expect(['a', 'odd', 'held'].map((what) => sink.standing(what))).toEqual([0, 0, 0]);
    expect(sink.times('do', 'held')).toBe(0);
    // No sink receives the same key twice.
    Object.assign(odd, { answer: 'first', refuses: false });
    await expect(trajectory.approvals.approve(id, doctor)).rejects.toMatchObject({
      code: 'changed_since',
    });
    expect(['a', 'odd'].map((what) => sink.standing(what))).toEqual([0, 0]);
    await trajectory.approvals.reject(id, { principal: 'doc', method: 'test', reason: 'no' });
    await verified();
    const told = (await payloads()).filter(isAbandonment);
    expect(told).toMatchObject(
      ['escalated', 'changed_since'].map((cause) => ({ intent: { args: { cause } } })),
    );
  });
});

test.each([
  ['answers another thing', { answer: 'second' }],
  ['does nothing', { refuses: true }],
])('during other writes: a call that %s is never committed', async (_, change) => {
  const { sink, odd, store, assize, trajectory, putUp } = await stage({
    domain: footprint,
    shared: true,
  });
  const { id } = await putUp((tx) => tx.call('odd', {}));
  const other = runtimeOver(store, [footprint], { ports: { random: seededRandom('other') } });
  const theirs = await other.open('t');
  Object.assign(odd, change);
  odd.meanwhile = async () => {
    odd.meanwhile = undefined;
    const { ruling } = await theirs.propose({
      ...ASKED,
      action: 'no such',
      writ: writFor('alice'),
    });
    expect(ruling).toBe('rejected');
  };
  await expect(trajectory.approvals.approve(id, doctor)).rejects.toMatchObject({
    code: 'changed_since',
  });
  expect(sink.standing('odd')).toBe(0);
  expect(trajectory.approvals.pending().map((each) => each.id)).toEqual([id]);
  for (const each of [other, assize]) await each.close();
  expect(await verifyTrajectory(new Replayer(store), 't')).toMatchObject({ valid: true, open: 1 });
});

test('an effect compensated in its body does not wait for the approval', async () => {
  const { did, transact } = await stage();
  const { ruling, effects } = await transact(async (tx) => {
    const part = tx.nested(async (inner) => {
      await inner.call(ACTS, { what: 'a' });
      throw new Error('not so');
    });
    await part.catch(() => undefined);
  });
  expect([ruling.ruling, effects, did()]).toEqual(['escalated', 'settled', ['do a', 'undo a']]);
});

const ANEW =
  /\. Reject it and propose it again, with a new name or idempotency key if it has one\.$/;

test('an effect in doubt is named with the next steps for it and the proposal', async () => {
  const { odd, assize, trajectory, putUp, verified } = await stage();
  const { id } = await putUp(async (tx) => {
    await tx.call(ACTS, { what: 'a' });
    await tx.call('unseen', {});
  });
  odd.isLost = true;
  const error = await trajectory.approvals.approve(id, doctor).catch((thrown) => thrown);
  const [left] = await assize.effects();
  const n = left!.effects.findIndex(({ phase }) => phase === 'in_doubt');
  expect(error).toMatchObject({ code: 'changed_since', message: expect.stringMatching(ANEW) });
  expect(error.message).toContain(`assize effects resolve ${left!.epoch} ${n}`);
  expect(error.message).not.toContain('..');
  // Until the operator decides, the unresolved effect blocks the approval.
  await expect(trajectory.approvals.approve(id, doctor)).rejects.toMatchObject({
    code: 'resource_in_doubt',
    message: expect.stringContaining(`transaction ${left!.epoch}`),
  });
  await assize.resolveEffect({
    epoch: left!.epoch,
    n,
    as: 'undone',
    by: 'ops',
    writ: operatorWrit(),
    evidence: 'it is not there',
  });
  await expect(trajectory.approvals.approve(id, doctor)).rejects.toMatchObject({
    code: 'changed_since',
  });
  await trajectory.approvals.reject(id, { principal: 'doc', method: 'test', reason: 'no' });
  await verified();
});

test('an unapprovable proposal needs a new name; the old one stays rejected', async () => {
  const { odd, trajectory, transact, putUp, verified } = await stage();
  const odds = (tx: Transaction) => tx.call('odd', {});
  const { id } = await putUp(odds, { name: 'order-1' });
  odd.refuses = true;
  await expect(trajectory.approvals.approve(id, doctor)).rejects.toThrow(ANEW);
  odd.refuses = false;
  // The call did nothing, and the scope is free again. Its key still stands for the dropped call.
  await expect(trajectory.approvals.approve(id, doctor)).rejects.toThrow(
    /its repetition for the approval failed.*\. Reject it/,
  );
  await trajectory.approvals.reject(id, {
    principal: 'doc',
    method: 'test',
    reason: 'it was closed',
  });
  expect(await transact(odds, { name: 'order-1' })).toMatchObject({
    ruling: { ruling: 'rejected' },
  });
  const { id: next } = await putUp(odds, { name: 'order-1, again' });
  expect((await trajectory.approvals.approve(next, doctor)).ruling).toBe('committed');
  await verified();
});

test.each<[string, (tools: readonly Tool[]) => Tool[], string]>([
  ['a tool is missing', (tools) => tools.filter(({ name }) => name !== 'unseen'), 'unknown_tool'],
  [
    'a tool is of another class',
    (tools) => tools.map((tool) => (tool.name === 'unseen' ? reversedHeld(tool) : tool)),
    'stale',
  ],
])('if %s, the approval fails before any call and stays possible', async (_, change, code) => {
  const { sink, store, tools, assize, putUp } = await stage();
  const { id } = await putUp(async (tx) => {
    await tx.call(ACTS, { what: 'a' });
    await tx.call('unseen', {});
  });
  await assize.close();
  const other = runtimeOver(store, [asking], { tools: change(tools) });
  await expect((await other.open('t')).approvals.approve(id, doctor)).rejects.toMatchObject({
    code,
  });
  expect(sink.times('do', 'a')).toBe(1);
  await other.close();
  const again = runtimeOver(store, [asking], { tools });
  expect((await (await again.open('t')).approvals.approve(id, doctor)).ruling).toBe('committed');
  expect(sink.standing('a')).toBe(1);
  await again.close();
});

test('the same name again is the same proposal, and nothing is called for it', async () => {
  const { did, trajectory, transact, putUp, verified } = await stage();
  const { id } = await putUp(both, { name: 'order-1' });
  const again = await transact(both, { name: 'order-1' });
  expect(again).toMatchObject({ ruling: { ruling: 'escalated', pending: id }, effects: 'waiting' });
  expect(did()).toEqual(CALLED_AND_UNDONE);
  await trajectory.approvals.approve(id, doctor);
  const last = await transact(both, { name: 'order-1' });
  expect(last).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
  expect(did().filter((each) => each === 'do a')).toHaveLength(2);
  await verified();
});

test('of concurrent approving processes one succeeds and calls the tool once', async () => {
  const sink = new OutsideSink('keyed');
  const tools = [toolFor({ sink, steps: new Steps() }, 'reversible', 'externalised')];
  const store = new MemoryStore({ shared: true });
  const processes = ['a', 'b', 'c'].map((name) =>
    runtimeOver(store, [asking], { tools, ports: { random: seededRandom(name) } }),
  );
  const [first] = processes;
  const trajectory = await first!.create(asking, { trajectoryId: 't' });
  const { ruling } = await trajectory.transaction(
    { writ: writFor('alice'), writes: ['test:**'] },
    async (tx) => {
      await tx.call(ACTS, { what: 'a' });
      tx.propose(ASKED);
    },
  );
  if (ruling.ruling !== 'escalated') throw new Error(`it was ${ruling.ruling}`);
  const others = await Promise.all(processes.map((each) => each.open('t')));
  const approved = await Promise.allSettled(
    others.map((each) => each.approvals.approve(ruling.pending, doctor)),
  );
  expect(approved.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const each of approved)
    if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'not_pending' });
  expect([sink.times('do', 'a'), sink.standing('a')]).toEqual([2, 1]);
  for (const each of processes) await each.close();
  expect(await verifyTrajectory(new Replayer(store), 't')).toMatchObject({ valid: true, open: 0 });
});

test('only the chosen branch and the outer calls run again, in their order', async () => {
  const { sink, did, trajectory, putUp, verified } = await stage();
  const { id } = await putUp(async (tx) => {
    await tx.call(ACTS, { what: 'first', at: 'one' });
    await tx.speculate(
      [
        (branch) => branch.call(ACTS, { what: 'lost', at: 'two' }),
        (branch) => branch.nested((part) => part.call(ACTS, { what: 'won', at: 'three' })),
      ],
      () => 1,
    );
    await tx.call(ACTS, { what: 'last', at: 'one' });
  });
  const before = did().length;
  await trajectory.approvals.approve(id, doctor);
  expect(did().slice(before)).toEqual(['do first', 'do won', 'do last']);
  expect(['first', 'lost', 'won', 'last'].map((what) => sink.standing(what))).toEqual([1, 0, 1, 1]);
  await verified();
});

test('a pivot follows the repeated calls', async () => {
  const { did, trajectory, putUp, verified } = await stage();
  const { id } = await putUp(async (tx) => {
    await tx.call(PIVOT, { what: 'pivot' });
    await tx.call(ACTS, { what: 'a' });
  });
  expect(did()).toEqual(['do a', 'undo a']);
  await trajectory.approvals.approve(id, doctor);
  expect(did().slice(2)).toEqual(['do a', 'do pivot']);
  await verified();
});

describe('the cost of a pending effect', () => {
  const budget = (usd: number): Partial<TransactionOptions> => ({
    writ: writFor('alice', { trajectory: 't', budget: { usd } }),
  });
  const left = async ({ store }: { store: MemoryStore }): Promise<unknown> =>
    (await listWrits(store, 't')).find(({ left }) => left['usd'] !== undefined)?.left['usd'];

  test('is spent for the compensation, and for the repeated call as submitted', async () => {
    const made = await stage();
    const { id } = await made.putUp((tx) => tx.call('charge', {}), budget(20));
    expect(await left(made)).toBe(18);
    expect((await made.trajectory.approvals.approve(id, doctor)).ruling).toBe('committed');
    await made.verified();
    expect(await left(made)).toBe(13);
  });

  test.each([
    [8, 'changed_since'],
    [9, 'committed'],
  ])('has to be there once, and not twice: with %i it is %s', async (usd, end) => {
    const made = await stage();
    const { id } = await made.putUp((tx) => tx.call('charge', {}), budget(usd));
    const approved = made.trajectory.approvals.approve(id, doctor).then(
      ({ ruling }) => ruling,
      ({ code }) => code,
    );
    expect(await approved).toBe(end);
  });

  test('must be available at the call, despite spending since the submission', async () => {
    const made = await stage();
    const { id } = await made.putUp((tx) => tx.call('charge', {}), budget(18));
    const { effectKey } = made.store;
    made.store.effectKey = async (key) => {
      made.store.effectKey = effectKey;
      const thrown = made.transact(
        async (tx) => {
          await tx.call('dear', {});
          throw new Error('as planned');
        },
        { ...budget(18), writes: ['test:dear'] },
      );
      await expect(thrown).rejects.toThrow('as planned');
      return effectKey.call(made.store, key);
    };
    await expect(made.trajectory.approvals.approve(id, doctor)).rejects.toMatchObject({
      code: 'changed_since',
    });
    expect(made.did()).toEqual(['do charge', 'undo charge', 'do dear', 'undo dear']);
    expect(await left(made)).toBe(1);
  });

  test('is required before the repeated call, including its compensation', async () => {
    const made = await stage();
    // 2 are spent for the compensation: the rest covers the call, and not a second compensation.
    const { id } = await made.putUp((tx) => tx.call('charge', {}), budget(8));
    const approving = made.trajectory.approvals.approve(id, doctor);
    await expect(approving).rejects.toMatchObject({
      code: 'changed_since',
      message: expect.stringContaining('budget'),
    });
    expect(made.did()).toEqual(['do charge', 'undo charge']);
    await made.trajectory.approvals.reject(id, { principal: 'doc', method: 'test', reason: 'no' });
    await made.verified();
  });

  test('is submitted with its reads, and stays unchanged at the approval', async () => {
    const made = await stage();
    const { id } = await made.putUp(async (tx) => {
      await tx.call('look', {});
      await tx.call(HELD, { what: 'held' });
    }, budget(20));
    expect((await made.trajectory.approvals.approve(id, doctor)).ruling).toBe('committed');
    await made.verified();
    expect(await left(made)).toBe(17);
  });

  test('of reads and calls is required once', async () => {
    const made = await stage();
    // 3 for the look, 5 for the charge, and 2 for each of two compensations.
    const { id } = await made.putUp(async (tx) => {
      await tx.call('look', {});
      await tx.call('charge', {});
    }, budget(12));
    expect((await made.trajectory.approvals.approve(id, doctor)).ruling).toBe('committed');
    await made.verified();
    expect(await left(made)).toBe(2);
  });
});
