import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { oddErrors } from '../../../../tests/support/process/errors.ts';
import { fixedClock } from './clock.ts';
import { createOracle } from './oracle.ts';

const clock = fixedClock('2026-03-23T09:00:00.000000Z', 1);
const scope = { kind: 'memory', space: 's' } as const;

/** Questions by number, and the questions that the call of each asks. */
type Asks = readonly (readonly number[])[];

const SIZE = 6;
const asks = fc.array(fc.uniqueArray(fc.nat(SIZE - 1), { maxLength: 3 }), {
  minLength: SIZE,
  maxLength: SIZE,
});

/**
 * Waits for all, even if one has failed: otherwise the remaining calls would restart ended
 * questions.
 */
async function all(asked: readonly Promise<unknown>[]): Promise<void> {
  for (const each of await Promise.allSettled(asked))
    if (each.status === 'rejected') throw each.reason;
}

/** No answers, so that no caller waits for an endless question. */
async function turns(count: number): Promise<readonly never[]> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
  return [];
}

/** Whether a question leads to itself, or to another that does. */
function isEndless(of: Asks, from: number, above: readonly number[] = []): boolean {
  return above.includes(from) || of[from]!.some((next) => isEndless(of, next, [...above, from]));
}

test('a self-asking call gets an error, none hangs, all others are answered', async () => {
  const met = { endless: 0, others: 0 };
  const roots = fc.array(fc.nat(SIZE - 1), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(asks, roots, fc.boolean(), fc.nat(3), async (of, from, atOnce, later) => {
      const store = new MemoryStore();
      // The two share no call in flight, and their calls still wait for each other.
      const oracles = [0, 1].map(() => createOracle({ store, clock, mode: 'record' }));
      const ask = (n: number): Promise<unknown> => {
        const call = async () => {
          await nextTurn();
          if (atOnce) await all(of[n]!.map(ask));
          else for (const next of of[n]!) await ask(next);
          return n;
        };
        return oracles[n % 2]!.ask({ scope, request: n, call });
      };
      const begun = from.map(async (n, i) => {
        await turns(i * later);
        return ask(n).then(
          (answer) => ({ n, answer }),
          (error: { code: string }) => ({ n, code: error.code }),
        );
      });
      const ended = await Promise.race([Promise.all(begun), turns(1_000)]);
      expect(ended).toHaveLength(begun.length);
      for (const each of ended) {
        const endless = isEndless(of, each.n);
        expect(each).toEqual({ n: each.n, ...(endless ? { code: 'misuse' } : { answer: each.n }) });
        met[endless ? 'endless' : 'others']++;
      }
      // No trace remains: a question that asks no other is answered.
      for (let n = 0; n < SIZE; n++)
        expect(await oracles[n % 2]!.ask({ scope, request: n, call: () => n })).toBe(n);
    }),
    { numRuns: 300 },
  );
  expect(Math.min(met.endless, met.others)).toBeGreaterThan(50);
});

test('a question that its own call asks is refused by name', async () => {
  const oracle = createOracle({ store: new MemoryStore(), clock, mode: 'record' });
  const ask = (): Promise<unknown> => oracle.ask({ scope, request: 'round', call: ask as never });
  await expect(ask()).rejects.toMatchObject({
    code: 'misuse',
    message: expect.stringContaining('is asked by the call that answers it'),
  });
});

test('an answered question can be asked again by work that its call started', async () => {
  const oracle = createOracle({ store: new MemoryStore(), clock, mode: 'record' });
  const over = Promise.withResolvers<void>();
  let later: Promise<unknown> | undefined;
  const call = () => {
    later = over.promise.then(() => oracle.ask({ scope, request: 'a', call: () => 2 }));
    return 1;
  };
  expect(await oracle.ask({ scope, request: 'a', call })).toBe(1);
  over.resolve();
  expect(await later).toBe(1);
});

test.each(oddErrors())(
  'a call that throws an uninspectable value has failed: %s',
  async (_, odd) => {
    const oracle = createOracle({ store: new MemoryStore(), clock, mode: 'record' });
    const call = () => {
      throw odd;
    };
    const asked = oracle.ask({ scope, request: 'a', call, keepAttempts: true });
    await expect(asked).rejects.toMatchObject({ message: 'the thrown value cannot be read' });
    expect(await oracle.ask({ scope, request: 'a', call: () => 1 })).toBe(1);
  },
);
