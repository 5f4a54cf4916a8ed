import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { canonicalize, hashText } from '#canon';
import { fixedClock } from './clock.ts';
import { createOracle, type Oracle } from './oracle.ts';
import { type CallScope, type OracleScope, oracleKey } from './question.ts';
import { seededRandom } from './random.ts';
import { callSequence, oracleClock, oracleRandom } from './recorded.ts';
import type { OracleRow, OracleStore } from './store.ts';

const clock = fixedClock('2026-03-23T09:00:00.000000Z', 1);
const scope: CallScope = { kind: 'call', trajectory: 't', branch: null, agent: 'a', ordinal: 0 };
const judge: OracleScope = { kind: 'memory', space: 's' };

/** Rows in a map. `delay` gives every other task a turn, as a disk would. */
class MapStore implements OracleStore {
  readonly rows = new Map<string, OracleRow>();
  readonly log: string[] = [];
  delay: () => Promise<void> = async () => {};

  async oracleGet(key: string): Promise<OracleRow | undefined> {
    this.log.push('get');
    await this.delay();
    return this.rows.get(key);
  }

  async oraclePut(row: OracleRow): Promise<OracleRow> {
    this.log.push('put');
    await this.delay();
    const first = this.rows.get(row.key) ?? row;
    this.rows.set(row.key, first);
    return first;
  }
}

function recording(store: OracleStore): Oracle {
  return createOracle({ store, clock, mode: 'record' });
}

function replaying(store: OracleStore): Oracle {
  const broken = {
    now: () => {
      throw new Error('a replay reads no clock');
    },
  };
  return createOracle({ store, clock: broken, mode: 'replay' });
}

const never = (): Json => {
  throw new Error('a replay calls nothing');
};

describe('ask', () => {
  test('calls once, records the canonical answer by key, then reads the log', async () => {
    const store = new MapStore();
    const oracle = recording(store);
    let calls = 0;
    const question = { scope, request: { ask: 'model' }, theta: { prompt: 'hi' } };
    const asking = { ...question, call: () => ({ z: ++calls, a: [-0] }) };
    expect(await oracle.ask(asking)).toEqual({ z: 1, a: [0] });
    expect(await oracle.ask(asking)).toEqual({ z: 1, a: [0] });
    const key = oracleKey(question);
    expect([...store.rows.values()]).toEqual([
      { key, answer: '{"a":[0],"z":1}', at: expect.stringMatching(/Z$/) },
    ]);
    expect(await oracle.consult(asking)).toEqual({
      value: { z: 1, a: [0] },
      oracle_key: key,
      hash: hashText('{"a":[0],"z":1}'),
    });
  });

  test('the answer is in the store before it is returned', async () => {
    const store = new MapStore();
    const oracle = recording(store);
    const seen: number[] = [];
    const call = () => {
      seen.push(store.rows.size);
      return 'x';
    };
    await oracle.ask({ scope, request: 1, call });
    seen.push(store.rows.size);
    expect(seen).toEqual([0, 1]);
    expect(store.log).toEqual(['get', 'put']);
  });

  test('of 50 concurrent requests one calls, and each gets its own copy', async () => {
    const store = new MapStore();
    store.delay = () => new Promise((resolve) => setImmediate(resolve));
    const oracle = recording(store);
    let calls = 0;
    const call = async () => {
      await store.delay();
      return { n: ++calls };
    };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => oracle.ask({ scope: judge, request: 'same?', call })),
    );
    expect(calls).toBe(1);
    expect(answers).toEqual(Array(50).fill({ n: 1 }));
    expect(new Set(answers).size).toBe(50);
  });

  test('across processes the stored answer wins after the insert, for any caller', async () => {
    const store = new MapStore();
    store.delay = () => new Promise((resolve) => setImmediate(resolve));
    const processes = Array.from({ length: 20 }, () => recording(store));
    const answers = await Promise.all(
      processes.map((oracle, n) => oracle.ask({ scope: judge, request: 'same?', call: () => n })),
    );
    expect(new Set(answers).size).toBe(1);
    expect(await replaying(store).ask({ scope: judge, request: 'same?', call: never })).toBe(
      answers[0],
    );
  });

  test('a throw rejects all waiters with its error, unrecorded, and is retried', async () => {
    const store = new MapStore();
    const oracle = recording(store);
    const down = new Error('down');
    let calls = 0;
    const call = async (): Promise<Json> => {
      calls++;
      throw down;
    };
    const waiting = await Promise.allSettled(
      Array.from({ length: 50 }, () => oracle.ask({ scope, request: 1, call })),
    );
    expect(
      waiting.every((outcome) => outcome.status === 'rejected' && outcome.reason === down),
    ).toBe(true);
    expect([calls, store.rows.size]).toEqual([1, 0]);
    expect(await oracle.ask({ scope, request: 1, call: () => 'up' })).toBe('up');
  });

  test('a synchronous throw, or a store that fails, also rejects all waiters', async () => {
    const store = new MapStore();
    const oracle = recording(store);
    await expect(oracle.ask({ scope, request: 1, call: never })).rejects.toThrow(
      'a replay calls nothing',
    );
    const full = new Error('disk full');
    store.oraclePut = async () => {
      throw full;
    };
    const both = [
      oracle.ask({ scope, request: 1, call: () => 1 }),
      oracle.ask({ scope, request: 1, call: () => 2 }),
    ];
    expect(await Promise.allSettled(both)).toEqual([
      { status: 'rejected', reason: full },
      { status: 'rejected', reason: full },
    ]);
  });

  test.each([undefined, Number.NaN, 2 ** 53, { at: new Date(0) }, '\ud800', new Proxy({}, {})])(
    'an answer that is not JSON (%#) is an error and not recorded',
    async (answer) => {
      const store = new MapStore();
      const asked = recording(store).ask({ scope, request: 1, call: () => answer as Json });
      await expect(asked).rejects.toMatchObject({ name: 'OracleError', code: 'bad_answer' });
      expect(store.rows.size).toBe(0);
    },
  );

  test('changing the question while it waits changes nothing', async () => {
    const store = new MapStore();
    const request = { n: 1 };
    const asked = recording(store).ask({ scope, request, call: () => 'one' });
    request.n = 2;
    await asked;
    expect([...store.rows.keys()]).toEqual([oracleKey({ scope, request: { n: 1 } })]);
  });

  test.each<[string, Partial<OracleRow>]>([
    ['not canonical', { answer: '{"b":1,"a":2}' }],
    ['not JSON', { answer: '{' }],
    ['of another key', { key: '0'.repeat(64) }],
  ])('a row that is %s is corrupt, in either mode, and is not repaired', async (_what, change) => {
    const store = new MapStore();
    const key = oracleKey({ scope, request: 1 });
    store.rows.set(key, { key, answer: '1', at: clock.now(), ...change });
    for (const oracle of [recording(store), replaying(store)]) {
      await expect(oracle.ask({ scope, request: 1, call: never })).rejects.toMatchObject({
        code: 'damaged',
        message: expect.stringMatching(
          /Restore the store from a backup|The recorded answer is not/,
        ),
        evidence: { key },
      });
    }
    expect(store.log).not.toContain('put');
  });
});

