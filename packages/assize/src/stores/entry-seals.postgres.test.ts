/** Seals: which entries a store vouches for, and what a process without the root key can add. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generateKeys } from '#canon';
import { checkRow, type EntryRow, readRow } from '#ledger';
import { cases } from '../../../../tests/support/cases.ts';
import { insertOf } from '../../../../tests/support/ledger/insert-of.ts';
import {
  ChainWriter,
  commitMembers,
  rootMembers,
  second,
} from '../../../../tests/support/ledger/rows.ts';
import { onEveryDatabase } from '../../../../tests/support/ledger/stores.ts';
import type { Store } from './index.ts';

const [first, second_, foreign] = [1, 2, 3].map(
  (seed) => generateKeys(new Uint8Array(32).fill(seed)).privateKey,
) as [string, string, string];

function chain(name: string, length: number): readonly EntryRow[] {
  const writer = new ChainWriter(name);
  writer.add('root', rootMembers({ n: 0 }));
  for (let n = 1; n < length; n++)
    writer.add('commit', {
      ...commitMembers([{ op: 'replace', path: '/n', value: n }]),
      at: second(n),
    });
  return writer.rows;
}

const add = async (store: Store, rows: readonly EntryRow[]): Promise<void> => {
  for (const row of rows)
    expect(await store.commit({ entries: [row], blobs: [] })).toEqual({ status: 'committed' });
};

/** Every way in which a row is read. */
const readsOf = async (
  store: Store,
  { id, trajectory_id, seq }: EntryRow,
): Promise<(EntryRow | undefined)[]> => [
  await store.resolve(id),
  await store.head(trajectory_id),
  (await store.entries(trajectory_id, { from: seq, limit: 1 }))[0],
  (await store.find(id.slice(0, 12)))[0],
  (await store.unlogged(100)).at(-1),
];

