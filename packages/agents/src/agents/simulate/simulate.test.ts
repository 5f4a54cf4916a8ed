import { MemoryStore } from '@assize/testing/internal/memory';
import type { Json } from 'assize/internal/base';
import type { Tool } from 'assize/internal/effects';
import { defineDomain } from 'assize/internal/kernel';
import { createOracle, type OracleStore, seededRandom, turnKey } from 'assize/internal/oracle';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { allEntries } from '../../../../../tests/support/ledger/desk.ts';
import { desk, newsroom } from '../../../../../tests/support/ledger/newsroom.ts';
import {
  HandClock,
  operator,
  runtimeOver,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import { Bank, LIMIT, payments } from '../../../../../tests/support/tools/bank.ts';
import { type Agent, runAgents } from '../index.ts';
import { type SimulateOptions, simulate, type Variant } from './index.ts';

const anchors = [operator.publicKey];

/** Everything that a store in memory has of a trajectory, as one text. */
async function bytesOf(store: MemoryStore, trajectoryId: string): Promise<string> {
  const turns: Json[] = [];
  for (let n = 0; ; n++) {
    const row = await store.oracleGet(turnKey(trajectoryId, n));
    if (row === undefined) break;
    turns.push(row as unknown as Json);
  }
  const entries = await allEntries(store, trajectoryId);
  const effects = await store.listEffects({ limit: 1_000 });
  return JSON.stringify([entries, effects, turns, await store.trajectories()]);
}

/** A source whose writing methods all throw. */
function readOnly(store: MemoryStore): MemoryStore {
  const writes =
    /^(commit|oraclePut|logEffects|leaseEffects|joinEffects|adopt|side|put|drop|rebuild|keep|integrate)/;
  return new Proxy(store, {
    get: (_, name) => {
      if (writes.test(String(name)))
        return () => {
          throw new Error(`the source was written: ${String(name)}`);
        };
      const member = Reflect.get(store, name) as unknown;
      return typeof member === 'function' ? member.bind(store) : member;
    },
  });
}

async function newsroomRun(stories: number) {
  const recorded = await desk({}, stories);
  await recorded.run();
  const store = readOnly(recorded.store);
  const source = { store, oracleStore: store, trajectoryId: 'desk' };
  const of = (variants: readonly Variant[], more: Partial<SimulateOptions> = {}) =>
    simulate(source, { domain: newsroom, anchors, variants, ...more });
  return { ...recorded, source, of };
}

describe('a variant equal to the record', () => {
  test.each([1, 2, 3, 4])(
    'has its entries byte for byte, from every entry (%i stories)',
    async (stories) => {
      const { store, agents, model, of, replay } = await newsroomRun(stories);
      const entries = await allEntries(store, 'desk');
      const [before, calls] = [await bytesOf(store, 'desk'), model.calls];
      // The naive comparison: the replay of the whole run. It is checked by itself.
      expect(await replay()).toMatchObject({ same: true, headId: entries.at(-1)?.id });
      for (const { seq } of entries.slice(0, -1)) {
        const { variants, partings } = await of([{ name: 'same', agents }], { at: seq });
        const sample = only(only(variants).samples);
        expect(sample).toMatchObject({ head: entries.at(-1)?.id, difference: [] });
        expect(sample.parts).toBeUndefined();
        expect(partings).toEqual([]);
      }
      expect(model.calls).toBe(calls);
      expect(await bytesOf(store, 'desk')).toBe(before);
    },
  );
});

test('a record that is the production store is refused, and nothing is written', async () => {
  const { store, source, agents, of } = await newsroomRun(1);
  const before = await bytesOf(store, 'desk');
  const { head, oracleGet, oraclePut } = store;
  const connected = {
    head: head.bind(store),
    oracleGet: oracleGet.bind(store),
    oraclePut: oraclePut.bind(store),
  };
  for (const record of [source.oracleStore, connected])
    await expect(of([{ name: 'same', agents, fresh: true }], { record })).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('record has the trajectory desk'),
    });
  expect(await bytesOf(store, 'desk')).toBe(before);
});

const by = { principal: 'manager:m', method: 'desk' };

