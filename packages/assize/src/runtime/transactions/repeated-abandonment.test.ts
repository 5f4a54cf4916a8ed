import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test, vi } from 'vitest';
import { DidNothing } from '#effects';
import type { Assize, AssizeOptions, RuntimePorts } from '#runtime';
import { operatorWrit, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  type Fault,
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';
import { orders } from '../../../../../tests/support/tools/orders.ts';

// A process that must stop during the recovery of abandoned transactions abandons them again
// immediately, like after a crash.

const SETTLED = { interval: 1, timeout: 300_000 };

/**
 * A store with committed transactions of two calls each. The process that had to make the calls has
 * ended.
 */
async function left(transactions: number, store: MemoryStore = new MemoryStore(), domain = tally) {
  const sink = new OutsideSink('keyed');
  await runtimeOver(store, [domain]).create(domain, { trajectoryId: 't' });
  if (transactions > 0) await leave(store, transactions);
  expect(await store.openEffects()).toHaveLength(transactions);
  const runtime = (
    fault: (what: string) => Fault,
    options: Partial<AssizeOptions> = {},
    gate?: Promise<void>,
  ): Assize => {
    const outside = { sink, steps: new Steps(), fault: (_: string, what: string) => fault(what) };
    const tool = toolFor(outside, 'irreversible', 'buffered');
    const { spec } = tool;
    const execute: typeof spec.execute = async (...given) => {
      const answer = await spec.execute(...given);
      await gate;
      return answer;
    };
    const tools = [Object.create(tool, { spec: { value: { ...spec, execute } } })];
    return runtimeOver(store, [domain], { tools, ...options });
  };
  /** The next owner makes each remaining call once. */
  const endsWithNext = async (): Promise<void> => {
    const next = runtime(() => 'none');
    expect(await next.recoverEffects()).toEqual([]);
    await next.close();
    expect(await store.openEffects()).toEqual([]);
    for (let n = 0; n < transactions; n++)
      expect([sink.times('do', `a${n}`), sink.times('do', `b${n}`)]).toEqual([1, 1]);
  };
  return { store, sink, runtime, endsWithNext };
}

/** Ends a process before its calls reach the sink; none of them is in flight when this returns. */
async function leave(store: MemoryStore, transactions: number): Promise<void> {
  let end = async (): Promise<void> => undefined;
  const held = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'leaseEffects' && name !== 'joinEffects') return member.bind(target);
      return async (...given: unknown[]) => {
        const place = await Reflect.apply(member, target, given);
        end = () => place.release();
        return place;
      };
    },
  });
  const tool = toolFor(
    { sink: new OutsideSink('keyed'), steps: new Steps() },
    'irreversible',
    'buffered',
  );
  const { promise: areAllCalled, resolve: allCalled } = Promise.withResolvers<void>();
  const { promise: hanging, reject: giveUp } = Promise.withResolvers<never>();
  let called = 0;
  const execute = (): Promise<never> => {
    if (++called === transactions) allCalled();
    return hanging;
  };
  const tools = [Object.create(tool, { spec: { value: { ...tool.spec, execute } } })];
  const trajectory = await runtimeOver(held, [tally], { tools }).open('t');
  const made = Array.from({ length: transactions }, (_, n) =>
    trajectory.transaction({ writ: writFor('alice'), writes: [`test:${n}`] }, async (tx) => {
      await tx.call('irreversible.buffered', { what: `a${n}`, at: `${n}` });
      await tx.call('irreversible.buffered', { what: `b${n}`, at: `${n}` });
      tx.propose({ action: 'count', role: 'counter', args: `${n}` });
    }),
  );
  const over = Promise.allSettled(made);
  await areAllCalled;
  await end();
  await (await store.leaseEffects()).release();
  // With any outcome, the ended process can write nothing.
  giveUp(new DidNothing('it has ended', { final: true }));
  const lost = { status: 'rejected', reason: { code: 'lease_lost' } };
  expect(await over).toMatchObject(made.map(() => lost));
}

