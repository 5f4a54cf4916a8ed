import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '#stores';
import { runtimeOver } from '../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';
import { COUNT, writ } from '../../../../../tests/support/tools/transaction-stage.ts';

// Two runtimes with tools on one store that only one of them may use at a time.

const folder = mkdtempSync(join(tmpdir(), 'assize-runtimes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let stores = 0;

/** Two runtimes, each with a trajectory, and a transaction on each. */
async function stage(kind: 'memory' | 'sqlite') {
  const sink = new OutsideSink('blind');
  const outside = { sink, steps: new Steps() };
  const memory = new MemoryStore();
  const url = `sqlite:${join(folder, `${stores++}.db`)}`;
  const opened = async (trajectoryId: string) => {
    const store = kind === 'memory' ? memory : await openStore(url);
    const tools = [toolFor(outside, 'reversible', 'buffered')];
    const assize = runtimeOver(store, [tally], { tools });
    const trajectory = await assize.create(tally, { trajectoryId });
    const act = async (what: string, body: () => unknown = () => undefined, more: object = {}) => {
      const given = { writ, writes: [`test:${what}`], retries: 0, ...more };
      const { effects } = await trajectory.transaction(given, async (tx) => {
        await tx.call('reversible.buffered', { what, at: what });
        await body();
        tx.propose(COUNT);
      });
      return effects;
    };
    onTestFinished(async () => {
      await assize.close();
      if (kind === 'sqlite') await store.close();
    });
    return { store, assize, act };
  };
  return { sink, left: await opened('left'), right: await opened('right') };
}

describe.each(['memory', 'sqlite'] as const)('two runtimes on one store (%s)', (kind) => {
  test('take turns while both stay open', async () => {
    const { left, right, sink } = await stage(kind);
    for (const [one, what] of [
      [left, 'a'],
      [right, 'b'],
      [left, 'c'],
      [right, 'd'],
    ] as const)
      expect(await one.act(what)).toBe('settled');
    expect(['a', 'b', 'c', 'd'].map((what) => sink.standing(what))).toEqual([1, 1, 1, 1]);
    expect(await left.store.openEffects!()).toEqual([]);
  });

  test('both finish when both have work all the time', async () => {
    const { left, right } = await stage(kind);
    const work = async ({ act }: typeof left, name: string) => {
      const all: string[] = [];
      for (let n = 0; n < 20; n++) all.push(await act(`${name}${n}`, () => sleep(5)));
      return all;
    };
    expect(await Promise.all([work(left, 'l'), work(right, 'r')])).toEqual(
      Array(2).fill(Array(20).fill('settled')),
    );
  });

  test('a body may run another transaction while the other runtime waits', async () => {
    const { left, right } = await stage(kind);
    const waits = right.act('b');
    const begun = Promise.withResolvers<void>();
    const nested = left.act('a', async () => {
      begun.resolve();
      await sleep(150);
      expect(await left.act('c')).toBe('settled');
    });
    await begun.promise;
    expect(await Promise.all([nested, waits, right.act('d')])).toEqual([
      'settled',
      'settled',
      'settled',
    ]);
  });

  test('the deadline of a waiting transaction names the other runtime', async () => {
    const { left, right } = await stage(kind);
    const free = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const busy = left.act('a', () => {
      begun.resolve();
      return free.promise;
    });
    await begun.promise;
    const refused = await right
      .act('b', () => undefined, { deadlineMs: 100 })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'deadline',
      message: expect.stringContaining('Another runtime runs the effects'),
    });
    expect((refused as Error).message).toContain('Nothing was done');
    free.resolve();
    expect(await busy).toBe('settled');
    expect(await right.act('b')).toBe('settled');
  });

  test('one closes while the other waits', async () => {
    const { left, right } = await stage(kind);
    await left.act('a');
    const waits = right.act('b');
    await left.assize.close();
    expect(await waits).toBe('settled');
  });
});
