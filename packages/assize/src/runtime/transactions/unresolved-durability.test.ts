import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import type { Sink } from '#effects';
import type { EffectWrite } from '#ledger';
import type { RuntimeError } from '#runtime';
import { StoreError } from '#stores';
import { operatorWrit, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  type Fault,
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';

// The next owner reads an unresolved transaction back from the log. So all its records must be
// there by then, however slow the store is. Otherwise the last call would run again, and its
// outcome could not be written.

/** A store with slow effect writes. It refuses the first write that `refuses` matches. */
function slow(store: MemoryStore, refuses: (records: string) => boolean): MemoryStore {
  let isRefused = false;
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'logEffects') return member.bind(target);
      return async (...args: unknown[]) => {
        for (let turn = 0; turn < 20; turn++) await nextTurn();
        const { records = [] } = args[0] as EffectWrite;
        if (!isRefused && records.some(({ record }) => refuses(record))) {
          isRefused = true;
          throw new StoreError('store_locked', 'Someone held a lock.', { retryable: true });
        }
        return Reflect.apply(member, target, args);
      };
    },
  });
}

/** A store of a process with a lease that can be ended: the process then publishes nothing more. */
class Ending {
  readonly store: MemoryStore;
  end: () => Promise<void> = async () => undefined;

  constructor(store: MemoryStore) {
    this.store = new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (name !== 'leaseEffects')
          return typeof member === 'function' ? member.bind(target) : member;
        return async (signal?: AbortSignal) => {
          const tenure = await target.leaseEffects(signal);
          this.end = () => tenure.release();
          return tenure;
        };
      },
    });
  }
}

/** The calls that tools received, in order, and whether a recovery failure was reported. */
async function stage(
  sort: Sink,
  fault: (of: 'do' | 'undo' | 'ask', what: string) => Fault,
  refuses: (records: string) => boolean = () => false,
) {
  const sink = new OutsideSink(sort);
  const store = new MemoryStore();
  const calls: string[] = [];
  const outside = {
    sink,
    steps: new Steps(),
    fault: (of: 'do' | 'undo' | 'ask', what: string) => {
      // A query changes nothing.
      if (of !== 'ask') calls.push(`${of} ${what}`);
      return fault(of, what);
    },
  };
  const tools = [
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'reversible', 'buffered'),
  ];
  const failures: RuntimeError[] = [];
  const assize = runtimeOver(slow(store, refuses), [tally], {
    tools,
    effects: { onRecoveryFailed: (error) => failures.push(error) },
  });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  return { sink, calls, failures, assize, trajectory };
}

const options = { writ: writFor('alice'), writes: ['test:**'], retries: 0 };