/** A clerk that pays the amounts in turn, by the money that bob has. */
function clerk(amounts: readonly number[], seen: unknown[] = []): Agent {
  return {
    name: 'clerk',
    role: { name: 'clerk', params: {} },
    writ: writFor('clerk'),
    async decide({ spent }, ask) {
      seen.push((await ask.calls()).map(({ answer }) => answer));
      if ((await ask.ruling())?.ruling === 'escalated') return 'wait';
      const paid = spent.bob ?? 0;
      const sums = amounts.map((_, n) =>
        amounts.slice(0, n + 1).reduce((sum, cents) => sum + cents, 0),
      );
      const next = sums.findIndex((sum) => sum > paid);
      return next === -1 ? 'done' : { action: 'pay', args: { to: 'bob', cents: amounts[next] } };
    },
  };
}

/** A run that paid the amounts. Later calls of the bank fail the test. */
async function paid(
  amounts: readonly number[],
  approved: 'in the run' | 'outside the run' = 'in the run',
) {
  const [bank, store, clock] = [new Bank(), new MemoryStore(), new HandClock()];
  const domain = payments(bank);
  const assize = runtimeOver(store, [domain], {
    tools: [bank.pay, bank.wire],
    oracle: store,
    ports: { clock },
  });
  const trajectory = await assize.create(domain, {
    trajectoryId: 'desk',
    writs: [writFor('clerk')],
  });
  const oracle = createOracle({ store, clock, mode: 'record' });
  const options = { oracle, clock, random: seededRandom('run'), maxTurns: 20 };
  const counsel = () => ({ do: 'approve' as const, ...by });
  while (approved === 'outside the run') {
    const report = await runAgents(trajectory, [clerk(amounts)], options);
    if (report.ended !== 'pending') break;
    for (const { id, payload } of trajectory.approvals.pending())
      await trajectory.approvals.approve(id, { ...by, digest: payload.digest });
  }
  if (approved === 'in the run')
    await runAgents(trajectory, [clerk(amounts)], { ...options, counsel });
  await assize.close();
  bank.trouble = () => new Error('the real tool was called');
  const tools: readonly Tool[] = [bank.pay, bank.wire];
  const of = (variants: readonly Variant[], more: Partial<SimulateOptions> = {}) =>
    simulate(
      { store: readOnly(store), oracleStore: store, trajectoryId: 'desk' },
      { domain: domain as never, anchors, tools, variants, ...more },
    );
  return { store, domain, bank, of };
}

function only<T>([one]: readonly T[]): T {
  return one as T;
}

