import type { FactHit, FactTextQuery, FactWrite } from 'assize/internal/ledger';
import { OPEN_START } from 'assize/internal/memory';
import fc from 'fast-check';
import { expect } from 'vitest';
import {
  FactModel,
  generatedBatches,
  generatedQueries,
  PREDICATES,
  SPACES,
} from '../fact-model.ts';
import { ALICE, changeOf, contentOf, day, keyOfRow, namesOf } from '../fact-rows.ts';
import { batchOf, blobOf } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import type { FactLedger } from '../suite-types.ts';
import { rankedByText } from '../text-model.ts';
import { COMMITTED } from './answers.ts';
import { pagesOf, runAgainst } from './fact-model.ts';

const { space } = ALICE;
const RUNS = 12;

/** More changes than any store leaves unindexed. */
const MANY = 1_300;

const WORDS: readonly string[] = [
  ...[
    'object',
    '0',
    '1',
    'Objects',
    'alice',
    'ALICE’s',
    'medication',
    'tag',
    'e',
    'january',
    '2026-01-03',
    '2026',
  ],
  ...['the', 'is', '"', 'object OR 1', 'NEAR(object 1)', '*', '{space}:', "'", '\\', '😀'],
];

const generatedTexts = fc.array(
  fc
    .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 })
    .map((words) => words.join(' ')),
  { minLength: 10, maxLength: 10 },
);

/**
 * A full-text search returns the rows that a ranking of all texts returns, restricted by the query
 * and in the same order.
 */
