import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test, vi } from 'vitest';
import { runtimeOver } from '../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';
import { asking } from '../../../../../tests/support/tools/ledger-with-effects.ts';

import { COUNT, codeOf, writ } from '../../../../../tests/support/tools/transaction-stage.ts';

/**
 * A store that loses its answer to one write of effects, and cannot be queried until it is
 * `mended`.
 */
function forgetful(memory: MemoryStore, did: boolean) {
  let state: 'sound' | 'broken' | 'mended' = 'sound';
  const store = new Proxy(memory, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name === 'commit')
        return async (batch: Parameters<MemoryStore['commit']>[0]) => {
          if (batch.effects === undefined || state === 'mended') return target.commit(batch);
          state = 'broken';
          if (did) await target.commit(batch);
          return { status: 'unknown', cause: new Error('the line went dead') };
        };
      if (name === 'resolve' && state === 'broken')
        return () => Promise.reject(new Error('the line is dead'));
      return member.bind(target);
    },
  });
  return {
    store,
    mended: () => {
      state = 'mended';
    },
  };
}

describe.each([true, false])('a store that can’t say whether it committed, and did: %s', (did) => {
  async function forgetfulStage(domain: typeof tally) {
    const memory = new MemoryStore();
    await runtimeOver(memory, [domain]).create(domain, { trajectoryId: 't' });
    const { store, mended } = forgetful(memory, did);
    const sink = new OutsideSink('keyed');
    const outside = { sink, steps: new Steps() };
    const tools = [
      toolFor(outside, 'reversible', 'externalised'),
      toolFor(outside, 'irreversible', 'buffered'),
    ];
    const assize = runtimeOver(store, [domain], { tools });
    return { assize, mended, sink, trajectory: await assize.open('t') };
  }

  test('effects are untouched until the log is reloaded, then finish or revert', async () => {
    const { assize, mended, sink, trajectory } = await forgetfulStage(tally);
    const made = trajectory.transaction({ writ, writes: ['test:**'], retries: 0 }, async (tx) => {
      await tx.call('reversible.externalised', { what: 'acted' });
      await tx.call('irreversible.buffered', { what: 'held' });
      tx.propose(COUNT);
    });
    expect(await codeOf(made)).toBe('commit_unknown');
    expect(sink.log.map(({ did: does, what }) => `${does} ${what}`)).toEqual(['do acted']);
    mended();
    expect(await assize.recoverEffects()).toEqual([]);
    expect([sink.standing('acted'), sink.standing('held')]).toEqual(did ? [1, 1] : [0, 0]);
    expect(sink.times('do', 'held')).toBe(did ? 1 : 0);
  });

  test('approved effects run once the log is reloaded, or are still pending', async () => {
    const { assize, mended, sink, trajectory } = await forgetfulStage(asking);
    const { ruling } = await trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'held' });
      tx.propose({ ...COUNT, args: 'asked' });
    });
    if (ruling.ruling !== 'escalated') throw new Error('it was not');
    const doctor = { principal: 'doc', method: 'test', override: true };
    expect(await codeOf(trajectory.approvals.approve(ruling.pending, doctor))).toBe(
      'commit_unknown',
    );
    expect(sink.log).toEqual([]);
    mended();
    expect(await assize.recoverEffects()).toEqual([]);
    expect(sink.times('do', 'held')).toBe(did ? 1 : 0);
    if (!did) await trajectory.approvals.approve(ruling.pending, doctor);
    expect(sink.times('do', 'held')).toBe(1);
  });
});

test.each([
  ['has the store to itself', false],
  ['works beside others', true],
])('a transaction behind an uncertain commit fails, where a runtime %s', async (_, shared) => {
  const memory = new MemoryStore({ shared });
  await runtimeOver(memory, [tally]).create(tally, { trajectoryId: 't' });
  const { store, mended } = forgetful(memory, true);
  const outside = { sink: new OutsideSink('keyed'), steps: new Steps() };
  const assize = runtimeOver(store, [tally], {
    tools: [toolFor(outside, 'reversible', 'buffered')],
  });
  const trajectory = await assize.open('t');
  const go = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const made = (name: string, before?: Promise<void>) =>
    trajectory.transaction({ writ, writes: ['test:**'], retries: 0, name }, async (tx) => {
      if (name === 'other') began.resolve();
      await before;
      await tx.call('reversible.buffered', { what: name });
      tx.propose(COUNT);
    });
  const first = codeOf(made('first', go.promise));
  // The same name waits before its body starts, and the other one before its ruling.
  const [same, other] = [codeOf(made('first')), codeOf(made('other'))];
  await began.promise;
  go.resolve();
  expect(await first).toBe('commit_unknown');
  mended();
  expect(await Promise.all([same, other])).toEqual(['lease_lost', 'lease_lost']);
  // Each caller repeats its transaction; the first one was committed.
  const again = await Promise.all([made('first'), made('other')]);
  expect(again.map(({ ruling }) => ruling.ruling)).toEqual(['committed', 'committed']);
  expect(['first', 'other'].map((what) => outside.sink.times('do', what))).toEqual([1, 1]);
  await assize.close();
});

/**
 * A process that stops before its second step: a tool has acted for the first time and has not
 * answered.
 */
class HeldUp extends Steps {
  readonly begun = Promise.withResolvers<void>();
  readonly go = Promise.withResolvers<void>();

  override async step(): Promise<void> {
    if (++this.count !== 2) return;
    this.begun.resolve();
    await this.go.promise;
  }
}

test.each([
  ['has the store to itself', false],
  ['works beside others', true],
])(
  'after an uncertain commit due calls are left to recovery if a runtime %s',
  async (_, shared) => {
    const memory = new MemoryStore({ shared });
    await runtimeOver(memory, [tally]).create(tally, { trajectoryId: 't' });
    const { store, mended } = forgetful(memory, true);
    const [sink, steps] = [new OutsideSink('queryable'), new HeldUp()];
    const tools = [toolFor({ sink, steps }, 'reversible', 'buffered')];
    // A commit that succeeds before the connection is lost.
    let isLost = false;
    const losing = new Proxy(memory, {
      get: (_, name) => {
        const member = Reflect.get(isLost ? store : memory, name);
        return typeof member === 'function' ? member.bind(isLost ? store : memory) : member;
      },
    });
    const assize = runtimeOver(losing, [tally], { tools });
    const trajectory = await assize.open('t');
    const made = (at: string, whats: readonly string[]) =>
      trajectory.transaction({ writ, writes: [`test:${at}`], retries: 0 }, async (tx) => {
        for (const what of whats) await tx.call('reversible.buffered', { what, at });
        tx.propose(COUNT);
      });
    const first = codeOf(made('here', ['a', 'b', 'c']));
    await steps.begun.promise;
    isLost = true;
    expect(await codeOf(made('there', ['d']))).toBe('commit_unknown');
    mended();
    // The log is reloaded, even if no caller asks for it.
    await vi.waitFor(async () => expect(await memory.openEffects()).toEqual([]), {
      timeout: 60_000,
    });
    // A process that held the store exclusively for the recovery has released it.
    if (!shared) await (await memory.leaseEffects(AbortSignal.timeout(30_000))).release();
    steps.go.resolve();
    const code = await first;
    expect(['a', 'b', 'c', 'd'].map((what) => sink.times('do', what))).toEqual([1, 1, 1, 1]);
    expect(code).toBe('lease_lost');
    await assize.close();
  },
);