onEveryDatabase((stores) => {
  test('a store with a root key seals every entry, and checks it in each read', async () => {
    const place = stores.newPlace();
    const rows = chain('t', 4);
    const store = await place.open({ rootKeys: [first] });
    expect(await store.sealState()).toBe('checked');
    await add(store, rows);
    expect(await store.entries('t')).toEqual(rows);
    for (const row of await readsOf(store, rows[3]!)) expect(row).toEqual(rows[3]);
    expect(await store.commit({ entries: chain('many', 20), blobs: [] })).toEqual({
      status: 'committed',
    });
    expect((await store.entries('many')).map(({ unsealed }) => unsealed)).toEqual(
      Array(20).fill(undefined),
    );
    const reader = await place.open({ mode: 'readonly' });
    expect([await reader.sealState(), await reader.entries('t')]).toEqual(['unchecked', rows]);
  });

  test('an entry that was inserted without the root key does not verify', async () => {
    const forms = [undefined, '00'.repeat(40), 'other'] as const;
    for (const form of forms) {
      const place = stores.newPlace();
      const rows = chain('t', 4);
      const store = await place.open({ rootKeys: [first] });
      await add(store, rows.slice(0, 3));
      const [sealed] = await sealsIn(place, stores.kind);
      const forged = insertOf(rows[3]!, stores.kind, form === 'other' ? sealed : form);
      // Without a seal, the database itself refuses the row, unless its trigger is removed too.
      if (form === undefined && stores.kind === 'postgres') {
        await expect(place.sql(forged)).rejects.toThrow('needs a seal');
        continue;
      }
      await place.sql(forged);
      for (const row of await readsOf(store, rows[3]!)) {
        expect(row).toMatchObject({ id: rows[3]!.id, unsealed: expect.any(String) });
        for (const read of [checkRow, readRow])
          expect(() => read(row!)).toThrowError(expect.objectContaining({ code: 'unsealed' }));
      }
      // It is not sealed by a copy into another store.
      const other = await stores.newPlace().open({ rootKeys: [first] });
      await expect(
        other.commit({ entries: await store.entries('t'), blobs: [] }),
      ).rejects.toMatchObject({
        code: 'root_key_missing',
        message: expect.stringContaining('is not written, because it'),
      });
      expect((await store.entries('t', { limit: 3 })).map(({ unsealed }) => unsealed)).toEqual(
        Array(3).fill(undefined),
      );
    }
  });

  test('a process without the root key writes nothing into a sealed store', async () => {
    const place = stores.newPlace();
    const rows = chain('t', 3);
    const store = await place.open({ rootKeys: [first] });
    const without = await place.open();
    await add(store, rows.slice(0, 1));
    await expect(without.commit({ entries: rows.slice(1, 2), blobs: [] })).rejects.toMatchObject({
      code: 'root_key_missing',
      message: expect.stringContaining('Set ASSIZE_ROOT_KEY_FILE to the file of its root key, or'),
    });
    expect(await without.entries('t')).toEqual(rows.slice(0, 1));
    await add(store, rows.slice(1));
  });

  test('a store of before takes entries without seals until it is sealed', async () => {
    const place = stores.newPlace();
    const rows = chain('t', 6);
    const without = await place.open();
    await add(without, rows.slice(0, 2));
    const store = await place.open({ rootKeys: [first] });
    expect(await store.sealState()).toBe('absent');
    await add(store, rows.slice(2, 4));
    expect(await store.entries('t')).toEqual(rows.slice(0, 4));
    await expect(without.sealEntries()).rejects.toMatchObject({
      code: 'root_key_missing',
      message: expect.stringContaining(
        'The entries of the store need a seal, and this process has',
      ),
    });
    expect(await store.sealEntries()).toBe(2);
    expect([await store.sealState(), await store.sealEntries()]).toEqual(['checked', 0]);
    await expect(without.commit({ entries: rows.slice(4, 5), blobs: [] })).rejects.toMatchObject({
      code: 'root_key_missing',
      message: expect.stringContaining('Set ASSIZE_ROOT_KEY_FILE to the file of its root key, or'),
    });
    await add(store, rows.slice(4));
    expect(await store.entries('t')).toEqual(rows);
  });

  test('a store with a seal that lost its mark needs the others too', async () => {
    const place = stores.newPlace();
    const rows = chain('t', 4);
    const store = await place.open({ rootKeys: [first] });
    await add(store, rows.slice(0, 3));
    await store.close();
    await place.sql('DELETE FROM sealed');
    await place.sql(insertOf(rows[3]!, stores.kind, undefined));
    const reopened = await place.open({ rootKeys: [first] });
    const unsealed = async () =>
      (await reopened.entries('t')).map((row) => row.unsealed !== undefined);
    expect([await reopened.sealState(), await unsealed()]).toEqual([
      'absent',
      Array(4).fill(false),
    ]);
    expect([await reopened.requireSeals(), await unsealed()]).toEqual([
      true,
      [false, false, false, true],
    ]);
    const old = await stores.newPlace().open({ rootKeys: [first] });
    expect(await old.requireSeals()).toBe(false);
  });

  test('a change of root keys keeps the seals of the named keys alone', async () => {
    const keys = [first, second_, foreign];
    const run = fc.asyncProperty(
      fc.array(fc.nat(2), { minLength: 1, maxLength: 6 }),
      fc.subarray([0, 1, 2], { minLength: 1 }),
      async (writers, named) => {
        const place = stores.newPlace();
        const rows = chain('t', writers.length);
        for (const [n, writer] of writers.entries()) {
          const store = await place.open({ rootKeys: [keys[writer]!] });
          await add(store, [rows[n]!]);
          await store.close();
        }
        const store = await place.open({ rootKeys: named.map((n) => keys[n]!) });
        const read = (await store.entries('t')).map(({ unsealed }) => unsealed === undefined);
        expect(read).toEqual(writers.map((writer) => named.includes(writer)));
        await store.close();
      },
    );
    await fc.assert(run, { numRuns: cases(20) });
  });
});

/** The stored seals, as hex. */
async function sealsIn(place: { everything(): Promise<string> }, kind: string): Promise<string[]> {
  const text = await place.everything();
  if (kind === 'postgres')
    return [...text.matchAll(/\\\\x([0-9a-f]{80})/g)].map(([, seal]) => seal!);
  return ['ab'.repeat(40)];
}
