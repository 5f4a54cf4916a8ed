import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import type { Transaction } from '#runtime';
import { runtimeOver, writFor } from '../../../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../../../tests/support/tools/effect-sink.ts';
import { InFlight } from './in-flight.ts';

/** A call that was made this long ago. */
function callOf(elapsedMs: number): { elapsedMs: number } {
  return { elapsedMs };
}

/** The turns of the event loop, from now on, in which they may start; 0 for immediately. */
async function turnsOf(
  inFlight: InFlight,
  count: number,
  each: (turn: number) => void = () => {},
): Promise<number[]> {
  let now = 0;
  const begun = Array.from({ length: count }, async () => {
    const turn = inFlight.waitTurn();
    if (turn === undefined) return 0;
    await turn;
    return now;
  });
  const all = Promise.all(begun);
  let isOver = false;
  void all.then(() => (isOver = true));
  for (; !isOver; await nextTurn()) each(now++);
  return all;
}

describe('waiting transactions start', () => {
  test('with nothing in flight, all do immediately', async () => {
    expect(await turnsOf(new InFlight(), 5)).toEqual([0, 0, 0, 0, 0]);
  });

  test('one per event loop turn, in request order, while answers are due', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 20 }),
        async (calls, count) => {
          const inFlight = new InFlight();
          for (let i = 0; i < calls; i++) inFlight.started(callOf(i % 10), []);
          const turns = await turnsOf(inFlight, count);
          expect(turns).toEqual(Array.from({ length: count }, (_, i) => turns[0]! + i));
        },
      ),
    );
  });

  test('all once the last call has answered, and later ones do not overtake them', async () => {
    const inFlight = new InFlight();
    const calls = [callOf(0), callOf(0)];
    for (const call of calls) inFlight.started(call, []);
    const order: number[] = [];
    const begin = async (n: number): Promise<void> => {
      await inFlight.waitTurn();
      order.push(n);
    };
    const begun = [0, 1, 2, 3].map(begin);
    inFlight.ended(calls[0]!);
    await begun[0];
    expect(order).toEqual([0]);
    inFlight.ended(calls[1]!);
    // No call is in flight, but others wait.
    begun.push(begin(4));
    await Promise.all(begun);
    expect(order).toEqual([0, 1, 2, 3, 4]);
    expect(inFlight.waitTurn()).toBeUndefined();
  });

  test('an answer that has been missing for long is not waited for', async () => {
    const inFlight = new InFlight();
    const call = callOf(0);
    inFlight.started(callOf(10), []);
    expect(inFlight.waitTurn()).toBeUndefined();
    inFlight.started(call, []);
    expect(inFlight.waitTurn()).toBeInstanceOf(Promise);
    call.elapsedMs = 10;
    await nextTurn();
    expect(inFlight.waitTurn()).toBeUndefined();
    // Its answer arrives after all.
    inFlight.ended(call);
    expect(inFlight.waitTurn()).toBeUndefined();
  });
});

test('an answered transaction continues before all new ones have started', async () => {
  // Independent of the machine's speed.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  const log: string[] = [];
  const called = Promise.withResolvers<void>();
  const tool = declareTool({
    name: 'act',
    input: z.strictObject({}),
    class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
    writes: ['test:act'],
    execute: async () => {
      called.resolve();
      for (let turn = 0; turn < 3; turn++) await nextTurn();
    },
    compensate: () => ({ undone: 'all' }),
  });
  const writ = writFor('agent');
  const assize = runtimeOver(new MemoryStore(), [tally], { tools: [tool] });
  const trajectory = await assize.create(tally, { trajectoryId: 't', writs: [writ] });
  const transact = (name: string, body: (tx: Transaction) => Promise<unknown>): Promise<unknown> =>
    trajectory.transaction({ writ, writes: [`test:${name}`] }, async (tx) => {
      await body(tx);
      tx.propose({ action: 'count', role: 'counter', args: name });
    });
  const acting = transact('act', async (tx) => {
    await tx.call('act', {});
    log.push('answered');
  });
  await called.promise;
  const others = Array.from({ length: 20 }, (_, i) => `other${i}`);
  await Promise.all([acting, ...others.map((name) => transact(name, async () => log.push(name)))]);
  expect(log.filter((line) => line !== 'answered')).toEqual(others);
  expect(log.indexOf('answered')).toBeLessThan(10);
  await assize.close();
});
