import type { EntryRow, Hash, PartitionName } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { ALICE, changeOf, contentOf, day, keyOfRow, namesOf } from '../fact-rows.ts';
import { batchOf, blobOf, chainOf } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import type { FactLedger } from '../suite-types.ts';
import { COMMITTED } from './answers.ts';

const { space } = ALICE;
const BY = blobOf('eraser').hash;
const gone = (hash: Hash): string => `{"$erased":"${hash}"}`;
const SECRET = contentOf('secret').hash;
const NAMES = namesOf(ALICE).hash;
const NAMELESS: PartitionName = {
  space: gone(NAMES),
  subject: gone(NAMES),
  predicate: gone(NAMES),
};

/** An erased value is in no version of any fact. */
export function factErasingLaws({ law, newPlace, openAt, openNew }: Bench<FactLedger>): void {
  law('an object that is erased is gone from all versions, and all else stays', async () => {
    const store = await openNew();
    await believe(store);
    const before = await store.facts({ space, kind: 'all' });
    expect(before.filter(({ object }) => object === 'secret')).toHaveLength(3);
    expect(await erase(store, SECRET)).toEqual(COMMITTED);
    const after = before.map((row) =>
      row.object === 'secret' ? { ...row, object: gone(SECRET) } : row,
    );
    expect(await store.facts({ space, kind: 'all' })).toEqual(after);
    expect((await store.partition(ALICE))!.open).toEqual([
      after.findLast(({ row_kind, subject }) => row_kind === 'current' && subject === 'alice'),
    ]);
    // Erases again, and erases a value that is in no fact.
    expect(await erase(store, SECRET, contentOf('unseen').hash)).toEqual(COMMITTED);
    expect(await store.facts({ space, kind: 'all' })).toEqual(after);
    // The partition accepts further changes.
    const next = changeOf(
      ALICE,
      3,
      30,
      [{ fact_id: 'c' }],
      after.filter(({ fact_id }) => fact_id === 'b').map(keyOfRow),
    );
    expect(await store.commit({ ...batchOf([]), facts: [next] })).toEqual(COMMITTED);
  });

  law('changes that repeat erased text are outdated; branches inherit it erased', async () => {
    const store = await openNew();
    await believe(store);
    const [open] = (await store.partition(ALICE))!.open;
    await erase(store, SECRET);
    const name = { ...ALICE, branch: 'try' };
    const rows = [{ ...open!, branch: 'try', object: 'secret', content: contentOf('secret') }];
    const first = { ...changeOf(name, open!.seq + 1, 30, []), inherit: { until: day(29), rows } };
    const repeating = { ...first, repeats: [SECRET] };
    expect(await store.commit({ ...batchOf([]), facts: [repeating] })).toMatchObject({
      status: 'outdated',
    });
    expect(await store.branches()).toEqual([]);
    const other = { ...first, repeats: [contentOf('other').hash] };
    expect(await store.commit({ ...batchOf([]), facts: [other] })).toEqual(COMMITTED);
    expect(await store.facts({ space, branch: 'try' })).toEqual([
      { ...rows[0]!, object: gone(SECRET) },
    ]);
    expect(await store.partition(name)).toMatchObject({
      version: open!.seq + 1,
      since: day(29),
      latest: day(30),
    });
    // The branch has started already: another start is outdated, for any version.
    expect(await store.commit({ ...batchOf([]), facts: [other] })).toMatchObject({
      status: 'outdated',
    });
  });

  law('a batch that repeats an erased text is outdated and writes nothing', async () => {
    const store = await openNew();
    await believe(store);
    const [first, second, third, last] = chainOf('asks', 4) as [
      EntryRow,
      EntryRow,
      EntryRow,
      EntryRow,
    ];
    const quoting = (row: EntryRow) => ({
      ...batchOf(row, [blobOf(row.id)]),
      repeats: [contentOf('unseen').hash, SECRET],
    });
    expect(await store.commit(quoting(first))).toEqual(COMMITTED);
    await erase(store, SECRET);
    for (let n = 0; n < 2; n++)
      expect(await store.commit(quoting(second))).toEqual({ status: 'outdated' });
    expect(await store.blob(blobOf(second.id).hash)).toBeUndefined();
    expect(await store.head('asks')).toEqual(first);
    // Concurrent with changes of facts, with changes that follow the erasure, and with the erasure
    // of another value.
    const other = { hash: contentOf('other').hash, by: BY };
    const bystander = changeOf({ ...ALICE, subject: 'dora' }, 1, 10, [{ fact_id: 'd' }]);
    const answers = await Promise.all([
      store.commit({ ...batchOf(second), facts: [bystander] }),
      store.commit(quoting(third)),
      store.commit({ ...batchOf([]), erased: [other] }),
      store.commit({ ...batchOf(third), repeats: [other.hash] }),
      store.commit({ ...batchOf(third), repeats: [contentOf('unseen').hash] }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([
      'committed',
      'outdated',
      'committed',
      'outdated',
      'committed',
    ]);
    const more = { hash: contentOf('more').hash, by: BY };
    const inOrder = [
      store.commit({ ...batchOf(last), repeats: [more.hash] }),
      store.commit({ ...batchOf([]), erased: [more] }),
    ];
    expect(await Promise.all(inOrder)).toEqual([COMMITTED, COMMITTED]);
    expect(await store.entries('asks')).toEqual([first, second, third, last]);
  });

  law('a value that was erased before its write is stored as erased', async () => {
    const store = await openNew();
    await erase(store, SECRET);
    const change = (subject: string, id: string) =>
      changeOf({ ...ALICE, subject }, 1, 10, [{ fact_id: id, object: 'secret' }]);
    const facts = [change('alice', 'a')];
    // In the erasing batch, before and after it, and next to other queued batches.
    const erasing = { ...batchOf([]), erased: [{ hash: contentOf('other').hash, by: BY }] };
    const other = changeOf({ ...ALICE, subject: 'bob' }, 1, 10, [
      { fact_id: 'b', object: 'other' },
    ]);
    const later = changeOf({ ...ALICE, subject: 'carol' }, 1, 10, [
      { fact_id: 'c', object: 'other' },
    ]);
    await Promise.all([
      store.commit({ ...batchOf([]), facts }),
      store.commit({ ...erasing, facts: [other] }),
      store.commit({ ...batchOf([]), facts: [later] }),
    ]);
    const other_ = gone(contentOf('other').hash);
    expect((await store.facts({ space })).map(({ object }) => object)).toEqual([
      gone(SECRET),
      other_,
      other_,
    ]);
  });

  law('erased names are gone from their partition, and the partition stays one', async () => {
    const place = newPlace();
    const store = await openAt(place);
    await believe(store);
    const before = await store.facts({ ...ALICE, kind: 'all' });
    const others = await store.facts({ space, subject: 'bob', kind: 'all' });
    expect(await erase(store, NAMES)).toEqual(COMMITTED);
    const after = before.map((row) => ({ ...row, ...NAMELESS }));
    expect(await store.partition(ALICE)).toBeUndefined();
    expect(await store.partition(NAMELESS)).toMatchObject({
      names: namesOf(ALICE),
      version: 2,
      latest: day(20),
    });
    expect(await store.facts({ space, kind: 'all' })).toEqual(others);
    expect(await store.facts({ space: NAMELESS.space, kind: 'all' })).toEqual(after);
    expect(await store.spaces()).toEqual([space, NAMELESS.space]);
    // A change that uses the erased names refers to the same partition and its version.
    const next = (version: number) =>
      changeOf(
        ALICE,
        version,
        30,
        [{ fact_id: 'c', valid_to: day(2) }],
        [keyOfRow(before.find(({ fact_id }) => fact_id === 'b')!)],
      );
    expect(await store.commit({ ...batchOf([]), facts: [next(1)] })).toEqual({
      status: 'outdated',
      partition: ALICE,
    });
    expect(await store.commit({ ...batchOf([]), facts: [next(3)] })).toEqual(COMMITTED);
    expect((await store.partition(NAMELESS))!.open).toMatchObject([{ ...NAMELESS, fact_id: 'c' }]);
    expect(await store.partition(ALICE)).toBeUndefined();
    // Twice in one batch, with two forms of the names.
    const nothing = changeOf(ALICE, 4, 40, []);
    const twice = [nothing, { ...nothing, partition: NAMELESS }];
    await expect(store.commit({ ...batchOf([]), facts: twice })).rejects.toMatchObject({
      code: 'store_invalid_input',
    });
    expect(await store.commit({ ...batchOf([]), facts: [nothing] })).toEqual(COMMITTED);
  });

  law('a partition is changed and erased in one batch', async () => {
    const store = await openNew();
    await believe(store);
    const open = (await store.partition(ALICE))!.open;
    const change = changeOf(ALICE, 3, 30, [{ fact_id: 'c', object: 'secret' }], open.map(keyOfRow));
    const erased = [NAMES, SECRET].map((hash) => ({ hash, by: BY }));
    expect(await store.commit({ ...batchOf([]), facts: [change], erased })).toEqual(COMMITTED);
    expect(await store.partition(ALICE)).toBeUndefined();
    const state = (await store.partition(NAMELESS))!;
    expect(state).toMatchObject({
      version: 3,
      open: [{ ...NAMELESS, fact_id: 'c', object: gone(SECRET) }],
    });
    const text = JSON.stringify(await store.facts({ space: NAMELESS.space, kind: 'all' }));
    for (const secret of ['secret"', 'alice', 'medication', 'clinic'])
      expect(text).not.toContain(secret);
  });

  law('a partition with names erased before its first write has no names', async () => {
    const store = await openNew();
    await erase(store, NAMES);
    expect(
      await store.commit({ ...batchOf([]), facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a' }])] }),
    ).toEqual(COMMITTED);
    expect(await store.spaces()).toEqual([NAMELESS.space]);
    expect(await store.facts({ ...NAMELESS })).toMatchObject([{ ...NAMELESS, fact_id: 'a' }]);
  });
}

/** Two versions of a fact about alice, an audit row, and a fact about bob with the same text. */
async function believe(store: FactLedger): Promise<void> {
  const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a', object: 'secret' }]);
  const more = [{ fact_id: 'b' }, { fact_id: 'z', row_kind: 'audit' as const, object: 'secret' }];
  const second = changeOf(ALICE, 2, 20, more, first.insert.map(keyOfRow));
  const bob = changeOf({ ...ALICE, subject: 'bob' }, 1, 10, [{ fact_id: 'bob', object: 'secret' }]);
  for (const facts of [[first, bob], [second]])
    expect(await store.commit({ ...batchOf([]), facts })).toEqual(COMMITTED);
}

function erase(store: FactLedger, ...hashes: readonly Hash[]) {
  return store.commit({ ...batchOf([]), erased: hashes.map((hash) => ({ hash, by: BY })) });
}
