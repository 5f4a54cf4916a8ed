import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Embedder, Period } from '#memory';
import { openStore } from '#stores';
import { clinic } from '../../../../../tests/support/clinic/clinic.ts';
import {
  HandClock,
  runtimeOver,
  START,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import type { AssizeOptions } from '../options.ts';
import type { Memory, Recalled } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-recall-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const writ = writFor('nurse');
let files = 0;

/** Words of similar meaning have similar vectors. */
const MEANINGS: readonly RegExp[] = [
  /aspirin|painkiller/,
  /amoxicillin|antibiotic/,
  /insulin|sugar/,
];

function embedder(told: string[] = []): Embedder {
  return {
    id: 'meanings@1',
    dimensions: MEANINGS.length + 1,
    embed: async (texts) => {
      told.push(...texts);
      return texts.map((text) =>
        Float32Array.from([...MEANINGS.map((meaning) => (meaning.test(text) ? 1 : 0)), 0.1]),
      );
    },
  };
}

describe.each(['memory', 'sqlite'])('on %s', (kind) => {
  const begun = async (options: Partial<AssizeOptions> = {}) => {
    const store = await openStore(
      kind === 'memory' ? 'memory:' : `sqlite:${join(folder, `${++files}.db`)}`,
    );
    const assize = runtimeOver(store, [clinic], options);
    const trajectory = await assize.create(clinic, { trajectoryId: 't', writs: [writ] });
    const memory = trajectory.memory({ space: 'ward', writ });
    for (const [subject, object] of [
      ['ann', 'aspirin daily'],
      ['bob', 'amoxicillin since the surgery'],
      ['cid', 'insulin'],
      ['dan', 'aspirin, and amoxicillin every evening'],
    ] as const)
      expect((await memory.assert({ subject, predicate: 'drug', object })).ruling).toBe(
        'committed',
      );
    return { store, assize, trajectory, memory };
  };
  const subjects = ({ facts }: Recalled) => facts.map(({ subject }) => subject).join(' ');

  test('by its words, with scores and an observation that a proposal can give', async () => {
    const { memory, trajectory, store } = await begun();
    const recalled = await memory.recall({ text: 'Who takes aspirin?' });
    expect(subjects(recalled)).toBe('ann dan');
    expect(recalled.isTruncated).toBe(false);
    const [best, other] = recalled.scores!;
    expect([best!.score > other!.score, best!.score === best!.text, best!.embedding]).toEqual([
      true,
      true,
      undefined,
    ]);
    expect(recalled.observation).toMatchObject({
      name: 'recall',
      value: {
        query: { space: 'ward', text: 'Who takes aspirin?', by: 'text' },
        rows: recalled.facts.map(({ fact_id, system_time_start }) => [fact_id, system_time_start]),
      },
    });
    const said = { subject: 'eve', predicate: 'allergy', object: 'as ann' };
    expect(await memory.assert(said, { observations: [recalled.observation] })).toMatchObject({
      ruling: 'committed',
    });
    expect(trajectory.length).toBe(6);
    const one = await memory.recall({ text: 'aspirin', limit: 1 });
    expect([subjects(one), one.isTruncated]).toEqual(['ann', true]);
    expect((await memory.recall()).scores).toBeUndefined();
    await store.close();
  });

  test('instants may be texts of a Date, and days', async () => {
    const { memory, store } = await begun();
    const said = { subject: 'eve', predicate: 'drug', object: 'iron' };
    await memory.assert({
      ...said,
      valid: { from: '2026-03-01', to: '2026-04-01T02:00:00+02:00' },
    });
    const [fact] = (await memory.recall({ subject: 'eve', valid: '2026-03-15' })).facts;
    expect(fact).toMatchObject({
      valid_from: '2026-03-01T00:00:00.000000Z',
      valid_to: '2026-04-01T00:00:00.000000Z',
    });
    await memory.retract({
      ...said,
      valid: { from: new Date('2026-03-10').toISOString(), to: '2026-04-01' },
    });
    expect((await memory.recall({ subject: 'eve', valid: '2026-03-15' })).facts).toEqual([]);
    const to = {
      is: ['overlaps', 'starts', 'equals'],
      to: { from: '2026-03-01', to: '2026-03-10' },
    } as const;
    expect((await memory.recall({ subject: 'eve', relation: to })).facts).toHaveLength(1);
    const point = { valid: '2026-03-05', system: new Date(fact!.system_time_start).toISOString() };
    expect(
      (await memory.diff({ ...point, valid: '2026-02-01' }, point, { subject: 'eve' })).added,
    ).toHaveLength(1);
    await expect(memory.recall({ valid: '2026-02-30' })).rejects.toMatchObject({
      reason: 'no_instant',
    });
    await store.close();
  });

  test('a history is whole, unless a limit says otherwise', async () => {
    const { memory, store } = await begun();
    const subjects = Array.from({ length: 1_000 }, (_, n) => ({
      subject: `p${n}`,
      predicate: 'drug',
      object: 'x',
    }));
    expect(await memory.assertMany(subjects)).toMatchObject({ ruling: 'committed' });
    const all = await memory.history();
    expect(all.length).toBe(1_004);
    expect((await memory.recall({ valid: 'any', system: 'any' })).isTruncated).toBe(true);
    expect(await memory.history({ limit: 7 })).toEqual(all.slice(0, 7));
    await store.close();
  });

  test('the other query fields restrict the rows before the search', async () => {
    const { memory, store } = await begun();
    await memory.change({ subject: 'ann', predicate: 'drug', object: 'nothing' });
    expect(subjects(await memory.recall({ text: 'aspirin' }))).toBe('dan');
    expect(
      subjects(
        await memory.recall({ text: 'aspirin', valid: 'any', system: 'any', subject: 'ann' }),
      ),
    ).toContain('ann');
    const to = { from: START, to: '2026-12-31T00:00:00.000000Z' };
    const relation = { to, is: ['overlapped-by', 'started-by'] } as const;
    const plain = await memory.recall({ relation });
    const ranked = await memory.recall({
      relation,
      text: 'aspirin amoxicillin insulin nothing',
      limit: 100,
    });
    expect(ranked.facts.map(({ fact_id }) => fact_id).sort()).toEqual(
      plain.facts.map(({ fact_id }) => fact_id).sort(),
    );
    expect(
      (await memory.recall({ relation: { to, is: ['before'] }, text: 'aspirin' })).facts,
    ).toEqual([]);
    await store.close();
  });

  test('finds facts by embedding and by hybrid search', async () => {
    const told: string[] = [];
    const { memory, store, assize } = await begun({ memory: { embedder: embedder(told) } });
    const near = await memory.recall({ text: 'painkiller', by: 'embedding', limit: 2 });
    expect(subjects(near)).toBe('ann dan');
    expect(near.scores!.map(({ score, text, embedding }) => [score === embedding, text])).toEqual([
      [true, undefined],
      [true, undefined],
    ]);
    expect(near.observation.value).toMatchObject({
      query: { by: 'embedding', embedder: 'meanings@1' },
    });
    expect(told).toHaveLength(5);
    // Only the query is embedded again.
    const both = await assize.memory('ward').recall({ text: 'antibiotic surgery', by: 'hybrid' });
    expect(subjects(both).startsWith('bob dan')).toBe(true);
    expect(both.scores![0]).toMatchObject({
      score: 0.032787,
      text: expect.any(Number),
      embedding: expect.any(Number),
    });
    expect(both.scores![1]!.text).toBeUndefined();
    expect(told).toHaveLength(6);
    expect(await memory.embed()).toBe(0);
    await memory.assert({ subject: 'fay', predicate: 'drug', object: 'painkiller' });
    expect(await memory.embed({ signal: new AbortController().signal })).toBe(1);
    await store.close();
  });

  test('hybrid search weighs its two lists', async () => {
    const { memory, store } = await begun({ memory: { embedder: embedder([]) } });
    const query = { text: 'antibiotic surgery', by: 'hybrid' } as const;
    const alone = async (by: 'text' | 'embedding') => (await memory.recall({ ...query, by })).facts;
    const ofWeights = async (text: number, embedding: number) =>
      (await memory.recall({ ...query, weights: { text, embedding } })).facts;
    expect(await ofWeights(1, 0)).toEqual(await alone('text'));
    expect(await ofWeights(0, 1)).toEqual(await alone('embedding'));
    const { scores, observation } = await memory.recall({ ...query, weights: { embedding: 0.5 } });
    expect(scores![0]!.score).toBe(0.02459);
    expect(observation.value).toMatchObject({ query: { weights: { embedding: 0.5 } } });
    for (const weights of [
      { text: -1 },
      { text: Number.NaN },
      { text: 0, embedding: 0 },
      { words: 1 },
      { text: 1_001 },
    ])
      await expect(memory.recall({ ...query, weights } as never)).rejects.toMatchObject({
        code: 'bad_argument',
        message: expect.stringMatching(/The recall is not valid|The support is not valid/),
      });
    const plain = memory.recall({ text: 'x', weights: { text: 1 } });
    await expect(plain).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringMatching(/The recall is not valid|The support is not valid/),
    });
    await store.close();
  });

  test('a search with nearby facts finds the answer beside a question', async () => {
    const clock = new HandClock();
    const { memory, assize, store } = await begun({
      memory: { embedder: embedder([]) },
      ports: { clock },
    });
    const said = async (subject: string, object: string, day: string) => {
      clock.forward(1);
      await memory.assert({ subject, predicate: 'allergy', object, valid: { from: day } });
    };
    await said('gil', 'which grass makes you sneeze, hal?', '2026-03-01');
    await said('hal', 'the tall grass on the hill', '2026-03-01');
    await said('ivy', 'grass', '2026-04-01');
    const query = { text: 'what makes hal sneeze: grass?', valid: 'any', limit: 3 } as const;
    expect(subjects(await memory.recall({ ...query, text: 'sneeze grass' }))).toBe('gil ivy hal');
    const recalled = await memory.recall({ ...query, text: 'sneeze grass', nearby: true });
    expect(subjects(recalled)).toBe('gil hal ivy');
    const [gil, hal] = recalled.scores!.map(({ text }) => text!) as [number, number];
    expect(recalled.scores![1]!.score).toBeCloseTo(hal + 0.35 * gil + (0.5 * (gil + hal)) / 5, 5);
    expect(recalled.observation.value).toMatchObject({
      query: { nearby: { neighbours: 0.35, session: 0.5 } },
    });
    const none = { neighbours: 0, session: 0 };
    const words = await memory.recall({
      ...query,
      by: 'hybrid',
      weights: { embedding: 0 },
      nearby: none,
    });
    expect(words.facts).toEqual((await memory.recall(query)).facts);
    for (const nearby of [{ neighbours: -1 }, { session: Number.NaN }, { days: 1 }, 'yes', null])
      await expect(memory.recall({ ...query, nearby } as never)).rejects.toMatchObject({
        code: 'bad_argument',
        message: expect.stringContaining('is true, or { neighbours, session } with numbers from'),
      });
    await expect(memory.recall({ ...query, by: 'embedding', nearby: true })).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringMatching(/The recall is not valid|The support is not valid/),
    });
    await expect(assize.memory('ward').recall({ nearby: true })).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringMatching(/The recall is not valid|The support is not valid/),
    });
    await store.close();
  });

  test('hybrid search ranks only rows in the relation, as it does for a name', async () => {
    const { memory, store } = await begun({ memory: { embedder: embedder([]) } });
    const now = { from: '2026-01-10T00:00:00.000000Z', to: '2026-01-20T00:00:00.000000Z' } as const;
    const later = {
      from: '2030-01-10T00:00:00.000000Z',
      to: '2030-01-20T00:00:00.000000Z',
    } as const;
    const said = (subject: string, object: string, valid: Period) => ({
      subject,
      predicate: 'allergy',
      object,
      valid,
    });
    await memory.assertMany([
      said('gil', 'cough', now),
      said('gil', 'cough cough cough surgery', now),
      ...Array.from({ length: 20 }, (_, n) => said('hal', `cough cough cough ${n}`, later)),
    ]);
    for (const limit of [1, 2, 10]) {
      const query = { text: 'cough painkiller', by: 'hybrid', limit } as const;
      const related = await memory.recall({ ...query, relation: { to: now, is: ['equals'] } });
      const named = await memory.recall({ ...query, subject: 'gil', valid: 'any' });
      expect(related).toEqual({ ...named, observation: related.observation });
    }
    await store.close();
  });

  test('an embedder never receives erased values', async () => {
    const told: string[] = [];
    const { memory, trajectory, store } = await begun({ memory: { embedder: embedder(told) } });
    const asked = (await memory.recall({ text: 'does ann take aspirin daily', subject: 'nobody' }))
      .observation;
    await memory.assert(
      { subject: 'zoe', predicate: 'allergy', object: 'x' },
      { observations: [asked] },
    );
    const erased = await trajectory.erase({
      beliefs: [{ space: 'ward', subject: 'ann' }],
      reason: 'r',
      writ,
    });
    expect(erased.ruling).toBe('committed');
    expect(await memory.embed()).toBe(4);
    expect(told.join()).not.toMatch(/ann|daily/);
    for (const by of ['text', 'embedding', 'hybrid'] as const)
      expect(subjects(await memory.recall({ text: 'ann takes aspirin daily', by }))).not.toContain(
        'ann',
      );
    // Nor is the query that quoted the erased text.
    for (const entry of await store.entries('t')) {
      for (const [, hash] of entry.payload.matchAll(/"\$blob":"([0-9a-f]{64})"/g))
        expect((await store.blob(hash!)) ?? '').not.toContain('does ann take');
    }
    await store.close();
  });

  test('a query with an unknown or undefined field is refused, not widened', async () => {
    const { memory } = await begun();
    const from = { valid: START, system: START };
    for (const wrong of [
      { sbject: 'ann' },
      { subject: undefined },
      Object.create({ predicat: 'drug' }),
    ]) {
      const asked = [memory.recall(wrong), memory.history(wrong), memory.diff(from, from, wrong)];
      for (const each of await Promise.allSettled(asked))
        expect(each).toMatchObject({ status: 'rejected', reason: { code: 'bad_argument' } });
    }
    await expect(memory.history({ valid: START } as never)).rejects.toMatchObject({
      code: 'bad_argument',
    });
    const narrower = { ...from, subject: 'ann' };
    for (const each of await Promise.allSettled([
      memory.diff(narrower, from),
      memory.diff(from, narrower),
    ]))
      expect(each).toMatchObject({ status: 'rejected', reason: { code: 'bad_argument' } });
    await expect(memory.diff(from, { ...from, valid: 'any' })).rejects.toThrow(
      /valid time must be an instant such as \S+Z.*Date/s,
    );
    expect(subjects(await memory.recall({ subject: 'ann', predicate: 'drug' }))).toBe('ann');
  });

  test('an invalid relation or period is refused even without facts to compare', async () => {
    const { memory } = await begun();
    const [early, late] = [START, '9000-01-01T00:00:00.000000Z'];
    for (const [relation, reason] of [
      [{ to: { from: early, to: late }, is: ['near'] }, 'bad_argument'],
      [{ to: { from: late, to: early }, is: ['before'] }, 'reversed_period'],
      [{ to: { from: late, to: early }, is: [] }, 'reversed_period'],
      [{ to: { from: early, to: early }, is: ['before'] }, 'empty_period'],
      [{ to: { from: 'monday', to: late }, is: ['before'] }, 'no_instant'],
    ] as const)
      for (const subject of ['ann', 'nobody'])
        for (const more of [{}, { text: 'aspirin' }, { text: 'xyzzy' }])
          await expect(
            memory.recall({ subject, relation, ...more } as never),
          ).rejects.toMatchObject({ reason });
    const whole = { to: { from: early, to: late }, is: ['before'] as const };
    expect((await memory.recall({ subject: 'nobody', relation: whole })).facts).toEqual([]);
  });

  test('an invalid search is refused', async () => {
    const plain = await begun();
    const wrong = async (
      memory: Pick<Memory, 'recall'>,
      query: object,
      reason: string,
      part = '',
    ) =>
      expect(memory.recall(query as never)).rejects.toMatchObject({
        reason,
        message: expect.stringContaining(part),
      });
    await wrong(plain.memory, { text: ' \n' }, 'bad_argument', 'at least one word');
    await wrong(plain.memory, { text: '' }, 'bad_argument', 'at least one word');
    for (const text of ['???', '...', '— “”', '\u{1f642}'])
      await wrong(plain.memory, { text }, 'bad_argument', 'at least one word');
    // It is a word, although it is in every text.
    expect((await plain.memory.recall({ text: 'the' })).facts).toEqual([]);
    await wrong(plain.memory, { text: 'x'.repeat(10_001) }, 'bad_argument', 'search text');
    await wrong(plain.memory, { text: 'a\u0000b' }, 'bad_text');
    await wrong(plain.memory, { text: 7 }, 'bad_argument');
    await wrong(
      plain.memory,
      { text: 'x', by: 'magic' },
      'bad_argument',
      'The recall is not valid',
    );
    await wrong(plain.memory, { by: 'text' }, 'bad_argument', 'The recall is not valid');
    await wrong(plain.memory, { text: 'x', limit: 0 }, 'bad_argument', 'limit');
    await wrong(plain.memory, { text: 'x', signal: {} }, 'bad_argument');
    for (const by of ['embedding', 'hybrid'])
      await wrong(plain.memory, { text: 'x', by }, 'bad_argument', 'memory.embedder');
    await expect(plain.memory.embed()).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('Open it with `memory.embedder`,'),
    });
    await expect(plain.memory.embed({ signal: 7 as never })).rejects.toMatchObject({
      code: 'bad_argument',
    });
    const { store } = plain;
    const given = (vectors: (count: number) => unknown): Embedder => ({
      id: 'odd',
      dimensions: 2,
      embed: async (texts) => vectors(texts.length) as Float32Array[],
    });
    const all = (vector: unknown) => (count: number) => Array(count).fill(vector);
    for (const vectors of [
      all(new Float32Array([1])),
      all(new Float32Array([Number.NaN, 1])),
      all(new Float32Array([0, 0])),
      all([1, 2]),
      () => [],
      () => undefined,
      // A service that answers with a sparse array.
      (count: number) => new Array(count),
    ]) {
      const memory = runtimeOver(store, [clinic], { memory: { embedder: given(vectors) } }).memory(
        'ward',
      );
      await wrong(memory, { text: 'x', by: 'embedding' }, 'function_failed');
    }
    expect(await store.textsToEmbed('odd', 'ward', 10)).toHaveLength(4);
    await runtimeOver(store, [clinic], {
      memory: { embedder: given(all(new Float32Array([1, 2]))) },
    })
      .memory('ward')
      .embed();
    const other = runtimeOver(store, [clinic], {
      memory: { embedder: { ...given(all(new Float32Array(3).fill(1))), dimensions: 3 } },
    });
    await wrong(other.memory('ward'), { text: 'x', by: 'embedding' }, 'store_invalid_input');
    const failing = { ...given(all(0)), embed: () => Promise.reject(new Error('no network')) };
    // A hybrid search falls back to words, and says so.
    const offline = runtimeOver(store, [clinic], { memory: { embedder: failing } }).memory('ward');
    await expect(offline.recall({ text: 'cough', by: 'embedding' })).rejects.toThrow('no network');
    await expect(offline.recall({ text: '💊', by: 'hybrid' })).rejects.toThrow('no network');
    const broken = runtimeOver(store, [clinic], {
      memory: { embedder: given(all([1, 2])) },
    }).memory('ward');
    const byText = await offline.recall({ text: 'cough' });
    expect(byText.fallback).toBeUndefined();
    for (const [memory, cause] of [
      [offline, { message: 'no network' }],
      [
        broken,
        {
          code: 'function_failed',
          message: expect.stringContaining(
            'The embedder odd returned vectors that are not valid; none',
          ),
        },
      ],
    ] as const) {
      const { fallback, ...found } = await memory.recall({ text: 'cough', by: 'hybrid' });
      expect(found).toEqual(byText);
      expect(fallback).toMatchObject({ by: 'text', cause });
    }
    // An error of the store is not the embedder's.
    await wrong(other.memory('ward'), { text: 'x', by: 'hybrid' }, 'store_invalid_input');
    const silent = { ...given(all(0)), embed: () => new Promise<never>(() => {}) };
    const ended = new AbortController();
    const waiting = runtimeOver(store, [clinic], {
      memory: { embedder: { ...silent, id: 'silent' } },
    }).memory('ward');
    const { signal: soon } = ended;
    setImmediate(() => ended.abort(new Error('enough')));
    for (const each of await Promise.allSettled([
      waiting.recall({ text: 'x', by: 'hybrid', signal: soon }),
      waiting.embed({ signal: soon }),
    ]))
      expect(each).toMatchObject({ status: 'rejected', reason: { message: 'enough' } });
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(other.memory('ward').embed({ signal })).rejects.toThrow('enough');
    for (const wrong of [{ id: '' }, { dimensions: 0 }])
      expect(() =>
        runtimeOver(store, [clinic], { memory: { embedder: { ...failing, ...wrong } } }),
      ).toThrow(
        expect.objectContaining({
          code: 'bad_argument',
          message: expect.stringContaining('memory.embedder'),
        }),
      );
    await store.close();
  });
});