describe.each<Sink>(['keyed', 'queryable', 'blind'])('with a %s sink', (sort) => {
  test('recovery right after a failed compensation repeats no compensation', async () => {
    const { sink, calls, failures, assize, trajectory } = await stage(sort, (of, what) =>
      of === 'undo' && what === 'second' ? 'fail_for_good' : 'none',
    );
    const made = trajectory.transaction(options, async (tx) => {
      await tx.call('reversible.externalised', { what: 'first' });
      await tx.call('reversible.externalised', { what: 'second' });
      throw new Error('no');
    });
    await expect(made).rejects.toThrow('no');
    const before = [...calls];
    expect(await assize.recoverEffects()).toMatchObject([{ n: 1, phase: 'unresolved' }]);
    expect([calls, failures]).toEqual([before, []]);
    expect([sink.standing('first'), sink.standing('second')]).toEqual([0, 1]);
    await assize.close();
  });

  test('a decision right after a failed effect repeats no other effect', async () => {
    let refuses = true;
    const { sink, calls, failures, assize, trajectory } = await stage(sort, (of, what) =>
      of === 'do' && what === 'first' && refuses ? 'fail_for_good' : 'none',
    );
    const { effects } = await trajectory.transaction(options, async (tx) => {
      await tx.call('reversible.buffered', { what: 'first' });
      await tx.call('reversible.buffered', { what: 'second' });
      tx.propose({ action: 'count', role: 'counter', args: 'order' });
    });
    expect(effects).toBe('needs_human');
    const before = [...calls];
    refuses = false;
    const by = { by: 'ops', writ: operatorWrit(), evidence: 'it is taken now' };
    expect(await assize.resolveEffect({ epoch: 1, n: 0, as: 'retry', ...by })).toMatchObject({
      unresolved: 0,
    });
    expect([calls, failures]).toEqual([[...before, 'do first'], []]);
    expect([sink.times('do', 'first'), sink.times('do', 'second')]).toEqual([1, 1]);
    await assize.close();
  });

  test('a failed outcome write is reported and blocks the scopes until written', async () => {
    const { sink, failures, assize, trajectory } = await stage(
      sort,
      (of, what) => (of === 'undo' && what === 'second' ? 'fail_for_good' : 'none'),
      (records) => records.includes('"undone"'),
    );
    const made = trajectory.transaction(options, async (tx) => {
      await tx.call('reversible.externalised', { what: 'first', at: 'r' });
      await tx.call('reversible.externalised', { what: 'second', at: 's' });
      throw new Error('no');
    });
    await expect(made).rejects.toMatchObject({ code: 'store_locked' });
    const next = () =>
      trajectory.transaction({ ...options, writes: ['test:r'] }, async (tx) => {
        await tx.call('reversible.externalised', { what: 'next', at: 'r' });
        tx.propose({ action: 'count', role: 'counter', args: 'next' });
      });
    await expect(next()).rejects.toMatchObject({ code: 'resource_in_doubt' });
    const left = await assize.recoverEffects();
    // Only a blind sink can neither repeat the call nor be queried.
    expect(left.map(({ n, phase }) => [n, phase])).toEqual([
      ...(sort === 'blind' ? [[0, 'in_doubt']] : []),
      [1, 'unresolved'],
    ]);
    if (sort !== 'blind') expect((await next()).effects).toBe('settled');
    expect([sink.standing('first'), sink.standing('second'), failures]).toEqual([0, 1, []]);
    await assize.close();
  });

  test('a failed write after a decision blocks them too, and the decision stands', async () => {
    let refuses = true;
    const { sink, failures, assize, trajectory } = await stage(
      sort,
      (of, what) => (of === 'do' && what !== 'other' && refuses ? 'fail_for_good' : 'none'),
      (records) => records.includes('"applied"') && !refuses,
    );
    await trajectory.transaction(options, async (tx) => {
      await tx.call('reversible.buffered', { what: 'first', at: 'r' });
      await tx.call('reversible.buffered', { what: 'second', at: 's' });
      tx.propose({ action: 'count', role: 'counter', args: 'order' });
    });
    refuses = false;
    const by = { by: 'ops', writ: operatorWrit(), evidence: 'it is taken now' };
    const decided = assize.resolveEffect({ epoch: 1, n: 0, as: 'retry', ...by });
    await expect(decided).rejects.toMatchObject({ code: 'store_locked' });
    const next = trajectory.transaction({ ...options, writes: ['test:r'] }, async (tx) => {
      await tx.call('reversible.externalised', { what: 'other', at: 'r' });
      tx.propose({ action: 'count', role: 'counter', args: 'next' });
    });
    await expect(next).rejects.toMatchObject({ code: 'resource_in_doubt' });
    const left = await assize.recoverEffects();
    expect(left.map(({ n, phase }) => [n, phase])).toEqual([
      ...(sort === 'blind' ? [[0, 'in_doubt']] : []),
      [1, 'unresolved'],
    ]);
    expect([sink.times('do', 'first'), sink.times('do', 'second'), failures]).toEqual([1, 0, []]);
    await assize.close();
  });

  test('a compensation is not repeated by a later process that has all tools', async () => {
    const store = new MemoryStore();
    const undone: string[] = [];
    const fault = (of: 'do' | 'undo' | 'ask', what: string): Fault => {
      if (of === 'undo') undone.push(what);
      return 'none';
    };
    const outside = { sink: new OutsideSink(sort), steps: new Steps(), fault };
    const [known, lacking] = [
      toolFor(outside, 'reversible', 'externalised'),
      toolFor(outside, 'with_cost', 'externalised'),
    ] as const;
    const ending = new Ending(store);
    const ended = await runtimeOver(ending.store, [tally], { tools: [known, lacking] }).create(
      tally,
      {
        trajectoryId: 't',
      },
    );
    const called = Promise.withResolvers<void>();
    const hanging = Promise.withResolvers<never>();
    const over = ended
      .transaction(options, async (tx) => {
        await tx.call(lacking.name, { what: 'first' });
        await tx.call(known.name, { what: 'second' });
        // Its answer is logged at the end of its turn.
        for (let turn = 0; turn < 5; turn++) await nextTurn();
        called.resolve();
        await hanging.promise;
      })
      .catch(({ code }) => code);
    await called.promise;
    await ending.end();
    await (await store.leaseEffects()).release();
    // With any outcome, the ended process can write nothing.
    hanging.reject(new Error('it has ended'));
    expect(await over).toBe('lease_lost');
    for (const tools of [[known], [known, lacking]]) {
      const next = runtimeOver(
        slow(store, () => false),
        [tally],
        { tools },
      );
      await next.recoverEffects();
      await next.close();
    }
    expect(undone).toEqual(['second', 'first']);
    expect(await store.openEffects()).toEqual([]);
  });
});
