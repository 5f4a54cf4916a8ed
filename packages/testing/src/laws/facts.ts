import type { FactVersion, PartitionName } from 'assize/internal/ledger';
import { OPEN_END, OPEN_START } from 'assize/internal/memory';
import { expect } from 'vitest';
import { ALICE, changeOf, day, keyOfRow, namesOf } from '../fact-rows.ts';
import { batchOf } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import type { FactLedger } from '../suite-types.ts';
import { COMMITTED } from './answers.ts';
import { AWKWARD_TEXTS, LOOKALIKES, longText } from './texts.ts';

const { space } = ALICE;

/** Written facts are stored, and queries find them by names and times. */
export function factLaws({ law, newPlace, openAt, openNew }: Bench<FactLedger>): void {
  law('an empty store has no facts', async () => {
    const store = await openNew();
    expect(await store.partition(ALICE)).toBeUndefined();
    expect(await store.facts({ space })).toEqual([]);
    expect(await store.facts({ ...ALICE, valid: day(1), system: 'now', limit: 1 })).toEqual([]);
    expect(await store.spaces()).toEqual([]);
  });

  law('facts are read by valid and system time, and past facts stay readable', async () => {
    const store = await openNew();
    const first = changeOf(ALICE, 1, 10, [{ fact_id: 'penicillin' }]);
    // Another value from the fifth day on; the rest of the first value stays.
    const second = changeOf(
      ALICE,
      2,
      20,
      [
        { fact_id: 'penicillin', valid_to: day(5) },
        { fact_id: 'amoxicillin', valid_from: day(5) },
        { fact_id: 'audit', row_kind: 'audit', resolution_id: 'r', valid_from: day(5) },
      ],
      first.insert.map(keyOfRow),
    );
    for (const facts of [[first], [second]])
      expect(await store.commit({ ...batchOf([]), facts })).toEqual(COMMITTED);
    const closed = { ...first.insert[0]!, system_time_end: day(20) };
    const [rest, next, audit] = second.insert as [FactVersion, FactVersion, FactVersion];
    expect(await store.partition(ALICE)).toEqual({
      names: namesOf(ALICE),
      version: 2,
      latest: day(20),
      open: [rest, next],
    });
    const at = (valid: string, system: string, limit?: number) =>
      store.facts({ ...ALICE, valid, system, ...(limit && { limit }) });
    for (const limit of [undefined, 1, 5]) {
      expect(await at(day(7), 'now', limit)).toEqual([next]);
      expect(await at(day(4), 'now', limit)).toEqual([rest]);
      expect(await at(day(5), day(20), limit)).toEqual([next]);
      expect(await at(day(7), day(19), limit)).toEqual([closed]);
      expect(await at(day(1), day(10), limit)).toEqual([closed]);
      expect(await at(day(7), day(9), limit)).toEqual([]);
      expect(await at(OPEN_START, 'now', limit)).toEqual([]);
    }
    expect(await store.facts({ space })).toEqual([closed, rest, next]);
    expect(await store.facts({ space, kind: 'audit', system: 'now' })).toEqual([audit]);
    expect(await store.facts({ space, kind: 'all' })).toEqual(
      [closed, rest, audit, next].sort(byId),
    );
    expect(await store.facts({ space, lineage: 'penicillin' })).toEqual([closed, rest]);
    expect(await store.facts({ space: 'Clinic' })).toEqual([]);
    expect(await store.spaces()).toEqual([space]);
    // Earlier facts are read as before after all facts are retracted.
    const third = changeOf(ALICE, 3, 30, [], [rest, next].map(keyOfRow));
    expect(await store.commit({ ...batchOf([]), facts: [third] })).toEqual(COMMITTED);
    const ended = (row: FactVersion): FactVersion => ({ ...row, system_time_end: day(30) });
    for (const limit of [undefined, 1, 5]) {
      expect(await at(day(5), 'now', limit)).toEqual([]);
      expect(await at(day(5), day(30), limit)).toEqual([]);
      expect(await at(day(5), day(29), limit)).toEqual([ended(next)]);
      expect(await at(day(4), day(20), limit)).toEqual([ended(rest)]);
      expect(await at(day(5), day(19), limit)).toEqual([closed]);
    }
  });

  law('rows of facts come back exactly as given', async () => {
    const store = await openNew();
    const texts = [...AWKWARD_TEXTS, longText(300_000)];
    for (const [n, text] of texts.entries()) {
      const partition = {
        space: text.slice(0, 200),
        subject: text.slice(0, 300),
        predicate: LOOKALIKES[n % LOOKALIKES.length]!,
      };
      const open = {
        valid_from: OPEN_START,
        valid_to: OPEN_END,
        asserted_from: OPEN_START,
        confidence: 0.1 + 0.2,
      };
      const change = changeOf(partition, 1, 10, [
        {
          fact_id: text.slice(0, 300),
          object: text,
          provenance_id: text,
          lineage: text.slice(0, 300),
          resolution_id: text,
          ...open,
        },
        {
          fact_id: 'audit',
          row_kind: 'audit',
          confidence: 0,
          asserted_seq: 2 ** 53 - 1,
          resolution_strategy_id: text.slice(0, 300),
        },
      ]);
      const facts = [change];
      expect(await store.commit({ ...batchOf([]), facts })).toEqual(COMMITTED);
      const [current] = (await store.partition(partition))!.open as [FactVersion];
      // Compared by `===` first: a printed diff of long strings would take minutes.
      expect([current.object === text, current.provenance_id === text]).toEqual([true, true]);
      expect(current).toEqual(change.insert[0]);
      expect(await store.facts({ ...partition, kind: 'audit' })).toEqual([change.insert[1]]);
    }
    expect(new Set(await store.spaces())).toEqual(new Set(texts.map((text) => text.slice(0, 200))));
  });

  law('there is one zero', async () => {
    const store = await openNew();
    await store.commit({
      ...batchOf([]),
      facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a', confidence: -0 }])],
    });
    expect((await store.facts({ space }))[0]!.confidence).toBe(0);
  });

  law('spaces, and facts paged by subject, predicate, sort in code-point order', async () => {
    const store = await openNew();
    // UTF-16 sorts U+1F600 before U+FFFF, and a language sorts é next to e.
    const texts = ['', 'Z', 'a', 'e', 'f', 'é', '\uffff', '\u{1f600}', '\u{1f601}'];
    const partitions: PartitionName[] = texts.flatMap((subject) =>
      texts.slice(2, 5).map((predicate) => ({ space, subject, predicate })),
    );
    const facts = partitions.map((partition, n) =>
      changeOf(partition, 1, 10, [
        { fact_id: `b${n}` },
        { fact_id: `a${n}`, row_kind: 'audit', valid_from: day(2) },
      ]),
    );
    await store.commit({ ...batchOf([]), facts: facts.toReversed() });
    for (const text of texts)
      await store.commit({
        ...batchOf([]),
        facts: [changeOf({ ...ALICE, space: text }, 1, 10, [{ fact_id: 'a' }])],
      });
    expect(await store.spaces()).toEqual(
      [...texts, space].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    const expected = facts.flatMap(({ insert }) => insert);
    expect(await store.facts({ space, kind: 'all' })).toEqual(expected);
    for (const limit of [1, 4, 54]) {
      const found: FactVersion[] = [];
      for (let page = await store.facts({ space, kind: 'all', limit }); page.length > 0; ) {
        expect(page.length).toBeLessThanOrEqual(limit);
        found.push(...page);
        page = await store.facts({ space, kind: 'all', limit, after: page.at(-1)! });
      }
      expect(found).toEqual(expected);
    }
    expect(await store.facts({ space, subject: 'é', after: expected[0]! })).toHaveLength(3);
    expect(await store.facts({ space, predicate: 'a', after: expected.at(-1)! })).toEqual([]);
  });

  law('an invalid fact query or partition name is refused', async () => {
    const store = await openNew();
    const wrong: unknown[] = [
      undefined,
      null,
      7,
      {},
      { space: 7 },
      { space: '\ud800' },
      { space, subject: 7 },
    ];
    for (const more of [
      { kind: 'both' },
      { valid: 'now' },
      { valid: OPEN_END },
      { system: OPEN_END },
      { system: 7 },
      { limit: 0 },
    ])
      wrong.push({ space, ...more });
    for (const more of [
      { limit: 1.5 },
      { limit: '1' },
      { after: 7 },
      { after: {} },
      { lineage: 'a\0' },
      { predicate: null },
    ])
      wrong.push({ space, ...more });
    for (const query of wrong)
      await expect(store.facts(query as never)).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
    for (const name of [
      undefined,
      null,
      {},
      { ...ALICE, space: 7 },
      { ...ALICE, subject: undefined },
      { ...ALICE, predicate: 'a\0' },
    ])
      await expect(store.partition(name as never)).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
  });

  law('a later mutation of passed or returned facts changes no stored fact', async () => {
    const store = await openNew();
    const given = changeOf(ALICE, 1, 10, [{ fact_id: 'a' }]);
    const mine = structuredClone(given);
    await store.commit({ ...batchOf([]), facts: [mine] });
    Reflect.set(mine.names, 'bytes', 99);
    Reflect.set(mine.insert[0]!, 'object', 'other');
    Reflect.set(mine.insert[0]!.content, 'bytes', 99);
    for (let round = 0; round < 2; round += 1) {
      const state = (await store.partition(ALICE))!;
      const rows = await store.facts({ space });
      expect([state.names, ...state.open, ...rows]).toEqual([
        namesOf(ALICE),
        ...given.insert,
        ...given.insert,
      ]);
      for (const row of [...state.open, ...rows]) {
        Reflect.set(row, 'object', 'other');
        Reflect.set(row.content, 'bytes', 99);
      }
      Reflect.set(state.names, 'bytes', 99);
      Reflect.set(state, 'version', 99);
      Reflect.set(state.open, 0, 'other');
    }
    expect((await store.partition(ALICE))!.version).toBe(1);
  });

  law('reads see all committed facts', async () => {
    const store = await openNew();
    const committing = store.commit({
      ...batchOf([]),
      facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a' }])],
    });
    expect(await store.facts({ space })).toSatisfy((rows: unknown[]) => rows.length <= 1);
    expect(await committing).toEqual(COMMITTED);
    expect(await store.facts({ space })).toHaveLength(1);
  });

  law('a store opened again has the facts, and those that close still took', async () => {
    const place = newPlace();
    const store = await openAt(place);
    const [first, second] = [
      changeOf(ALICE, 1, 10, [{ fact_id: 'a', valid_to: day(5) }]),
      changeOf(ALICE, 2, 11, [{ fact_id: 'b', valid_from: day(5) }]),
    ];
    await store.commit({ ...batchOf([]), facts: [first] });
    const committing = store.commit({ ...batchOf([]), facts: [second] });
    await store.close();
    expect(await committing).toEqual(COMMITTED);
    const again = await openAt(place);
    expect(await again.partition(ALICE)).toMatchObject({
      version: 2,
      latest: day(11),
      open: [...first.insert, ...second.insert],
    });
    expect(await again.facts({ space })).toEqual([...first.insert, ...second.insert]);
  });

  law('two handles on one place have the same facts, and outdate each other', async () => {
    const place = newPlace();
    const [left, right] = [await openAt(place), await openAt(place)];
    const change = (version: number, fact_id: string) =>
      changeOf(ALICE, version, 10 + version, [
        { fact_id, valid_from: day(2 * version), valid_to: day(2 * version + 1) },
      ]);
    const put = (store: FactLedger, version: number, id: string) =>
      store.commit({ ...batchOf([]), facts: [change(version, id)] });
    expect(await put(left, 1, 'a')).toEqual(COMMITTED);
    expect(await put(right, 1, 'b')).toEqual({ status: 'outdated', partition: ALICE });
    expect(await put(right, 2, 'b')).toEqual(COMMITTED);
    expect(await put(left, 2, 'c')).toEqual({ status: 'outdated', partition: ALICE });
    expect(await put(left, 3, 'c')).toEqual(COMMITTED);
    for (const store of [left, right]) {
      expect((await store.partition(ALICE))?.version).toBe(3);
      expect((await store.facts({ space })).map(({ fact_id }) => fact_id)).toEqual(['a', 'b', 'c']);
    }
  });

  law('a closed store refuses facts', async () => {
    const store = await openNew();
    await store.close();
    async function* pages() {}
    for (const call of [
      () => store.partition(ALICE),
      () => store.facts({ space }),
      () => store.spaces(),
      () => store.rebuildFacts(pages()),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'store_closed' });
  });
}

function byId(a: FactVersion, b: FactVersion): number {
  const key = (row: FactVersion): string =>
    `${row.system_time_start} ${row.valid_from} ${row.fact_id}`;
  return key(a) < key(b) ? -1 : 1;
}