describe('close with recover: false', () => {
  test('waits for calls that are made, and makes none after them', async () => {
    const { store, sink, runtime, endsWithNext } = await left(3);
    const { promise: gate, resolve: answer } = Promise.withResolvers<void>();
    const assize = runtime(() => 'none', {}, gate);
    const recovering = assize.recoverEffects().catch((error: unknown) => error);
    await vi.waitFor(() => expect(sink.log).toHaveLength(3), SETTLED);
    const closing = assize.close({ recover: false });
    answer();
    await closing;
    expect(await recovering).toMatchObject({ code: 'closed' });
    expect(sink.log.map(({ did, what }) => [did, what])).toEqual(
      ['a0', 'a1', 'a2'].map((what) => ['do', what]),
    );
    expect(await store.openEffects()).toHaveLength(3);
    await endsWithNext();
    // Their answers were recorded.
    expect(sink.log.filter(({ did }) => did === 'again')).toEqual([]);
  });

  test('takes up nothing more', async () => {
    const { store, sink, runtime, endsWithNext } = await left(2);
    const assize = runtime(() => 'none');
    const recovering = assize.recoverEffects().catch((error: unknown) => error);
    await assize.close({ recover: false });
    expect(await recovering).toMatchObject({ code: 'closed' });
    expect(sink.log).toEqual([]);
    expect(await store.openEffects()).toHaveLength(2);
    await endsWithNext();
  });

  test('waits for no other try', async () => {
    const { sink, runtime, endsWithNext } = await left(1);
    const waits = Promise.withResolvers<void>();
    const pause: RuntimePorts['pause'] = (_, __, signal) =>
      new Promise((resolve) => {
        waits.resolve();
        signal?.addEventListener('abort', () => resolve());
      });
    let tries = 0;
    const refuses = (): Fault => {
      tries++;
      return 'fail';
    };
    const assize = runtime(refuses, { ports: { pause } });
    const recovering = assize.recoverEffects().catch((error: unknown) => error);
    await waits.promise;
    await assize.close({ recover: false });
    expect(await recovering).toMatchObject({ code: 'closed' });
    expect([tries, sink.log]).toEqual([1, []]);
    await endsWithNext();
  });

  test('takes no decision down that was not yet', async () => {
    const { store, runtime, sink } = await left(1);
    const doubting = runtime(() => 'fail_for_good');
    const [waiting] = await doubting.recoverEffects();
    expect(waiting).toMatchObject({ n: 0, phase: 'in_doubt' });
    await doubting.close();
    const before = await store.effectsOf(1);
    const assize = runtime(() => 'none');
    const decided = assize
      .resolveEffect({
        epoch: waiting!.epoch,
        n: 0,
        as: 'retry',
        by: 'ops',
        writ: operatorWrit(),
        evidence: 'they are back',
      })
      .catch((error: unknown) => error);
    await assize.close({ recover: false });
    expect(await decided).toMatchObject({ code: 'closed' });
    expect(await store.effectsOf(1)).toEqual(before);
    expect(sink.log).toEqual([]);
  });

  test('effects committed by this process finish before it returns', async () => {
    const { sink, runtime } = await left(0);
    const { promise: gate, resolve: answer } = Promise.withResolvers<void>();
    const assize = runtime(() => 'none', {}, gate);
    const trajectory = await assize.open('t');
    const made = trajectory.transaction(
      { writ: writFor('alice'), writes: ['test:r'] },
      async (tx) => {
        await tx.call('irreversible.buffered', { what: 'a' });
        await tx.call('irreversible.buffered', { what: 'b' });
        tx.propose({ action: 'count', role: 'counter', args: 'r' });
      },
    );
    await vi.waitFor(() => expect(sink.log).toHaveLength(1), SETTLED);
    const closing = assize.close({ recover: false });
    answer();
    await closing;
    expect((await made).effects).toBe('settled');
    expect(sink.log.map(({ what }) => what)).toEqual(['a', 'b']);
  });

  test('approved effects are committed and left, without waiting for a retry', async () => {
    const { store, sink, runtime } = await left(0, new MemoryStore(), orders);
    const waits = Promise.withResolvers<void>();
    const pause: RuntimePorts['pause'] = (_, __, signal) =>
      new Promise((resolve) => {
        waits.resolve();
        signal?.addEventListener('abort', () => resolve());
      });
    const assize = runtime(() => 'fail', { ports: { pause } });
    const trajectory = await assize.open('t');
    const { ruling } = await trajectory.transaction(
      { writ: writFor('alice'), writes: ['test:0'] },
      async (tx) => {
        await tx.call('irreversible.buffered', { what: 'a', at: '0' });
        tx.propose({ action: 'count', role: 'counter', args: 'asked' });
      },
    );
    const approved = trajectory.approvals.approve((ruling as { pending: string }).pending, {
      principal: 'boss',
      method: 'test',
      override: true,
    });
    await waits.promise;
    await assize.close({ recover: false });
    expect((await approved).ruling).toBe('committed');
    expect(sink.log).toEqual([]);
    expect(await store.openEffects()).toHaveLength(1);
    const next = runtime(() => 'none');
    expect(await next.recoverEffects()).toEqual([]);
    await next.close();
    expect(sink.times('do', 'a')).toBe(1);
  });

  test('in shared mode others adopt the rest; waiters see no unresolved effect', async () => {
    const { sink, runtime, endsWithNext } = await left(1, new MemoryStore({ shared: true }));
    const { promise: gate, resolve: answer } = Promise.withResolvers<void>();
    const leaving = runtime(() => 'none', {}, gate);
    leaving.recoverEffects().catch(() => undefined);
    await vi.waitFor(() => expect(sink.log).toHaveLength(1), SETTLED);
    const beside = runtime(() => 'none');
    const begun = Promise.withResolvers<void>();
    const trajectory = await beside.open('t');
    const made = trajectory.transaction(
      { writ: writFor('alice'), writes: ['test:0'], retries: 0 },
      async (tx) => {
        begun.resolve();
        await tx.call('irreversible.buffered', { what: 'theirs', at: '0' });
        tx.propose({ action: 'count', role: 'counter', args: 'theirs' });
      },
    );
    await begun.promise;
    const closing = leaving.close({ recover: false });
    answer();
    await closing;
    expect((await made).effects).toBe('settled');
    await beside.close();
    await endsWithNext();
  });
});
