import { expect } from 'vitest';
import { attemptsOf, createOracle, fixedClock, type OracleStore, oracleKey } from '#oracle';

/**
 * Of 60 attempts at one question, by several concurrent askers, any store keeps the maximum number.
 */
export async function expectFewAttempts(store: OracleStore): Promise<void> {
  const question = { scope: { kind: 'memory', space: 's' }, request: { judge: 'r' } } as const;
  const call = () => {
    throw new RangeError('no');
  };
  // Equal failures at the same time are one attempt.
  const askers = Array.from({ length: 6 }, (_, n) =>
    createOracle({ store, clock: fixedClock(`2026-03-23T09:00:0${n}.000000Z`, 1), mode: 'record' }),
  );
  const tries = askers.map(async (asker) => {
    for (let n = 0; n < 10; n++)
      await expect(asker.ask({ ...question, call, keepAttempts: true })).rejects.toThrow(
        RangeError,
      );
  });
  await Promise.all(tries);
  expect(await attemptsOf(store, oracleKey(question))).toHaveLength(32);
}
