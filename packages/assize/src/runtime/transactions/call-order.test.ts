import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { addMicros } from '#canon';
import { declareTool, type Sink } from '#effects';
import type { Transaction } from '#runtime';
import {
  HandClock,
  runtimeOver,
  START,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../../tests/support/tools/effect-sink.ts';

// Calls that execute immediately run in order, even if host code that is asked about a call makes
// another one.

const SINKS: readonly Sink[] = ['keyed', 'queryable', 'blind'];

/**
 * The outer call of a body makes an inner one from its scope function, and a third call follows
 * both.
 */
async function stage(sink: Sink, asks: 'writes' | 'resolver') {
  const log: string[] = [];
  const done = new Set<string>();
  let calls: (() => void) | undefined;
  const inside = (at: string): void => {
    if (at !== 'outer') return;
    calls?.();
    calls = undefined;
  };
  const act = declareTool({
    name: 'act',
    input: z.strictObject({ at: z.string() }),
    class: { reversibility: 'reversible', delivery: 'externalised', sink },
    writes: ({ at }: { at: string }) => {
      if (asks === 'writes') inside(at);
      return [`test:${at}`];
    },
    execute: async ({ at }, { key }) => {
      log.push(`${at} begins`);
      // The inner call would outlast the outer one.
      for (let turn = 0; turn < (at === 'inner' ? 20 : 1); turn++) await nextTurn();
      done.add(key);
      log.push(`${at} ends`);
      return at;
    },
    compensate: async () => ({ undone: 'all' as const }),
    ...(sink === 'queryable'
      ? {
          reconcile: async (_: unknown, { key }: { key: string }) =>
            done.has(key)
              ? { happened: true as const, result: null }
              : { happened: false as const },
        }
      : {}),
  });
  const resolvers = {
    test: (name: string) => {
      if (asks === 'resolver') inside(name.slice(name.indexOf(':') + 1));
      return [name];
    },
  };
  const store = new MemoryStore();
  const assize = runtimeOver(store, [tally], {
    tools: [act],
    ...(asks === 'resolver' ? { effects: { resolvers } } : {}),
  });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const run = (isAwaited: boolean) =>
    trajectory.transaction(
      { writ: writFor('alice'), writes: ['test:**'], retries: 0 },
      async (tx: Transaction) => {
        let inner: Promise<unknown> | undefined;
        calls = () => {
          inner = tx.call('act', { at: 'inner' });
          inner.catch(() => undefined);
        };
        const outer = tx.call('act', { at: 'outer' });
        const answers = isAwaited
          ? [await outer, await tx.call('act', { at: 'third' }), await inner]
          : [await outer];
        tx.propose({ action: 'count', role: 'counter', args: 'order' });
        return answers;
      },
    );
  return { log, run, assize, store };
}

for (const asks of ['writes', 'resolver'] as const)
  test.each(SINKS)(
    `calls run in order, with a %s sink, if the ${asks} of one makes another`,
    async (sink) => {
      const { log, run, assize } = await stage(sink, asks);
      const { value, effects } = await run(true);
      await assize.close();
      expect(value).toEqual(['outer', 'third', 'inner']);
      expect(effects).toBe('settled');
      expect(log).toEqual(
        ['outer', 'inner', 'third'].flatMap((at) => [`${at} begins`, `${at} ends`]),
      );
    },
  );

test('the transaction end waits for that call, even if it is not awaited', async () => {
  const { log, run, assize, store } = await stage('keyed', 'writes');
  await expect(run(false)).rejects.toMatchObject({ reason: 'not_awaited' });
  const then = [...log];
  expect(await store.openEffects()).toEqual([]);
  await assize.close();
  expect(log).toEqual(then);
});

test('a staged read that is no longer authorised is released, and nothing else', async () => {
  const clock = new HandClock();
  const act = declareTool({
    name: 'act',
    input: z.strictObject({}),
    class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
    writes: ['test:act'],
    execute: async () => clock.forward(10_000),
    compensate: async () => ({ undone: 'all' as const }),
  });
  const look = declareTool({
    name: 'look',
    input: z.strictObject({}),
    class: 'read',
    reads: ['test:look'],
    readsStaged: { at: {}, part: {} },
    execute: () => 1,
  });
  const assize = runtimeOver(new MemoryStore(), [tally], { ports: { clock }, tools: [act, look] });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const writ = writFor('alice', { expires: addMicros(START, 5_000_000) });
  const scopes = { reads: ['test:look'], writes: ['test:act'] };
  const over = new Error('it is over');
  const body = async (tx: Transaction): Promise<void> => {
    const acted = tx.call('act', {});
    await expect(tx.call('look', {})).rejects.toMatchObject({ reason: 'not_authorised' });
    await acted;
    await expect(tx.release({ writes: ['test:act'] })).rejects.toMatchObject({
      reason: 'scope_exceeded',
    });
    await tx.release({ reads: ['test:look'] });
    throw over;
  };
  await expect(
    trajectory.transaction({ writ, ...scopes, retries: 0, deadlineMs: 5_000 }, body),
  ).rejects.toBe(over);
  await assize.close();
});