describe('calls', () => {
  test('the outcomes of shared and of own calls stay apart', async () => {
    const { of } = await paid([100, 100]);
    const seen: unknown[] = [];
    // After the first payment and its outcome.
    const { variants } = await of([{ name: 'same', agents: [clerk([100, 100], seen)] }], { at: 2 });
    expect(seen).toEqual([[{ receipt: 1 }], [{ receipt: 2 }]]);
    expect(only(only(variants).samples).calls.map(({ answer }) => answer)).toEqual([
      { receipt: 2 },
    ]);
  });

  test('the record answers first, then a simulator with state and earlier calls', async () => {
    const { of } = await paid([100, 200]);
    const { variants } = await of([{ name: 'more', agents: [clerk([200, 100, 300])] }], {
      simulators: {
        'bank.pay': ({ cents }, { state, calls }) =>
          ({ cents, state, calls: calls.length }) as never,
      },
    });
    const { calls, outcome } = only(only(variants).samples);
    expect(outcome).toBe('done');
    expect(calls.map(({ from, answer }) => [from, answer])).toEqual([
      ['record', { receipt: 2 }],
      ['record', { receipt: 1 }],
      [
        'simulator',
        { cents: 300, state: { spent: { bob: 600 }, limits: { bob: LIMIT } }, calls: 2 },
      ],
    ]);
    expect(only(variants).calls).toEqual({ 'bank.pay': { record: 2, simulator: 1 } });
  });

  test('a call without an answer ends the sample, and is named', async () => {
    const { of } = await paid([100]);
    const { variants } = await of([{ name: 'more', agents: [clerk([100, 300, 400])] }]);
    expect(only(only(variants).samples)).toMatchObject({
      outcome: 'no_answer',
      fault: { code: 'no_answer', tool: 'bank.pay', input: { to: 'bob', cents: 300 } },
      // The commit of the call, and nothing after it.
      difference: [{ op: 'replace', path: '/spent/bob', value: 400 }],
    });
  });

  test('a simulator as data: table, error, probability', async () => {
    const { of } = await paid([100]);
    const rule = {
      table: [{ when: { cents: 300 }, use: { answer: 'three' } }],
      otherwise: { probability: 0.5, use: { answer: 'lucky' }, otherwise: { error: 'not today' } },
    };
    const run = () =>
      of([{ name: 'more', agents: [clerk([300, 400])] }], {
        simulators: { 'bank.pay': rule },
        samples: 20,
      });
    const [one, again] = [await run(), await run()];
    expect(one).toEqual(again);
    const answers = only(one.variants).samples.map(({ calls }) =>
      calls.map(({ answer }) => answer),
    );
    expect(answers.every(([first]) => first === 'three')).toBe(true);
    expect(new Set(answers.map(([, second]) => second))).toEqual(new Set(['lucky', undefined]));
  });

  test('a simulator that throws, or returns a promise, fails its sample', async () => {
    const { of } = await paid([100]);
    const thrower = (): never => {
      throw new Error('a bad simulator');
    };
    for (const simulator of [thrower, async () => 1]) {
      const { variants } = await of([{ name: 'more', agents: [clerk([300])] }], {
        simulators: { 'bank.pay': simulator },
      });
      expect(only(only(variants).samples)).toMatchObject({
        outcome: 'failed',
        fault: { code: 'simulator_failed' },
      });
    }
  });
});

describe('people', () => {
  const big = [100, 600, 700];
  const outcomes = async (people: Variant['people'], at?: number) => {
    const { of } = await paid(big);
    const { variants } = await of(
      [{ name: 'v', agents: [clerk(big)], ...(people !== undefined && { people }) }],
      at === undefined ? {} : { at },
    );
    const { outcome, steps } = only(only(variants).samples);
    return [outcome, steps.map(({ ruling }) => ruling)];
  };
  const all = ['committed', 'escalated', 'approved', 'escalated', 'approved'];

  test('decide as recorded, also by an entry of another writer', async () => {
    expect(await outcomes(undefined)).toEqual(['done', all]);
    const { of } = await paid([100, 600, 200], 'outside the run');
    const { variants } = await of([{ name: 'v', agents: [clerk([100, 600, 200])] }]);
    const { outcome, steps, parts } = only(only(variants).samples);
    expect([outcome, parts]).toEqual(['done', undefined]);
    expect(steps.map(({ ruling }) => ruling)).toEqual([
      'committed',
      'escalated',
      'approved',
      'committed',
    ]);
    // An equal proposal at another place.
    const { variants: early } = await of([{ name: 'v', agents: [clerk([600, 100, 200])] }]);
    expect(only(only(early).samples).outcome).toBe('done');
    // The record has no decision about this proposal.
    const { variants: other } = await of([{ name: 'v', agents: [clerk([601])] }]);
    expect(only(only(other).samples).outcome).toBe('waits');
  });

  test('approve, wait, or decide by a function', async () => {
    expect(await outcomes({ approve: 'manager:other' })).toEqual(['done', all]);
    expect(await outcomes('wait')).toEqual(['waits', ['committed', 'escalated']]);
    expect(await outcomes(() => ({ do: 'later' }))).toEqual(['waits', ['committed', 'escalated']]);
  });

  test('reject: the agent proposes the same again, until the limit', async () => {
    const { of } = await paid(big);
    const { variants } = await of(
      [{ name: 'v', agents: [clerk(big)], people: { reject: 'manager:m' } }],
      {
        limits: { turns: 9 },
      },
    );
    const { outcome, steps, turns } = only(only(variants).samples);
    expect([outcome, turns]).toEqual(['limit', 9]);
    expect(steps.filter(({ ruling }) => ruling === 'refused').length).toBeGreaterThan(2);
  });
});

