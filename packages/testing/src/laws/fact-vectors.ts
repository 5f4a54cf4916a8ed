import type {
  FactHit,
  FactText,
  FactVectorQuery,
  FactVersion,
  FactWrite,
} from 'assize/internal/ledger';
import { documentOf } from 'assize/internal/memory';
import fc from 'fast-check';
import { expect } from 'vitest';
import { FactModel, generatedBatches, generatedQueries, SPACES } from '../fact-model.ts';
import { ALICE, changeOf, contentOf, day, keyOfRow, namesOf } from '../fact-rows.ts';
import { batchOf, blobOf } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import type { FactLedger } from '../suite-types.ts';
import { ranked } from '../text-model.ts';
import { COMMITTED } from './answers.ts';
import { runAgainst } from './fact-model.ts';

const { space } = ALICE;
const DIMENSIONS = 5;
const RUNS = 12;

/** A vector search returns the nearest facts, restricted by the query. */
export function factVectorLaws({ law, openNew, runs }: Bench<FactLedger>): void {
  law('a vector query returns the nearest facts within its restrictions', async () => {
    const store = await openNew();
    await say(store, 40);
    const texts = await embedAll(store);
    expect(texts).toHaveLength(40);
    // Every second fact is retracted.
    for (let n = 0; n < 40; n += 2) {
      const partition = { ...ALICE, subject: `s ${n}` };
      const [open] = (await store.partition(partition))!.open;
      await commit(store, changeOf(partition, 2, 20, [], [keyOfRow(open!)]));
    }
    const vector = vectorOf('asked');
    const found = (query: Partial<FactVectorQuery>) =>
      store.factsByVector({ space, embedder: 'm', vector, ...query });
    for (const query of [
      {},
      { limit: 3 },
      { system: 'now' },
      { system: day(15), limit: 7 },
      { subject: 's 9' },
    ] as const) {
      const rows = await store.facts({ space, ...query, limit: 1_000 });
      const nearest = rows
        .map((fact) => ({ fact, score: cosine(vectorOf(documentOf(fact)), vector) }))
        .sort((a, b) => b.score - a.score)
        .slice(0, 'limit' in query ? query.limit : 1_000);
      const hits = await found(query);
      expect(hits.map(({ fact }) => fact)).toEqual(nearest.map(({ fact }) => fact));
      for (const [n, { score }] of hits.entries())
        expect(Math.abs(score - nearest[n]!.score)).toBeLessThan(1e-5);
    }
    for (const query of [{ embedder: 'other' }, { space: 'nobody' }, { kind: 'audit' }] as const)
      expect(await found(query)).toEqual([]);
    expect(cosine(vector, vector)).toBeCloseTo(1);
    const [self] = await found({
      vector: vectorOf(texts[3]!.text).map((number) => number * 1e20),
      limit: 1,
    });
    expect(self!.score).toBeCloseTo(1, 5);
  });

  law('any history of changes is ranked by vectors as a plain ranking does', async () => {
    await fc.assert(
      fc.asyncProperty(generatedBatches, generatedQueries, async (batches, queries) => {
        const store = await openNew();
        const model = new FactModel();
        await runAgainst(store, model, batches);
        for (const each of SPACES) await embedAll(store, each);
        const vector = vectorOf('asked');
        for (const { after: _, ...query } of queries) {
          const found = await store.factsByVector({ ...query, embedder: 'm', vector });
          const scoreOf = (fact: FactVersion): number => cosine(vectorOf(documentOf(fact)), vector);
          const expected = ranked(model, query, query.limit ?? 1_000, scoreOf);
          expect({ query, found: found.map(({ fact }) => fact) }).toEqual({
            query,
            found: expected.map(({ fact }) => fact),
          });
        }
        await store.close();
      }),
      { numRuns: runs(RUNS) },
    );
  });

  law('each text is embedded once, however its versions change', async () => {
    const store = await openNew();
    const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a', object: 'one', valid_to: day(9) }]);
    await commit(store, first);
    expect(await embedAll(store)).toEqual([
      { id: expect.any(String), text: '2026-01-01 1 January 2026 alice medication one' },
    ]);
    const piece = { fact_id: 'a', object: 'one', valid_to: day(5) };
    const lost = {
      fact_id: 'audit::a',
      row_kind: 'audit' as const,
      object: 'lost',
      resolution_id: 'r',
    };
    await commit(store, changeOf(ALICE, 2, 20, [piece, lost], first.insert.map(keyOfRow)));
    const [left, ...none] = await store.textsToEmbed('m', space, 10);
    expect([left!.text, none]).toEqual(['2026-01-01 1 January 2026 alice medication lost', []]);
    expect(await store.textsToEmbed('other', space, 1)).toHaveLength(1);
    expect(await store.textsToEmbed('other', space, 10)).toHaveLength(2);
    expect(await store.textsToEmbed('m', 'nobody', 10)).toEqual([]);
    // A text with a vector keeps it.
    const [text] = await store.textsToEmbed('other', space, 1);
    for (const vector of [vectorOf('a'), vectorOf('b')])
      await store.putVectors('other', [{ id: text!.id, vector }]);
    const [hit] = await store.factsByVector({
      space,
      embedder: 'other',
      vector: vectorOf('a'),
      kind: 'all',
    });
    expect(hit!.score).toBeCloseTo(1, 5);
  });

  law('an erased text has no vector and is given to no embedder', async () => {
    const store = await openNew();
    await say(store, 6);
    const before = await store.textsToEmbed('late', space, 10);
    await embedAll(store);
    const names = namesOf({ ...ALICE, subject: 's 1' }).hash;
    const erased = [contentOf('object 0').hash, names].map((hash) => ({
      hash,
      by: blobOf('by').hash,
    }));
    expect(await store.commit({ ...batchOf([]), erased })).toEqual(COMMITTED);
    const subjects = (hits: readonly FactHit[]) => hits.map(({ fact }) => fact.subject).sort();
    const rest = ['s 2', 's 3', 's 4', 's 5'];
    expect(
      subjects(await store.factsByVector({ space, embedder: 'm', vector: vectorOf('x') })),
    ).toEqual(rest);
    expect(await store.textsToEmbed('other', space, 10)).toHaveLength(4);
    // Its vector was made before the erasure and arrives after it.
    await store.putVectors(
      'late',
      before.map(({ id, text }) => ({ id, vector: vectorOf(text) })),
    );
    expect(
      subjects(await store.factsByVector({ space, embedder: 'late', vector: vectorOf('x') })),
    ).toEqual(rest);
    const gone = `{"$erased":"${names}"}`;
    expect(
      await store.factsByVector({ space: gone, embedder: 'late', vector: vectorOf('x') }),
    ).toEqual([]);
  });

  law('rebuilt facts have no vectors, and accept those of texts that remain', async () => {
    const store = await openNew();
    const changes = await say(store, 4);
    const texts = await embedAll(store);
    async function* pages(): AsyncGenerator<readonly FactWrite[]> {
      yield changes.toReversed().slice(0, 2);
    }
    await store.rebuildFacts(pages());
    expect(await store.factsByVector({ space, embedder: 'm', vector: vectorOf('x') })).toEqual([]);
    expect(await store.textsToEmbed('m', space, 10)).toHaveLength(2);
    await store.putVectors(
      'm',
      texts.map(({ id, text }) => ({ id, vector: vectorOf(text) })),
    );
    for (const { fact, score } of await store.factsByVector({
      space,
      embedder: 'm',
      vector: vectorOf('x'),
    }))
      expect(Math.abs(score - cosine(vectorOf(documentOf(fact)), vectorOf('x')))).toBeLessThan(
        1e-5,
      );
  });

  law('vectors that can’t be compared are refused, and nothing of them is kept', async () => {
    const store = await openNew();
    await say(store, 2);
    const [a, b] = await store.textsToEmbed('m', space, 2);
    const misuse = { code: 'store_invalid_input' };
    const good = vectorOf('x');
    for (const wrong of [[Number.NaN, 1], [0, 0], [Number.POSITIVE_INFINITY, 1], []].map(
      (list) => new Float32Array(list),
    )) {
      await expect(store.putVectors('m', [{ id: a!.id, vector: wrong }])).rejects.toMatchObject(
        misuse,
      );
      await expect(
        store.factsByVector({ space, embedder: 'm', vector: wrong }),
      ).rejects.toMatchObject(misuse);
    }
    const uneven = [
      { id: a!.id, vector: good },
      { id: b!.id, vector: good.slice(1) },
    ];
    for (const wrong of [
      uneven,
      [{ id: 7, vector: good }],
      [{ id: a!.id, vector: [1, 2] }],
      [7],
      7,
    ])
      await expect(store.putVectors('m', wrong as never)).rejects.toMatchObject(misuse);
    await expect(store.putVectors(7 as never, [])).rejects.toMatchObject(misuse);
    await expect(store.textsToEmbed('m', space, 0)).rejects.toMatchObject(misuse);
    await store.putVectors('m', []);
    expect(await store.factsByVector({ space, embedder: 'm', vector: good })).toEqual([]);
    await store.putVectors('m', [
      { id: a!.id, vector: good },
      { id: 'nobody', vector: good },
    ]);
    await expect(
      store.putVectors('m', [{ id: b!.id, vector: good.slice(1) }]),
    ).rejects.toMatchObject(misuse);
    await expect(
      store.factsByVector({ space, embedder: 'm', vector: good.slice(1) }),
    ).rejects.toMatchObject(misuse);
    expect(await store.factsByVector({ space, embedder: 'm', vector: good })).toHaveLength(1);
  });
}

