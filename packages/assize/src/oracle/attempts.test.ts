import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { canonicalize, contentHash } from '#canon';
import { openStore } from '#stores';
import { expectFewAttempts } from '../../../../tests/support/ledger/oracle-attempts.ts';
import { ATTEMPTS_KEPT } from './attempts.ts';
import {
  attemptsOf,
  createOracle,
  fixedClock,
  listingKeyOf,
  type OracleCall,
  OracleError,
  oracleKey,
  type Question,
} from './index.ts';

const question: Question = {
  scope: { kind: 'memory', space: 's' },
  request: { judge: 'r' },
  theta: { seed: 1 },
};
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
const asked = (call: OracleCall['call']): OracleCall => ({
  ...question,
  call,
  accept: isText,
  keepAttempts: true,
});

describe('attempts', () => {
  test('are kept in their order, and none of them is the answer', async () => {
    const { store, oracle } = await begun();
    const fail = () => {
      throw new Error('no connection');
    };
    await expect(oracle.ask(asked(fail))).rejects.toThrow('no connection');
    await expect(oracle.ask(asked(() => 7))).rejects.toThrow(RangeError);
    await expect(oracle.ask(asked(() => undefined as never))).rejects.toMatchObject({
      code: 'bad_answer',
    });
    expect(await store.oracleGet(key)).toBeUndefined();
    expect(await oracle.ask(asked(() => 'yes'))).toBe('yes');
    expect(await attemptsOf(store, key)).toMatchObject([
      { outcome: 'failed', error: { length: 'no connection'.length } },
      { outcome: 'refused', length: 1, error: { length: 'a text is wanted'.length } },
      { outcome: 'refused', error: { code: 'bad_answer' } },
    ]);
    // The question has its answer, so `call` does not run again.
    expect(await oracle.ask(asked(fail))).toBe('yes');
    expect(await attemptsOf(store, key)).toHaveLength(3);
  });

  test('of two concurrent answers include the later one', async () => {
    const { store, oracle, oracleOf } = await begun();
    const slow = asked(async () => {
      await oracleOf().ask(asked(() => 'first'));
      return 'second';
    });
    expect(await oracle.ask(slow)).toBe('first');
    expect(await attemptsOf(store, key)).toMatchObject([
      { outcome: 'superseded', answer: 'second' },
    ]);
  });

  test('of concurrent calls are kept up to the limit of one question', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 1, max: 8 }),
        async (before, atOnce) => {
          const { store, oracle } = await begun();
          // Distinguished by their length.
          const refuse = (n: number, by = oracle) =>
            by.ask(asked(() => Array(n + 1).fill(0))).catch(() => undefined);
          for (let n = 0; n < before; n++) await refuse(n);
          const others = Array.from({ length: atOnce }, () =>
            createOracle({ store, clock: fixedClock(AT), mode: 'record' }),
          );
          await Promise.all(others.map((by, i) => refuse(before + i, by)));
          const kept = (await attemptsOf(store, key)).map(({ length = 0 }) => (length - 3) / 2);
          const isThere = Math.min(before, ATTEMPTS_KEPT);
          expect(kept.slice(0, isThere)).toEqual(Array.from({ length: isThere }, (_, n) => n));
          expect(kept).toHaveLength(Math.min(before + atOnce, ATTEMPTS_KEPT));
          const rest = kept.slice(isThere);
          expect(
            rest.every((n) => n >= before && n < before + atOnce) &&
              new Set(rest).size === rest.length,
          ).toBe(true);
        },
      ),
      { numRuns: 20 },
    );
  });

  test.each(['memory', 'sqlite'])('are so many on %s, and no more', async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'assize-attempts-'));
    const store = await openStore(kind === 'memory' ? 'memory:' : `sqlite:${join(folder, 's.db')}`);
    await expectFewAttempts(store);
    await store.close();
    rmSync(folder, { recursive: true });
  });

  test('hold no text of errors or answers; older records are read unchanged', async () => {
    const { store, oracle } = await begun();
    const secret = 'Zelda has the flu';
    const said: (() => Json)[] = [
      () => {
        throw new Error(secret);
      },
      () => {
        throw new OracleError(secret as never, secret);
      },
      () => {
        throw secret;
      },
      () => ({ [secret]: secret }),
    ];
    for (const call of said) await oracle.ask(asked(call)).catch(() => undefined);
    const rows = await store.oracleWithin!(listingKeyOf(question.scope), { limit: 100 });
    expect(rows).toHaveLength(said.length);
    expect(JSON.stringify(rows)).not.toContain('Zelda');
    const before = { outcome: 'failed', error: { message: 'no connection' } };
    const at = contentHash({ attempt: said.length, of: key });
    await store.oraclePut({ key: at, answer: canonicalize(before), at: AT });
    expect((await attemptsOf(store, key)).at(-1)).toEqual({ ...before, at: AT });
  });

  test('are not kept by default, and a replay makes none', async () => {
    const { store, oracle } = await begun();
    await expect(oracle.ask({ ...question, call: () => 7, accept: isText })).rejects.toThrow(
      RangeError,
    );
    const replay = createOracle({ store, clock: fixedClock(AT), mode: 'replay' });
    await expect(replay.ask(asked(() => 7))).rejects.toMatchObject({ code: 'oracle_miss' });
    expect(await attemptsOf(store, key)).toEqual([]);
  });

  test('of another form are found', async () => {
    const { store, oracle } = await begun();
    await expect(oracle.ask(asked(() => 7))).rejects.toThrow(RangeError);
    const spoilt = {
      ...store,
      oracleGet: async (at: string) => ({ key: at, answer: '[]', at: AT }),
      oraclePut: store.oraclePut,
    };
    await expect(attemptsOf(spoilt, key)).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringMatching(/Restore the store from a backup|The recorded answer is not/),
    });
  });
});
