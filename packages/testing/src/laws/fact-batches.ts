import type { EntryRow, FactWrite } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { ALICE, changeOf, day, keyOfRow } from '../fact-rows.ts';
import { batchOf, blobOf, chainOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import type { FactLedger } from '../suite-types.ts';
import { COMMITTED, conflictAt } from './answers.ts';

const BOB = { ...ALICE, subject: 'bob' };
const OUTDATED = { status: 'outdated', partition: ALICE };

/** Facts are written together with the entries that they come from, or neither is written. */
export function factBatchLaws({ law, openNew }: Bench<FactLedger>): void {
  law('facts are written with their batch', async () => {
    const store = await openNew();
    const rows = chainOf('t', 3) as [EntryRow, EntryRow, EntryRow];
    const blob = blobOf('blob');
    const changes = replacing(3);
    const answers = await Promise.all(
      rows.map((row, n) => store.commit({ ...batchOf(row, [blob]), facts: [changes[n]!] })),
    );
    expect(answers).toEqual([COMMITTED, COMMITTED, COMMITTED]);
    expect(await store.entries('t')).toEqual(rows);
    expect(await store.partition(ALICE)).toMatchObject({ version: 3, open: changes[2]!.insert });
    expect(await store.blob(blob.hash)).toBe(blob.text);
  });

  law('a batch of many partitions is written whole', async () => {
    const store = await openNew();
    const facts = Array.from({ length: 40 }, (_, n) =>
      changeOf({ ...ALICE, subject: `${(n * 7) % 40}` }, 1, 10, [
        { fact_id: `${n}` },
        { fact_id: `${n} audit`, row_kind: 'audit' },
      ]),
    );
    expect(await store.commit({ ...batchOf([]), facts })).toEqual(COMMITTED);
    expect(await store.facts({ space: ALICE.space, kind: 'all' })).toHaveLength(80);
    const second = facts.map(({ partition, insert }) =>
      changeOf(partition, 2, 11, [], insert.slice(0, 1).map(keyOfRow)),
    );
    const stale = { ...second[39]!, version: 1 };
    expect(
      await store.commit({ ...batchOf([]), facts: [...second.slice(0, 39), stale] }),
    ).toMatchObject({
      status: 'outdated',
      partition: stale.partition,
    });
    expect(await store.facts({ space: ALICE.space, system: 'now' })).toHaveLength(40);
    expect(await store.commit({ ...batchOf([]), facts: second })).toEqual(COMMITTED);
    expect(await store.facts({ space: ALICE.space, system: 'now' })).toEqual([]);
  });

  law('a conflict writes no facts', async () => {
    const store = await openNew();
    const [first, second] = chainOf('t', 2) as [EntryRow, EntryRow];
    await store.commit(batchOf([first, second]));
    const [change, next] = replacing(2) as [FactWrite, FactWrite];
    const rival = entryAfter(first, 't', 'rival');
    expect(await store.commit({ ...batchOf(rival), facts: [change] })).toEqual(conflictAt(rival));
    // An id that is in another trajectory. Some stores detect this only during the write.
    const copy = { ...entryAfter(undefined, 'u'), id: first.id };
    const both = { ...batchOf([entryAfter(undefined, 'v'), copy]), facts: [change] };
    const together = [
      store.commit({ ...batchOf([]), facts: [changeOf(BOB, 1, 10, [{ fact_id: 'bob' }])] }),
      store.commit(both),
      store.commit({ ...batchOf([]), facts: [next] }),
    ];
    expect(await Promise.all(together)).toEqual([COMMITTED, conflictAt(copy), OUTDATED]);
    expect(await store.partition(ALICE)).toBeUndefined();
    expect(await store.partition(BOB)).toMatchObject({ version: 1 });
    expect(await store.commit({ ...batchOf([]), facts: [change] })).toEqual(COMMITTED);
  });

  law('a batch with outdated facts writes nothing', async () => {
    const store = await openNew();
    const [change] = replacing(1) as [FactWrite];
    const [root] = chainOf('t', 1) as [EntryRow];
    const [blob, gone] = [blobOf('blob'), blobOf('gone')];
    await store.commit({ ...batchOf([], [gone]), facts: [change] });
    const bob = changeOf(BOB, 1, 10, [{ fact_id: 'bob' }]);
    const batch = {
      ...batchOf(root, [blob]),
      erased: [{ hash: gone.hash, by: root.id }],
      facts: [bob, change],
    };
    expect(await store.commit(batch)).toEqual(OUTDATED);
    expect([
      await store.head('t'),
      await store.blob(blob.hash),
      await store.partition(BOB),
    ]).toEqual(Array(3).fill(undefined));
    expect([await store.blob(gone.hash), await store.erasedBy(gone.hash)]).toEqual([
      gone.text,
      undefined,
    ]);
    expect(await store.commit({ ...batch, facts: [bob] })).toEqual(COMMITTED);
    expect(await store.head('t')).toEqual(root);
  });

  law('a batch that waits may build on facts of those that wait before it', async () => {
    const store = await openNew();
    const changes = replacing(12);
    const answers = await Promise.all(
      changes.map((change, n) => {
        const bob = changeOf(BOB, n + 1, 10 + n, [], []);
        return store.commit({ ...batchOf([]), facts: n % 2 === 0 ? [change, bob] : [bob, change] });
      }),
    );
    expect(answers).toEqual(changes.map(() => COMMITTED));
    expect(await store.partition(ALICE)).toMatchObject({ version: 12, open: changes[11]!.insert });
    expect(await store.partition(BOB)).toMatchObject({ version: 12, open: [] });
    const rows = await store.facts({ space: ALICE.space });
    const ended = changes.map(({ insert: [row] }, n) => ({
      ...row,
      ...(n < 11 && { system_time_end: day(11 + n) }),
    }));
    expect(rows).toEqual(ended);
  });

  law('batches that build on facts of a refused queued batch are outdated', async () => {
    const store = await openNew();
    const [first, second, third] = replacing(3) as [FactWrite, FactWrite, FactWrite];
    const misuse = {
      ...second,
      close: [...second.close, { fact_id: 'nobody', system_time_start: day(1) }],
    };
    const answers = await Promise.allSettled([
      store.commit({ ...batchOf([]), facts: [first] }),
      store.commit({ ...batchOf([]), facts: [misuse] }),
      store.commit({ ...batchOf([]), facts: [third] }),
      store.commit({ ...batchOf([]), facts: [{ ...first, partition: BOB, insert: [] }, first] }),
      store.commit({ ...batchOf([]), facts: [second] }),
      store.commit({ ...batchOf([]), facts: [third] }),
    ]);
    expect(answers).toMatchObject([
      { value: COMMITTED },
      { reason: { code: 'store_invalid_input' } },
      { value: OUTDATED },
      { value: OUTDATED },
      { value: COMMITTED },
      { value: COMMITTED },
    ]);
    expect(await store.partition(ALICE)).toMatchObject({ version: 3 });
    expect(await store.partition(BOB)).toBeUndefined();
  });

  law('no facts are nothing to write', async () => {
    const store = await openNew();
    expect(await store.commit({ ...batchOf([]), facts: [] })).toEqual(COMMITTED);
    expect(await store.commit({ ...batchOf(entryAfter(undefined, 't')), facts: [] })).toEqual(
      COMMITTED,
    );
    expect(await store.spaces()).toEqual([]);
  });
}

/** Changes that each close the fact of the previous one. */
function replacing(count: number): FactWrite[] {
  const changes: FactWrite[] = [];
  for (let n = 0; n < count; n += 1)
    changes.push(
      changeOf(
        ALICE,
        n + 1,
        10 + n,
        [{ fact_id: `${n}` }],
        changes.at(-1)?.insert.map(keyOfRow) ?? [],
      ),
    );
  return changes;
}