describe('replay', () => {
  test('a miss is an error that names the question; nothing is called or written', async () => {
    const store = new MapStore();
    let called = false;
    const call = () => {
      called = true;
      return 1;
    };
    const asked = replaying(store).ask({
      scope,
      request: { ask: 'weather', city: 'Oslo' },
      theta: { seed: 3 },
      call,
    });
    await expect(asked).rejects.toMatchObject({
      code: 'oracle_miss',
      message: expect.stringContaining('weather'),
      evidence: {
        key: expect.stringMatching(/^[0-9a-f]{64}$/),
        scope,
        request: { ask: 'weather', city: 'Oslo' },
        theta: { seed: 3 },
      },
    });
    expect([called, store.log]).toEqual([false, ['get']]);
  });

  test('a random concurrent session replays its answers without calls or clock', async () => {
    const question = fc.record({
      scope: fc.constantFrom<OracleScope>(
        judge,
        { ...judge, space: 'u' },
        scope,
        { ...scope, ordinal: 1 },
        { ...scope, branch: 'b' },
      ),
      request: fc.constantFrom<Json>(1, { ask: 'x' }, ['y']),
      theta: fc.record({ seed: fc.constantFrom(null, 1) }),
    });
    const session = fc.array(fc.array(question, { minLength: 1, maxLength: 6 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        session,
        fc.array(fc.jsonValue({ noUnicodeString: false }), { minLength: 1 }),
        async (rounds, pool) => {
          const store = new MapStore();
          let drawn = 0;
          const recorder = recording(store);
          const outside = (): Json => pool[drawn++ % pool.length] as Json;
          const first = await run(recorder, rounds, () => safeJson(outside()));
          const keys = new Set(rounds.flat().map(oracleKey));
          expect(drawn).toBe(keys.size);
          expect(store.rows.size).toBe(keys.size);
          const before = canonicalize([...store.rows.values()]);
          expect(await run(replaying(store), rounds, never)).toEqual(first);
          expect(canonicalize([...store.rows.values()])).toBe(before);
        },
      ),
      { numRuns: 300 },
    );

    async function run(
      oracle: Oracle,
      rounds: readonly (readonly Parameters<typeof oracleKey>[0][])[],
      call: () => Json,
    ): Promise<string[]> {
      const answers: string[] = [];
      for (const round of rounds) {
        for (const answer of await Promise.all(
          round.map((asked) => oracle.ask({ ...asked, call })),
        ))
          answers.push(canonicalize(answer));
      }
      return answers;
    }

    /** A value that canon refuses (integers beyond 2^53) becomes text, as in a tool's adapter. */
    function safeJson(value: Json): Json {
      return JSON.parse(JSON.stringify(value), (_key, item) =>
        typeof item === 'number' && Number.isInteger(item) && !Number.isSafeInteger(item)
          ? String(item)
          : item,
      );
    }
  });
});

describe('recorded clock and random', () => {
  const caller = { trajectory: 't', branch: null, agent: 'a' };
  const cut = {
    now: () => {
      throw new Error('no clock');
    },
    bytes: () => {
      throw new Error('no chance');
    },
  };

  test('a replay reads the same instants and draws the same bytes', async () => {
    const store = new MapStore();
    const run = async (
      oracle: Oracle,
      now: Parameters<typeof oracleClock>[2],
      chance: Parameters<typeof oracleRandom>[2],
    ) => {
      const calls = callSequence(caller);
      const [time, random] = [oracleClock(oracle, calls, now), oracleRandom(oracle, calls, chance)];
      return [
        await time.now(),
        await random.bytes(5),
        await time.now(),
        await random.bytes(0),
        await time.now(),
      ];
    };
    const first = await run(
      recording(store),
      fixedClock('2026-03-23T09:00:00.000000Z', 7),
      seededRandom(1),
    );
    expect(first[2]).toBe('2026-03-23T09:00:00.000007Z');
    expect(await run(replaying(store), cut, cut)).toEqual(first);
    expect(store.rows.size).toBe(5);
  });

  test('a resumed run reads its recorded values, then continues', async () => {
    const store = new MapStore();
    const now = fixedClock('2026-03-23T09:00:00.000000Z', 1);
    const first = oracleClock(recording(store), callSequence(caller), now);
    const before = [await first.now(), await first.now()];
    const again = oracleClock(recording(store), callSequence(caller), now);
    expect([await again.now(), await again.now()]).toEqual(before);
    expect((await again.now()) > before[1]!).toBe(true);
    const later = oracleClock(recording(store), callSequence(caller, 2), cut);
    expect((await later.now()) > before[1]!).toBe(true);
  });

  test('another agent or branch reads its own', async () => {
    const store = new MapStore();
    const now = fixedClock('2026-03-23T09:00:00.000000Z', 1);
    const readings = [caller, { ...caller, agent: 'b' }, { ...caller, branch: 'x' }].map((who) =>
      oracleClock(recording(store), callSequence(who), now).now(),
    );
    expect(new Set(await Promise.all(readings)).size).toBe(3);
  });

  test('a log that holds something else is refused by name', async () => {
    const store = new MapStore();
    const at = {
      scope: { ...caller, kind: 'call' as const, ordinal: 0 },
      request: { ask: 'clock' },
    };
    store.rows.set(oracleKey(at), { key: oracleKey(at), answer: '"yesterday"', at: clock.now() });
    await expect(
      oracleClock(replaying(store), callSequence(caller), cut).now(),
    ).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringMatching(
        /The start of the clock must be|The step of the clock must be a|The recorded answer is not an/,
      ),
    });
    const draw = { ...at, request: { ask: 'random', bytes: 2 } };
    store.rows.set(oracleKey(draw), { key: oracleKey(draw), answer: '"abc"', at: clock.now() });
    await expect(
      oracleRandom(replaying(store), callSequence(caller), cut).bytes(2),
    ).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringMatching(/Restore the store from a backup|The recorded answer is not/),
    });
  });

  test('a bad number of bytes is refused and takes no ordinal', async () => {
    const calls = callSequence(caller);
    const random = oracleRandom(recording(new MapStore()), calls, seededRandom(1));
    await expect(random.bytes(-1)).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('The number of random bytes is not valid. Ask for'),
    });
    expect(calls.next().ordinal).toBe(0);
  });
});