describe('questions', () => {
  const asking = (seen: unknown[], answer: () => Json, model = 'm'): Agent => ({
    ...clerk([]),
    async decide({ spent }, oracle) {
      const said = await oracle.ask({
        request: { ask: 'model', spent },
        theta: { model_version: model },
        call: answer,
      });
      seen.push(said);
      return spent.bob === undefined ? { action: 'pay', args: { to: 'bob', cents: 100 } } : 'done';
    },
  });

  test('are asked once for all variants and repeated simulations', async () => {
    const { of } = await paid([100]);
    let asked = 0;
    const seen: unknown[] = [];
    const answer = (): Json => ({ text: `${++asked}`, usage: { input: 10, output: 2 } });
    const record: OracleStore = new MemoryStore();
    const variants = ['one', 'two'].map((name) => ({ name, agents: [asking(seen, answer)] }));
    const first = await of(variants, { record, samples: 2 });
    expect(asked).toBe(4);
    expect(first.variants.map(({ medians }) => medians.questions)).toEqual([2, 2]);
    expect(only(only(first.variants).samples).asked).toMatchObject({
      asked: 2,
      inputTokens: 20,
      outputTokens: 4,
    });
    await of(variants, { record, samples: 2 });
    expect(asked).toBe(4);
    // Another model is another question.
    await of([{ name: 'other', agents: [asking(seen, answer, 'n')] }], { record });
    expect(asked).toBe(6);
    await of([{ name: 'one', agents: [asking(seen, answer)], fresh: true }], { record });
    expect(asked).toBe(8);
  });
});

describe('the domain and the policy of a variant', () => {
  test('another version of the domain rules on the same agents', async () => {
    const { of, bank } = await paid([100, 400]);
    const strict = defineDomain({
      ...payments(bank).declared,
      version: '2',
      invariants: ({ eachCall }: any) => [
        eachCall('AT_MOST_200', 'bank.pay', {}, ({ input }: any) =>
          input.cents <= 200 ? { result: 'pass' } : { result: 'reject', detail: 'too much' },
        ),
        eachCall('WIRES', 'bank.wire', {}, () => ({ result: 'pass' })),
      ],
    } as never);
    const { variants } = await of(
      [{ name: 'strict', agents: [clerk([100, 400])], domain: strict as never }],
      {
        limits: { turns: 4 },
      },
    );
    expect(only(variants).rules).toEqual({ AT_MOST_200: { rejected: 3, escalated: 0 } });
    expect(only(only(variants).samples).parts).toMatchObject({
      turn: 1,
      other: { rule: 'AT_MOST_200' },
    });
  });

  test('a version that rejects the state is refused', async () => {
    const { of, bank } = await paid([100]);
    const impossible = defineDomain({
      ...payments(bank).declared,
      version: '2',
      state: z.object({
        spent: z.record(z.string(), z.int()),
        limits: z.record(z.string(), z.int()),
        more: z.int(),
      }),
      initial: { spent: {}, limits: {}, more: 1 },
    } as never);
    await expect(
      of([{ name: 'bad', agents: [clerk([1])], domain: impossible as never }]),
    ).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('Pass a version that accepts the'),
      evidence: { variant: 'bad' },
    });
  });
});

