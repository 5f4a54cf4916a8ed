import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '#canon';
import { openStore } from '#stores';
import { type Asking, attemptsOf, createOracle, fixedClock, oracleKey, type Question } from './index.ts';

const question: Question = { scope: { kind: 'memory', space: 's' }, request: { judge: 'r' }, theta: { seed: 1 } };
const key = oracleKey(question);
const AT = '2026-03-23T09:00:00.000000Z';

const begun = async () => {
  const store = await openStore('memory:');
  const oracleOf = () => createOracle({ store, clock: fixedClock(AT, 1), mode: 'record' });
  return { store, oracleOf, oracle: oracleOf() };
};
const isText = (answer: Json): void => {
  if (typeof answer !== 'string') throw new RangeError('a text is wanted');
};
const asked = (call: Asking['call']): Asking => ({ ...question, call, accept: isText, keepAttempts: true });

describe('attempts', () => {
  test('are kept in their order, and none of them is the answer', async () => {
    const { store, oracle } = await begun();
    const fail = () => {
      throw new Error('no connection');
    };
    await expect(oracle.ask(asked(fail))).rejects.toThrow('no connection');
    await expect(oracle.ask(asked(() => 7))).rejects.toThrow(RangeError);
    await expect(oracle.ask(asked(() => undefined as never))).rejects.toMatchObject({ code: 'bad_answer' });
    expect(await store.oracleGet(key)).toBeUndefined();
    expect(await oracle.ask(asked(() => 'yes'))).toBe('yes');
    expect(await attemptsOf(store, key)).toMatchObject([
      { outcome: 'failed', error: { message: 'no connection' } },
      { outcome: 'refused', answer: 7, error: { message: 'a text is wanted' } },
      { outcome: 'refused', error: { code: 'bad_answer' } },
    ]);
    // It has its answer, and is asked no more.
    expect(await oracle.ask(asked(fail))).toBe('yes');
    expect(await attemptsOf(store, key)).toHaveLength(3);
  });

  test('of two who answer at once have who was later', async () => {
    const { store, oracle, oracleOf } = await begun();
    const slow = asked(async () => {
      await oracleOf().ask(asked(() => 'first'));
      return 'second';
    });
    expect(await oracle.ask(slow)).toBe('first');
    expect(await attemptsOf(store, key)).toMatchObject([{ outcome: 'superseded', answer: 'second' }]);
  });

  test('of many at once are all kept', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 8 }), async (before, atOnce) => {
        const { store, oracle } = await begun();
        const refuse = (n: number, by = oracle) => by.ask(asked(() => n)).catch(() => undefined);
        for (let n = 0; n < before; n++) await refuse(n);
        const others = Array.from({ length: atOnce }, () =>
          createOracle({ store, clock: fixedClock(AT), mode: 'record' }),
        );
        await Promise.all(others.map((by, i) => refuse(before + i, by)));
        const kept = (await attemptsOf(store, key)).map(({ answer }) => answer as number);
        expect(kept.slice(0, before)).toEqual(Array.from({ length: before }, (_, n) => n));
        expect(kept.slice(before).sort((a, b) => a - b)).toEqual(Array.from({ length: atOnce }, (_, i) => before + i));
      }),
      { numRuns: 20 },
    );
  });

  test('are lost where nobody says otherwise, and a replay makes none', async () => {
    const { store, oracle } = await begun();
    await expect(oracle.ask({ ...question, call: () => 7, accept: isText })).rejects.toThrow(RangeError);
    const replay = createOracle({ store, clock: fixedClock(AT), mode: 'replay' });
    await expect(replay.ask(asked(() => 7))).rejects.toMatchObject({ code: 'oracle_miss' });
    expect(await attemptsOf(store, key)).toEqual([]);
  });

  test('that are none are found', async () => {
    const { store, oracle } = await begun();
    await expect(oracle.ask(asked(() => 7))).rejects.toThrow(RangeError);
    const spoilt = {
      ...store,
      oracleGet: async (at: string) => ({ key: at, answer: '[]', at: AT }),
      oraclePut: store.oraclePut,
    };
    await expect(attemptsOf(spoilt, key)).rejects.toMatchObject({ code: 'oracle_corrupt' });
  });
});
