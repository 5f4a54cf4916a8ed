import { MemoryStore } from '@assize/testing/memory';
import { expect, test, vi } from 'vitest';
import { type Assize, type AssizeOptions, RuntimeError } from '#runtime';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  storeOf,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';

// If the store fails or is damaged, the failed recovery of a transaction is reported, and resumed
// when the store works again.

/**
 * A store with a transaction that was active on several scopes when its process ended, and a
 * counter of its reads.
 */
async function left(transactions: number) {
  const store = new MemoryStore();
  const sink = new OutsideSink('keyed');
  await runtimeOver(store, [tally]).create(tally, { trajectoryId: 't' });
  for (let n = 0; n < transactions; n++) await leave(store, sink, `r${n}`);
  expect(await store.openEffects()).toHaveLength(transactions);
  let blobOf: MemoryStore['blob'] = (hash) => store.blob(hash);
  const blob: MemoryStore['blob'] = (hash) => blobOf(hash);
  const read = new Proxy(store, {
    get(target, name) {
      const member: unknown = name === 'blob' ? blob : Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const runtime = (options: Partial<AssizeOptions>): Assize =>
    runtimeOver(read, [tally], {
      tools: [toolFor({ sink, steps: new Steps() }, 'reversible', 'externalised')],
      ...options,
    });
  const reads = (by: (hash: string) => Promise<string | undefined>): void => {
    blobOf = by;
  };
  return { store, runtime, reads };
}

async function leave(store: MemoryStore, sink: OutsideSink, at: string): Promise<void> {
  const before = (await store.openEffects()).length;
  // The process resumes no earlier work.
  const empty = new Proxy(store, {
    get(target, name) {
      const member: unknown = name === 'openEffects' ? async () => [] : Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  for (let endAt = 1; (await store.openEffects()).length === before; endAt++) {
    const steps = new Steps(endAt);
    const tool = toolFor({ sink, steps }, 'reversible', 'externalised');
    const trajectory = await runtimeOver(storeOf(empty, steps), [tally], { tools: [tool] }).open(
      't',
    );
    const made = trajectory.transaction(
      { writ: writFor('alice'), writes: [`test:${at}`] },
      async (tx) => {
        await tx.call('reversible.externalised', { what: at, at });
        throw new Error('not to be');
      },
    );
    await Promise.race([made.catch(() => undefined), steps.ended]);
  }
}

test('unreadable work is reported once per reason and resumed once readable', async () => {
  const { store, runtime, reads } = await left(3);
  const told: RuntimeError[] = [];
  const assize = runtime({ effects: { onRecoveryFailed: (error) => told.push(error) } });
  reads(() => Promise.reject(new Error('the disk is gone')));
  expect(await assize.recoverEffects()).toEqual([]);
  expect(await store.openEffects()).toHaveLength(3);
  expect(told.map(({ code, message }) => [code, message])).toEqual([
    [
      'background_failed',
      expect.stringMatching(/^Transaction \d+ could not be resumed.*: the disk is gone$/),
    ],
  ]);
  expect(told[0]!.evidence['epoch']).toBe((await store.openEffects())[0]!.epoch);
  await assize.recoverEffects();
  expect(told).toHaveLength(1);
  reads(() => Promise.reject(new Error('another one')));
  await assize.recoverEffects();
  expect(told.map(({ cause }) => (cause as Error).message)).toEqual([
    'the disk is gone',
    'another one',
  ]);
  reads((hash) => store.blob(hash));
  await assize.recoverEffects();
  await vi.waitFor(async () => expect(await store.openEffects()).toEqual([]), {
    interval: 1,
    timeout: 300_000,
  });
  await assize.close();
  expect(told).toHaveLength(2);
});

test('without a listener the process warns', async () => {
  const { runtime, reads } = await left(1);
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
  const assize = runtime({});
  reads(() => Promise.reject(new Error('the disk is gone')));
  await assize.recoverEffects();
  expect(await warned).toBeInstanceOf(RuntimeError);
  await assize.close();
});

test('a concurrent close reports nothing, as no work is to be resumed', async () => {
  const { runtime, reads } = await left(1);
  const told: RuntimeError[] = [];
  const assize = runtime({ effects: { onRecoveryFailed: (error) => told.push(error) } });
  const [isRead, isClosing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  reads(async () => {
    isRead.resolve();
    await isClosing.promise;
    throw new Error('too late');
  });
  const recovering = assize.recoverEffects().catch(() => undefined);
  await isRead.promise;
  const closed = assize.close();
  isClosing.resolve();
  await closed;
  await recovering;
  expect(told).toEqual([]);
});