describe('variants', () => {
  test('are compared sample by sample, at the turn where they part', async () => {
    const { of } = await paid([100, 200, 300]);
    const variants = [
      { name: 'same', agents: [clerk([100, 200, 300])] },
      { name: 'last', agents: [clerk([100, 200, 301])] },
    ];
    const simulation = await of(variants, { simulators: { 'bank.pay': { answer: 'ok' } } });
    expect(simulation.partings).toMatchObject([
      { variants: ['same', 'last'], sample: 0, step: 2, turn: 2 },
    ]);
    expect(simulation.recorded).toMatchObject({
      turns: 4,
      rulings: { committed: 3 },
      calls: { 'bank.pay': 3 },
    });
    expect(only(simulation.variants).samples[0]?.parts).toBeUndefined();
  });

  test('an agent that waits for a time is asked again at that time', async () => {
    const { of } = await paid([100]);
    const times: string[] = [];
    const waiter: Agent = {
      ...clerk([]),
      async decide(_, oracle) {
        times.push(await oracle.now());
        return times.length === 3
          ? 'done'
          : { waitUntil: `2027-0${times.length}-01T00:00:00.000000Z` };
      },
    };
    const patient = {
      ...waiter,
      writ: writFor('clerk', { expires: '2028-01-01T00:00:00.000000Z' }),
    };
    const { variants } = await of([{ name: 'waits', agents: [patient] }]);
    expect(only(variants).outcomes.done).toBe(1);
    expect(times.slice(1)).toEqual(['2027-01-01T00:00:00.000000Z', '2027-02-01T00:00:00.000000Z']);
    times.length = 0;
    const { variants: cut } = await of([{ name: 'waits', agents: [patient] }], {
      limits: { waits: 1 },
    });
    expect(only(cut).outcomes.limit).toBe(1);
  });
});

test('an abort ends a simulation, also while an agent never answers', async () => {
  const { of } = await paid([100]);
  const ending = new AbortController();
  const reason = new Error('enough');
  const mute: Agent = {
    ...clerk([]),
    decide: () => {
      ending.abort(reason);
      return new Promise<never>(() => undefined);
    },
  };
  await expect(of([{ name: 'mute', agents: [mute] }], { signal: ending.signal })).rejects.toBe(
    reason,
  );
});

describe('bad input', () => {
  const agents = [clerk([1])];
  test.each<[string, Partial<SimulateOptions> & { variants?: readonly Variant[] }, string, string]>(
    [
      ['no variants', { variants: [] }, 'bad_argument', 'variants'],
      [
        'two with one name',
        {
          variants: [
            { name: 'a', agents },
            { name: 'a', agents },
          ],
        },
        'bad_argument',
        'variants',
      ],
      [
        'no agents',
        { variants: [{ name: 'a', agents: [] }] },
        'bad_argument',
        'The agents are not valid',
      ],
      [
        'a bad people',
        { variants: [{ name: 'a', agents, people: 'never' as never }] },
        'bad_argument',
        'people',
      ],
      [
        'an invalid policy',
        { variants: [{ name: 'a', agents, policy: {} as never }] },
        'bad_argument',
        'policy',
      ],
      [
        'an unknown field',
        { variants: [{ name: 'a', agents, polici: 1 } as never] },
        'bad_argument',
        'polici',
      ],
      ['no samples', { samples: 0 }, 'bad_argument', 'samples'],
      ['too many turns', { limits: { turns: 1e9 } }, 'bad_argument', 'turns'],
      ['an entry that is not there', { at: 999 }, 'not_found', '999'],
      ['an id that is not there', { at: 'f'.repeat(64) }, 'not_found', 'ffff'],
      [
        'an invalid simulator',
        { simulators: { 'bank.pay': {} as never } },
        'bad_argument',
        'simulator of bank.pay',
      ],
      [
        'a probability above 1',
        { simulators: { 'bank.pay': { probability: 2, use: { answer: 1 } } } },
        'bad_argument',
        'simulator of bank.pay',
      ],
      [
        'a simulator of no tool',
        { simulators: { 'Not A Tool': { answer: 1 } } },
        'bad_argument',
        'Not A Tool',
      ],
    ],
  )('%s', async (_, more, code, part) => {
    const { of } = await paid([100]);
    await expect(of(more.variants ?? [{ name: 'a', agents }], more)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(part),
    });
  });

  test('a trajectory that is not there, and another domain', async () => {
    const { store, domain } = await paid([100]);
    const variants = [{ name: 'a', agents }];
    const source = { store, oracleStore: store, trajectoryId: 'nowhere' };
    const options = { domain: domain as never, anchors, variants };
    await expect(simulate(source, options)).rejects.toMatchObject({ code: 'not_found' });
    const other = { ...options, domain: newsroom };
    await expect(simulate({ ...source, trajectoryId: 'desk' }, other)).rejects.toMatchObject({
      code: expect.stringMatching(/domain_mismatch|bad_argument/),
    });
  });
});