export function factTextLaws({ law, newPlace, openAt, openNew, runs }: Bench<FactLedger>): void {
  law('any history of changes is ranked by words as a plain ranking does', async () => {
    await fc.assert(
      fc.asyncProperty(
        generatedBatches,
        generatedQueries,
        generatedTexts,
        async (batches, queries, texts) => {
          const store = await openNew();
          const model = new FactModel();
          const half = batches.length >> 1;
          const asked = queries.map(
            ({ after: _, ...query }, n): FactTextQuery => ({ ...query, text: texts[n]! }),
          );
          for (const part of [batches.slice(0, half), batches.slice(half)]) {
            await runAgainst(store, model, part);
            await expectRanked(store, model, asked);
          }
          await store.rebuildFacts(pagesOf(model.history));
          await expectRanked(store, model, asked);
          await store.close();
        },
      ),
      { numRuns: runs(RUNS) },
    );
  });

  law('a rare word, its repetition and fewer other words rank a text higher', async () => {
    const store = await openNew();
    const said = [
      'drug penicillin',
      'drug amoxicillin',
      'drug amoxicillin and more amoxicillin',
      'drug',
      'drug amoxicillin zinc',
    ];
    await say(store, said);
    const found = await store.factsByText({ space, text: 'Drugs: amoxicillin?' });
    expect(found.map(({ fact }) => fact.object)).toEqual([
      said[2],
      said[1],
      said[4],
      said[3],
      said[0],
    ]);
    expect(found.map(({ score }) => score)).toEqual(
      found.map(({ score }) => score).toSorted((a, b) => b - a),
    );
    const best = await store.factsByText({ space, text: 'amoxicillin drug', limit: 2 });
    expect(best.map(({ fact }) => fact.object)).toEqual([said[2], said[1]]);
    for (const text of ['', 'the of', '!?', 'nothing', '""'])
      expect(await store.factsByText({ space, text })).toEqual([]);
    expect(await store.factsByText({ space: 'nobody', text: 'drug' })).toEqual([]);
  });

  law('a text is found in any spelling of its words', async () => {
    const store = await openNew();
    const spelt: readonly (readonly [said: string, ...sought: string[]])[] = [
      ['in der Straße', 'STRASSE', 'strasse', 'Straße'],
      ['so\u00adft\u200bware', 'software', 'soft\u00adware'],
      ['שָׁלוֹם', 'שלום', 'שָׁלוֹם'],
      ['مُحَمَّدٌ', 'محمد', 'مُحَمَّدٌ'],
      ['l’été', 'été', "d'été", 'ETE', "l'ete"],
      ['東京都', '東', '京', '都', '東京', '京都'],
      ["the boss's cafe\u0301", 'boss', 'café'],
      // Only looks like the placeholder of an erased text.
      [`{"$erased":"${'ab'.repeat(32)}"}`, 'erased'],
    ];
    const facts = spelt.map(([object], n) =>
      changeOf({ space, subject: `s${n}`, predicate: 'says' }, 1, 10, [
        { fact_id: `${n}`, object },
      ]),
    );
    await commit(store, facts);
    for (const _ of ['as it waits to be indexed', 'as it is']) {
      for (const [n, [, ...sought]] of spelt.entries())
        for (const text of sought)
          expect([
            text,
            ...(await store.factsByText({ space, text })).map(({ fact }) => fact.fact_id),
          ]).toEqual([text, `${n}`]);
      await store.textsToEmbed('any', space, 1);
    }
    expect((await store.selfCheck?.()) ?? []).toEqual([]);
    // Another order of its letters does not match.
    expect(await store.factsByText({ space, text: '東都 京東' })).toEqual([]);
    const model = new FactModel();
    model.rows = facts.flatMap(({ insert }) => insert);
    await expectRanked(
      store,
      model,
      spelt.map(([, ...sought]) => ({ space, text: sought.join(' ') })),
    );
  });

  law('facts named by stop words are found by a query of only stop words', async () => {
    const store = await openNew();
    const said = [
      ['The Who', 'plays', 'rock'],
      ['it', 'costs', 'much'],
      ['IT', 'is', 'busy'],
      ['lamp', 'state', 'off'],
      ['who knows', 'plays', 'chess'],
    ] as const;
    const facts = said.map(([subject, predicate, object], n) =>
      changeOf({ space, subject, predicate }, 1, 10, [{ fact_id: `${n}`, object }]),
    );
    await commit(store, facts);
    const ids = async (text: string) =>
      (await store.factsByText({ space, text }))
        .map(({ fact }) => fact.fact_id)
        .sort()
        .join('');
    // Before and after the text is indexed.
    for (const _ of [1, 2]) {
      for (const [text, found] of [
        ['The Who', '0'],
        ['It', '12'],
        ['what is it', '12'],
        ['OFF', '3'],
        ['knows', '4'],
        ['who plays', '04'],
      ] as const)
        expect([text, await ids(text)]).toEqual([text, found]);
      expect(await store.factsByText({ space, text: 'the rock' })).toEqual(
        await store.factsByText({ space, text: 'rock' }),
      );
      expect((await store.factsByText({ space, subject: 'IT', text: 'it busy' })).length).toBe(1);
      await store.textsToEmbed('any', space, 1);
    }
    const model = new FactModel();
    model.rows = facts.flatMap(({ insert }) => insert);
    await expectRanked(
      store,
      model,
      ['The Who', 'what is it', 'off', 'it', 'plays'].map((text) => ({ space, text })),
    );
  });

  law('the score for a query of many words is the sum of its words’ scores', async () => {
    const store = await openNew();
    // Without digits, beside which the letters of a word would be a word that all of them share.
    const words = Array.from(
      { length: 30 },
      (_, n) => `kw${String.fromCharCode(97 + (n % 26))}${n < 26 ? 'o' : 'u'}`,
    );
    await say(
      store,
      [5, 30, 12, 20].map((count) => `${words.slice(0, count).join(' ')} ${words[0]} ${words[0]}`),
    );
    // A store that indexes later must index this call's texts now.
    await store.textsToEmbed('model', space, 1);
    const found = await store.factsByText({ space, text: words.join(' ') });
    expect(found.map(({ fact }) => fact.object.split(' ').length)).toEqual([32, 22, 14, 7]);
    const worth = new Map<string, number>();
    for (const text of words)
      for (const { fact, score } of await store.factsByText({ space, text }))
        worth.set(fact.object, (worth.get(fact.object) ?? 0) + score);
    for (const { fact, score } of found)
      expect(Math.abs(score - worth.get(fact.object)!)).toBeLessThan(1e-4);
  });

  law('a claim is found by its day, in numbers and in words', async () => {
    const store = await openNew();
    const rows = [day(3), day(4), OPEN_START].map((asserted_from, n) => ({
      fact_id: `${n}`,
      object: 'x',
      asserted_from,
    }));
    for (const [n, row] of rows.entries())
      await commit(store, [changeOf({ ...ALICE, subject: `s${n}` }, 1, 10, [row])]);
    for (const [text, ids] of [
      ['2026-01-04', '1'],
      ['4 January 2026', '10'],
      ['february', ''],
    ] as const)
      expect(
        (await store.factsByText({ space, text })).map(({ fact }) => fact.fact_id).join(''),
      ).toBe(ids);
  });

  law('a restricted query ranks its facts, however many others rank higher', async () => {
    const store = await openNew();
    const count = 120;
    for (let n = 0; n < count; n += 1) {
      const partition = { ...ALICE, subject: `subject ${n}` };
      const first = changeOf(partition, 1, 10, [{ fact_id: `${n}`, object: `sought sought ${n}` }]);
      const second = changeOf(
        partition,
        2,
        20,
        [{ fact_id: `${n} later`, object: 'other' }],
        first.insert.map(keyOfRow),
      );
      await commit(store, [first]);
      await commit(store, [second]);
    }
    const kept = changeOf(ALICE, 1, 10, [
      { fact_id: 'kept', object: `sought ${'and so much further '.repeat(20)}` },
    ]);
    await commit(store, [kept]);
    const ids = async (query: Omit<FactTextQuery, 'space' | 'text'>) =>
      (await store.factsByText({ space, text: 'sought', ...query })).map(
        ({ fact }) => fact.fact_id,
      );
    expect(await ids({ system: 'now', limit: 3 })).toEqual(['kept']);
    expect(await ids({ system: day(15) })).toHaveLength(count + 1);
    expect((await ids({ system: day(15), limit: 3 })).includes('kept')).toBe(false);
    expect(await ids({ subject: 'alice', limit: 1 })).toEqual(['kept']);
    expect(await ids({ lineage: '7' })).toEqual(['7']);
    expect(await ids({ kind: 'audit' })).toEqual([]);
  });

  law('a claim is one text, however many versions and pieces there are of it', async () => {
    const store = await openNew();
    const lineage = { object: 'sought', lineage: 'claim', asserted_from: day(1) };
    const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a', ...lineage }]);
    const pieces = [
      { fact_id: 'a', ...lineage, valid_to: day(3) },
      { fact_id: 'a::2', ...lineage, valid_from: day(5) },
    ];
    const second = changeOf(ALICE, 2, 20, pieces, first.insert.map(keyOfRow));
    await commit(store, [first]);
    await say(store, ['filler', 'filler again', 'sought too']);
    const [before] = await store.factsByText({ space, text: 'sought', subject: 'alice' });
    await commit(store, [second]);
    const found = await store.factsByText({ space, text: 'sought', subject: 'alice' });
    expect(found.map(({ fact }) => fact)).toEqual(await store.facts({ ...ALICE }));
    expect(found.map(({ score }) => score)).toEqual(Array(3).fill(before!.score));
    expect(
      await store.factsByText({ ...ALICE, text: 'sought', valid: day(6), system: 'now' }),
    ).toHaveLength(1);
  });

  law('all that is committed is found while more comes', async () => {
    const store = await openNew();
    const found = async (text: string): Promise<number> =>
      (await store.factsByText({ space, text, limit: MANY * 2 })).length;
    for (let from = 0; from < MANY; from += 100) {
      const changes = Array.from({ length: 100 }, (_, n) =>
        sayingOf(from + n, `common n${from + n}`),
      );
      expect((await Promise.all(changes.map((change) => commit(store, [change])))).length).toBe(
        100,
      );
      expect(await found(`n${from + 99}`)).toBe(1);
    }
    expect(await found('common')).toBe(MANY);
    await commit(store, [sayingOf(MANY, 'common last')]);
    expect([await found('common'), await found('last')]).toEqual([MANY + 1, 1]);
  });

  law('handles on one place find the same texts, written or indexed by either', async () => {
    const place = newPlace();
    const stores = [await openAt(place), await openAt(place)];
    const found = (by: FactLedger, text: string) => by.factsByText({ space, text, limit: 1_000 });
    for (let n = 0; n < 300; n += 1) {
      await commit(stores[n % 2]!, [sayingOf(n, `common n${n}`)]);
      if (n % 30 === 0) expect(await found(stores[(n + 1) % 2]!, `n${n}`)).toHaveLength(1);
    }
    const [here, there] = await Promise.all(stores.map((store) => found(store, 'common n7')));
    expect(here).toHaveLength(300);
    expect(there).toEqual(here);
    const erased = [{ hash: contentOf('common n7').hash, by: blobOf('by').hash }];
    await stores[0]!.commit({ ...batchOf([]), erased });
    for (const store of [...stores, await openAt(place)])
      expect(await found(store, 'n7')).toEqual([]);
  });

  law('facts of one space do not change the ranking in another space', async () => {
    const store = await openNew();
    await say(store, ['sought', 'sought filler', 'filler']);
    const before = await store.factsByText({ space, text: 'sought filler' });
    await commit(store, [
      changeOf({ ...ALICE, space: 'other' }, 1, 10, [{ fact_id: 'x', object: 'sought sought' }]),
    ]);
    // Makes a store that indexes later build the index.
    for (const each of [space, 'other']) await store.textsToEmbed('any', each, 1);
    expect(await store.factsByText({ space, text: 'sought filler' })).toEqual(before);
    expect(await store.factsByText({ space: 'other', text: 'sought filler' })).toHaveLength(1);
  });

  law('no query finds an erased text, and rankings are as if it never existed', async () => {
    for (const isIndexed of [true, false]) {
      const store = await openNew();
      await say(store, ['plain sought', 'plain', 'secretly sought']);
      const bob = { ...ALICE, subject: 'bobolink' };
      await commit(store, [changeOf(bob, 1, 10, [{ fact_id: 'bob', object: 'plain sought' }])]);
      if (isIndexed) await store.textsToEmbed('any', space, 1);
      const erased = [contentOf('secretly sought').hash, namesOf(bob).hash].map((hash) => ({
        hash,
        by: blobOf('by').hash,
      }));
      expect(await store.commit({ ...batchOf([]), erased })).toEqual(COMMITTED);
      const plain = await openNew();
      await say(plain, ['plain sought', 'plain']);
      const expected = await plain.factsByText({ space, text: 'plain sought' });
      for (const text of ['secretly', 'bobolink', 'erased', erased[0]!.hash])
        expect(await store.factsByText({ space, text, kind: 'all' })).toEqual([]);
      expect(scores(await store.factsByText({ space, text: 'plain sought' }))).toEqual(
        scores(expected),
      );
      // A text that is written after its erasure is not found either.
      await commit(store, [
        changeOf({ ...ALICE, subject: 'carol' }, 1, 10, [
          { fact_id: 'c', object: 'secretly sought' },
        ]),
      ]);
      expect(await store.factsByText({ space, text: 'secretly carol', kind: 'all' })).toEqual([]);
    }
  });

  law('an invalid text query is refused', async () => {
    const store = await openNew();
    for (const wrong of [undefined, 7, 'a\u0000', '\ud800'])
      await expect(store.factsByText({ space, text: wrong as string })).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
    for (const wrong of [
      { kind: 'x' },
      { limit: 0 },
      { valid: 'x' },
      { system: 'x' },
      { subject: 7 },
      { space: undefined },
    ])
      await expect(
        store.factsByText({ space, text: 'x', ...wrong } as FactTextQuery),
      ).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
    await expect(store.factsByText(undefined as never)).rejects.toMatchObject({
      code: 'store_invalid_input',
    });
  });

  law('while facts are rebuilt, searches find none', async () => {
    const store = await openNew();
    await say(store, ['sought']);
    async function* pages(): AsyncGenerator<readonly FactWrite[]> {
      await expect(store.factsByText({ space, text: 'sought' })).rejects.toMatchObject({
        code: 'store_facts_incomplete',
      });
      yield [sayingOf(7, 'sought again')];
    }
    await store.rebuildFacts(pages());
    expect(
      (await store.factsByText({ space, text: 'sought' })).map(({ fact }) => fact.object),
    ).toEqual(['sought again']);
  });
}

