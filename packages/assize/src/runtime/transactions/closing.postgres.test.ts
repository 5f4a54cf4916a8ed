import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import type { Delivery, Resolvers, Reversibility, Sink } from '#effects';
import type { Assize, RuntimeError, Transaction } from '#runtime';
import type { Store } from '#stores';
import { operatorWrit, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { onEveryStore } from '../../../../../tests/support/ledger/stores.ts';
import {
  type Outside,
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';
import { asking } from '../../../../../tests/support/tools/ledger-with-effects.ts';

// `close` leaves no active work that another process would repeat, or that no process would
// compensate.

const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;
const options = { writ: writFor('alice'), writes: ['test:**'] };

/** Each call waits until it is released, from the first one on. */
class Slow extends Steps {
  readonly #called = Promise.withResolvers<void>();
  readonly #goes = Promise.withResolvers<void>();
  readonly called = this.#called.promise;
  readonly go = this.#goes.resolve;

  override async step(): Promise<void> {
    this.#called.resolve();
    await this.#goes.promise;
  }
}

type Kind = readonly [Reversibility, Delivery];

const toolsOf = (outside: Outside, [reversibility, delivery]: Kind) => [
  toolFor(outside, reversibility, delivery),
];

/** Enough turns for every automatic step. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

async function settledOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => value,
    (error) => error.code,
  );
}

onEveryStore((stores) => {
  async function stage(sink: Sink, kind: Kind) {
    const place = stores.newPlace();
    const store: Store = await place.open();
    const steps = new Slow();
    const outside = { sink: new OutsideSink(sink), steps };
    const runtime = (tools = toolsOf(outside, kind)): Assize =>
      runtimeOver(store, [tally], { tools });
    const assize = runtime();
    const trajectory = await assize.create(tally, { trajectoryId: 't' });
    const transact = (what: string): Promise<unknown> =>
      trajectory.transaction({ ...options, name: what }, async (tx: Transaction) => {
        await tx.call(kind.join('.'), { what });
        tx.propose(COUNT);
      });
    return { store, steps, sink: outside.sink, assize, trajectory, transact, runtime };
  }

  describe.each<Sink>(['keyed', 'queryable', 'blind'])('with a %s sink', (sort) => {
    test('a call before the commit is awaited and compensated', async () => {
      const { store, steps, sink, assize, transact, runtime } = await stage(sort, [
        'reversible',
        'externalised',
      ]);
      const made = settledOf(transact('acted'));
      await steps.called;
      const waiting = settledOf(transact('waiting'));
      let isClosed = false;
      const closed = assize.close().then(() => (isClosed = true));
      await turns();
      expect([isClosed, sink.log]).toEqual([false, []]);
      steps.go();
      await closed;
      expect(sink.log.map(({ did, what }) => [did, what])).toEqual([
        ['do', 'acted'],
        ['undo', 'acted'],
      ]);
      expect(await Promise.all([made, waiting])).toEqual(['closed', 'closed']);
      expect(await store.openEffects()).toEqual([]);
      const before = sink.log.length;
      const next = runtime();
      expect(await next.recoverEffects()).toEqual([]);
      await turns();
      await next.close();
      expect(sink.log).toHaveLength(before);
    });

    test('a call after the commit is awaited and executed once', async () => {
      const { store, steps, sink, assize, transact, runtime } = await stage(sort, [
        'irreversible',
        'buffered',
      ]);
      const made = transact('for good');
      await steps.called;
      let isClosed = false;
      const closed = assize.close().then(() => (isClosed = true));
      await turns();
      expect(isClosed).toBe(false);
      steps.go();
      await closed;
      expect(await made).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
      expect(await store.openEffects()).toEqual([]);
      const next = runtime();
      expect(await next.recoverEffects()).toEqual([]);
      await next.close();
      expect(sink.log.map(({ did, what }) => [did, what])).toEqual([['do', 'for good']]);
    });
  });

  test.each<[Sink, Kind]>([
    ['keyed', ['irreversible', 'buffered']],
    ['blind', ['irreversible', 'buffered']],
    ['keyed', ['reversible', 'externalised']],
  ])('a hung call is cut after a limit, told, and in the log: %s, %j', async (sort, kind) => {
    const { store, steps, sink, assize, transact, runtime } = await stage(sort, kind);
    const made = settledOf(transact('hung'));
    await steps.called;
    const told: RuntimeError[] = [];
    const onCut = (error: RuntimeError): void => void told.push(error);
    await assize.close({ timeoutMs: 50, onCut });
    const cut = told[0]?.evidence['calls'] as { key: string }[];
    const [logged] = await assize.effects();
    expect(told[0]?.code).toBe('calls_cut');
    expect(cut).toEqual([{ epoch: 1, tool: kind.join('.'), key: logged?.effects[0]?.key }]);
    const outcome = await made;
    // A member of a group leaves without the answer of the store, so its caller may learn either.
    const isShared = 'joinEffects' in store && store.joinEffects !== undefined;
    if (sort !== 'blind' || (isShared && outcome === 'lease_lost'))
      expect(outcome).toBe('lease_lost');
    else expect(outcome).toMatchObject({ effects: 'needs_human' });
    await assize.close({ onCut });
    expect(told).toHaveLength(1);
    // The next process has the lease. A late answer changes nothing there.
    const next = runtime();
    const isBlind = sort === 'blind';
    const recovered = next.recoverEffects();
    await turns();
    steps.go();
    expect((await recovered).map(({ key }) => key)).toEqual(isBlind ? [cut[0]?.key] : []);
    await next.close();
    const times = sink.log.filter(({ did }) => did === 'do').length;
    expect(times).toBe(1);
    expect((await store.openEffects()).length).toBe(isBlind ? 1 : 0);
  });

  test('no transaction starts or continues after close', async () => {
    const { sink, assize, trajectory, transact } = await stage('keyed', ['reversible', 'buffered']);
    const { promise: never } = Promise.withResolvers<void>();
    const hanging = settledOf(trajectory.transaction(options, () => never));
    await turns();
    await assize.close();
    expect(await hanging).toBe('closed');
    expect(await settledOf(transact('late'))).toBe('closed');
    expect(sink.log).toEqual([]);
  });

  test('a body may close: it is not waited for', async () => {
    const { assize, trajectory } = await stage('keyed', ['reversible', 'buffered']);
    const closing = settledOf(trajectory.transaction(options, () => assize.close()));
    expect(await closing).toBe('closed');
  });

  test('a body may close in its first step; its later calls are not executed', async () => {
    const { store, steps, sink, assize, trajectory } = await stage('keyed', [
      'reversible',
      'externalised',
    ]);
    steps.go();
    // From here on a body starts without a wait.
    await trajectory.transaction(options, (tx) => tx.propose(COUNT));
    let closed: Promise<unknown> | undefined;
    const closing = settledOf(
      trajectory.transaction(options, async (tx) => {
        closed = assize.close();
        await tx.call('reversible.externalised', { what: 'late' }).catch(() => undefined);
        tx.propose(COUNT);
      }),
    );
    expect(await closing).toBe('closed');
    await closed;
    expect(sink.log).toEqual([]);
    expect(await store.openEffects()).toEqual([]);
  });

  test('a second close after a failed one closes the rest', async () => {
    const { store, steps, assize, transact } = await stage('keyed', ['reversible', 'externalised']);
    let fails = true;
    type Taken = { release(): Promise<void> };
    const failing = (take: (asked: never) => Promise<Taken>) => async (asked: never) => {
      const taken = await take(asked);
      const release = async (): Promise<void> => {
        await taken.release();
        if (fails) throw new Error('the line was dead');
      };
      return { ...taken, release };
    };
    const ports = store as unknown as Record<
      string,
      ((asked: never) => Promise<Taken>) | undefined
    >;
    for (const take of ['leaseEffects', 'joinEffects']) {
      const below = ports[take];
      if (below !== undefined) ports[take] = failing(below.bind(store));
    }
    steps.go();
    await transact('done');
    await expect(assize.close()).rejects.toThrow('the line was dead');
    fails = false;
    await assize.close();
  });

  test('a second close waits as long as the first', async () => {
    const { store, steps, assize, transact } = await stage('keyed', ['irreversible', 'buffered']);
    const made = transact('for good');
    await steps.called;
    const first = assize.close();
    let left: unknown;
    const second = assize.close().then(async () => (left = await store.openEffects()));
    await turns();
    steps.go();
    await second;
    expect(left).toEqual([]);
    await Promise.all([first, made]);
  });

  test('a decision requested before that has not started is not taken', async () => {
    const store: Store = await stores.newPlace().open();
    const sink = new OutsideSink('blind');
    let isDead = true;
    const fault = () => (isDead ? 'lose_before' : 'none');
    const tools = toolsOf({ sink, steps: new Steps(), fault }, ['irreversible', 'buffered']);
    const runtime = () => runtimeOver(store, [tally], { tools });
    const assize = runtime();
    const trajectory = await assize.create(tally, { trajectoryId: 't' });
    const { effects } = await trajectory.transaction(options, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'a' });
      tx.propose(COUNT);
    });
    expect(effects).toBe('needs_human');
    isDead = false;
    const decision = {
      epoch: 1,
      n: 0,
      as: 'retry',
      by: 'ops',
      writ: operatorWrit(),
      evidence: 'nothing came',
      confirm: true,
    } as const;
    const decided = settledOf(assize.resolveEffect(decision));
    await assize.close();
    expect(await decided).toBe('closed');
    await turns();
    expect(sink.log).toEqual([]);
    const next = runtime();
    expect(await next.resolveEffect(decision)).toMatchObject({
      phase: 'applied',
      transaction: 'settled',
    });
    await next.close();
    expect(sink.times('do', 'a')).toBe(1);
  });

  describe('an approval of an executed effect', () => {
    const doctor = { principal: 'doc', method: 'test', override: true } as const;
    const approvable = { action: 'count', role: 'counter', args: 'asked' } as const;

    async function waitingForApproval(resolvers: Resolvers = {}) {
      const store: Store = await stores.newPlace().open();
      const sink = new OutsideSink('keyed');
      let steps = new Steps();
      const outside: Outside = { sink, steps: { step: () => steps.step() } as Steps };
      const tools = toolsOf(outside, ['reversible', 'externalised']);
      const assize = runtimeOver(store, [asking], { tools, effects: { resolvers } });
      const trajectory = await assize.create(asking, { trajectoryId: 't' });
      const { ruling } = await trajectory.transaction(options, async (tx) => {
        await tx.call('reversible.externalised', { what: 'asked' });
        tx.propose(approvable);
      });
      if (ruling.ruling !== 'escalated') throw new Error(`it was ${ruling.ruling}`);
      const approve = (): Promise<unknown> =>
        settledOf(trajectory.approvals.approve(ruling.pending, doctor));
      const before = sink.log.length;
      const done = () => sink.log.slice(before).map(({ did }) => did);
      return { store, assize, trajectory, approve, done, goSlow: (slow: Steps) => (steps = slow) };
    }

    test('is waited for while it calls that again, and undone', async () => {
      const { store, assize, approve, done, goSlow } = await waitingForApproval();
      const slow = new Slow();
      goSlow(slow);
      const approved = approve();
      await slow.called;
      let isClosed = false;
      const closed = assize.close().then(() => (isClosed = true));
      await turns();
      expect([isClosed, done()]).toEqual([false, []]);
      slow.go();
      await closed;
      expect(await approved).toBe('closed');
      expect(done()).toEqual(['do', 'undo']);
      expect(await store.openEffects()).toEqual([]);
    });

    test('gets `closed`, even while it waits for a scope resolver', async () => {
      let asked: (() => void) | undefined;
      const test = (name: string): Promise<readonly string[]> | readonly string[] => {
        asked?.();
        return asked === undefined ? [name] : new Promise(() => undefined);
      };
      const { assize, approve, done } = await waitingForApproval({ test });
      const { promise: isAsked, resolve } = Promise.withResolvers<void>();
      asked = resolve;
      const approved = approve();
      await isAsked;
      await assize.close();
      expect([await approved, done()]).toEqual(['closed', []]);
    });

    test('does not continue when the transactions that it waited for end', async () => {
      const { store, assize, trajectory, approve, done } = await waitingForApproval();
      const { promise: never } = Promise.withResolvers<void>();
      const older = settledOf(trajectory.transaction(options, () => never));
      await turns();
      const approved = approve();
      await turns();
      await assize.close();
      expect(await Promise.all([older, approved])).toEqual(['closed', 'closed']);
      await turns();
      expect(done()).toEqual([]);
      expect(await store.openEffects()).toEqual([]);
      // No tool was called for it, so it may still be approved.
      expect((await store.entries('t')).map(({ kind }) => kind).at(-1)).not.toBe('commit');
    });
  });
});

test('repeated calls after close fail each time and do not starve other work', async () => {
  const outside = { sink: new OutsideSink('keyed'), steps: new Steps() };
  const tools = toolsOf(outside, ['irreversible', 'buffered']);
  const assize = runtimeOver(new MemoryStore(), [asking], { tools });
  const trajectory = await assize.create(asking, { trajectoryId: 't' });
  const { ruling } = await trajectory.transaction(options, async (tx) => {
    await tx.call('irreversible.buffered', { what: 'a' });
    tx.propose({ ...COUNT, args: 'asked' });
  });
  const { pending } = ruling as { pending: string };
  await assize.close();
  const decision = {
    epoch: 1,
    n: 0,
    as: 'retry',
    by: 'ops',
    writ: operatorWrit(),
    evidence: 'it is back',
  } as const;
  const asked: readonly (() => Promise<unknown>)[] = [
    () => trajectory.transaction(options, () => undefined),
    () => assize.recoverEffects(),
    () => assize.resolveEffect(decision),
    () =>
      trajectory.approvals.approve(pending, { principal: 'doc', method: 'test', override: true }),
  ];
  for (const ask of asked) {
    let isOthers = false;
    setImmediate(() => {
      isOthers = true;
    });
    let times = 0;
    for (; !isOthers && times < 1_000; times++) expect(await settledOf(ask())).toBe('closed');
    expect(times).toBeLessThan(1_000);
  }
});