/** Stores a vector for each text of a space without one. */
async function embedAll(store: FactLedger, of: string = space): Promise<FactText[]> {
  const texts = await store.textsToEmbed('m', of, 1_000);
  await store.putVectors(
    'm',
    texts.map(({ id, text }) => ({ id, vector: vectorOf(text) })),
  );
  return texts;
}

/** A different vector for each text, without any meaning. */
function vectorOf(text: string): Float32Array {
  const { hash } = blobOf(text);
  return Float32Array.from(
    { length: DIMENSIONS },
    (_, n) => Number.parseInt(hash.slice(4 * n, 4 * n + 4), 16) - 0x7fff,
  );
}

function cosine(a: Float32Array, b: Float32Array): number {
  const sum = (x: Float32Array, y: Float32Array): number =>
    x.reduce((all, number, at) => all + number * y[at]!, 0);
  return sum(a, b) / Math.sqrt(sum(a, a) * sum(b, b));
}

async function say(store: FactLedger, count: number): Promise<FactWrite[]> {
  const changes = Array.from({ length: count }, (_, n) =>
    changeOf({ ...ALICE, subject: `s ${n}` }, 1, 10, [{ fact_id: `${n}`, object: `object ${n}` }]),
  );
  for (const change of changes) await commit(store, change);
  return changes;
}

async function commit(store: FactLedger, change: FactWrite): Promise<void> {
  expect(await store.commit({ ...batchOf([]), facts: [change] })).toEqual(COMMITTED);
}