async function expectRanked(
  store: FactLedger,
  model: FactModel,
  queries: readonly FactTextQuery[],
): Promise<void> {
  for (const query of [
    ...queries,
    { space: SPACES[0]!, predicate: PREDICATES[1]!, text: 'object 1 tag', limit: 3 },
  ]) {
    const found = await store.factsByText(query);
    const expected = rankedByText(model, query);
    expect({ query, found: found.map(({ fact }) => fact) }).toEqual({
      query,
      found: expected.map(({ fact }) => fact),
    });
    // Databases compute logarithms with their own functions.
    for (const [n, { score }] of found.entries())
      expect(Math.abs(score - expected[n]!.score)).toBeLessThan(2e-6);
  }
}

async function commit(store: FactLedger, facts: readonly FactWrite[]): Promise<void> {
  expect(await store.commit({ ...batchOf([]), facts })).toEqual(COMMITTED);
}

function sayingOf(n: number, object: string): FactWrite {
  return changeOf({ ...ALICE, subject: `s ${n}` }, 1, 10, [{ fact_id: `${n}`, object }]);
}

async function say(store: FactLedger, said: readonly string[]): Promise<void> {
  for (const [n, object] of said.entries()) await commit(store, [sayingOf(n, object)]);
}

function scores(hits: readonly FactHit[]): number[] {
  return hits.map(({ score }) => score);
}
