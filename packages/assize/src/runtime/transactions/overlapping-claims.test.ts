import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';

import {
  COUNT,
  codeOf,
  stage,
  writ,
} from '../../../../../tests/support/tools/transaction-stage.ts';

describe('transactions that meet', () => {
  test('act in the order of their epochs, not of their gates; others do not wait', async () => {
    const { trajectory, sink, all } = await stage();
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const one = (what: string, at: string, gate: Promise<void>) =>
      trajectory.transaction({ ...all, writes: [`test:${at}`] }, async (tx) => {
        await tx.call('irreversible.buffered', { what, at });
        await gate;
        tx.propose(COUNT);
      });
    const first = one('first', 'r', gates[0]!.promise);
    const second = one('second', 'r', Promise.resolve());
    const other = one('other', 's', Promise.resolve());
    expect((await other).effects).toBe('settled');
    expect(sink.log.map(({ what }) => what)).toEqual(['other']);
    gates[0]!.resolve();
    await Promise.all([first, second]);
    expect(sink.log.map(({ what }) => what)).toEqual(['other', 'first', 'second']);
  });

  test('lose no update if each reads the value that it writes', async () => {
    const cell = { value: 0 };
    const get = declareTool({
      name: 'cell.get',
      input: z.strictObject({}),
      class: 'read',
      reads: ['cell:x'],
      execute: () => cell.value,
    });
    const set = declareTool({
      name: 'cell.set',
      input: z.strictObject({ to: z.int() }),
      class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
      writes: ['cell:x'],
      execute: ({ to }) => {
        cell.value = to;
      },
      uncompensated: 'a counter',
    });
    const { trajectory } = await stage({ tools: [get, set] });
    await Promise.all(
      Array.from({ length: 50 }, () =>
        trajectory.transaction({ writ, writes: ['cell:x'] }, async (tx) => {
          const value = (await tx.call('cell.get', {})) as number;
          await Promise.resolve();
          await tx.call('cell.set', { to: value + 1 });
          tx.propose(COUNT);
        }),
      ),
    );
    expect(cell.value).toBe(50);
  });

  test('a transaction that expands after a younger one acted restarts as stale', async () => {
    const { trajectory, sink, all } = await stage();
    const acted = Promise.withResolvers<void>();
    let epochs: number[] = [];
    const late = trajectory.transaction(
      { ...all, writes: ['test:mine'], retries: 1 },
      async (tx) => {
        epochs = [...epochs, tx.epoch];
        await acted.promise;
        await tx.expand({ writes: ['test:r'] });
        await tx.call('irreversible.buffered', { what: 'late' });
        tx.propose(COUNT);
      },
    );
    await trajectory.transaction({ ...all, writes: ['test:r'] }, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'young' });
      tx.propose(COUNT);
    });
    acted.resolve();
    expect((await late).ruling.ruling).toBe('committed');
    expect(epochs).toEqual([1, 3]);
    expect(sink.log.map(({ what }) => what)).toEqual(['young', 'late']);
  });

  test('of one name are done once, also at the same time', async () => {
    const { trajectory, sink, all } = await stage();
    const order = () =>
      trajectory.transaction({ ...all, name: 'order-1' }, async (tx) => {
        await tx.call('irreversible.buffered', { what: 'a' });
        tx.propose(COUNT);
      });
    const [one, two] = await Promise.all([order(), order()]);
    expect(one.ruling).toEqual(two.ruling);
    expect(sink.times('do', 'a')).toBe(1);
    expect(trajectory.state()).toEqual({ done: { order: 1 } });
  });

  test('of one name read each earlier attempt once, for any number of calls', async () => {
    const { trajectory, sink, store, all } = await stage();
    const read: number[] = [];
    const effectsOf = store.effectsOf.bind(store);
    store.effectsOf = (epoch) => {
      read.push(epoch);
      return effectsOf(epoch);
    };
    const order = (ends: 'throws' | 'commits') =>
      trajectory.transaction({ ...all, name: 'order-1' }, async (tx) => {
        for (const what of ['a', 'b', 'c']) await tx.call('reversible.externalised', { what });
        await tx.nested((part) => part.call('reversible.externalised', { what: 'd' }));
        if (ends === 'throws') throw new Error('not yet');
        tx.propose(COUNT);
      });
    for (const before of [[], [1], [1, 2]]) {
      expect(await codeOf(order('throws'))).toBe('not yet');
      expect(read.splice(0)).toEqual(before);
    }
    await order('commits');
    expect(read).toEqual([1, 2, 3]);
    for (const what of ['a', 'b', 'c', 'd']) expect([what, sink.standing(what)]).toEqual([what, 1]);
  });
});
