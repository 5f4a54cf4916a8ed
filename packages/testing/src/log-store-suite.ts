import { createHash } from 'node:crypto';
import {
  compareWithHead,
  type EntryRow,
  integrateLog,
  type LedgerStore,
  type LogStore,
  logHead,
} from 'assize/internal/ledger';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { batchOf, chainOf } from './store-rows.ts';

export interface LogStoreSuite {
  /** Part of the test titles. */
  readonly name: string;
  /** Opens the store of that place, empty the first time. */
  readonly open: (place: string) => Promise<LedgerStore & LogStore>;
  /** Deletes all places, after the last test. */
  readonly remove?: () => Promise<void>;
  /** False for a store that cannot be opened a second time. */
  readonly reopens?: boolean;
}

/**
 * The rules of every store of the Merkle log: permanent positions without gaps, and nodes as they
 * were given.
 */
export function logStoreSuite({ name, open, remove, reopens = true }: LogStoreSuite): void {
  const opened: (LedgerStore & LogStore)[] = [];
  let places = 0;
  const openAt = async (place: string): Promise<LedgerStore & LogStore> => {
    const store = await open(place);
    opened.push(store);
    return store;
  };
  const openNew = (): Promise<LedgerStore & LogStore> => openAt(`log-${++places}`);

  describe(`log store: ${name}`, () => {
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });
    afterAll(() => remove?.());

    test('an empty store has an empty log', async () => {
      const store = await openNew();
      expect(await store.logSize()).toBe(0);
      expect(await store.unlogged(10)).toEqual([]);
      expect(await store.logged(0, 10)).toEqual([]);
      expect(await store.logNodes(0, 0, 2)).toEqual([undefined, undefined]);
      expect(await store.logNodes(3, 0, 1)).toEqual([undefined]);
      expect(await store.logIndex('0'.repeat(64))).toBeUndefined();
      expect(await integrateLog(store)).toBe(0);
      expect(hex((await logHead(store)).root)).toBe(hex(naiveRoot([])));
    });

    test('entries wait in an order that later commits do not change', async () => {
      const store = await openNew();
      const [a, b] = [chainOf('a', 5), chainOf('b', 5)];
      await store.commit(batchOf(a.slice(0, 2)));
      await store.commit(batchOf([...b.slice(0, 3), ...a.slice(2, 3)]));
      const before = await store.unlogged(100);
      expect(before.map(({ id }) => id).sort()).toEqual(
        [...a.slice(0, 3), ...b.slice(0, 3)].map(({ id }) => id).sort(),
      );
      await store.commit(batchOf([...a.slice(3), ...b.slice(3)]));
      const after = await store.unlogged(100);
      expect(after.slice(0, before.length)).toEqual(before);
      expect(await store.unlogged(4)).toEqual(after.slice(0, 4));
      for (const chain of [a, b]) {
        const seqs = after
          .filter(({ trajectory_id: id }) => id === chain[0]!.trajectory_id)
          .map(({ seq }) => seq);
        expect(seqs).toEqual([0, 1, 2, 3, 4]);
      }
    });

    test('the log is the RFC 6962 tree of the payloads, at any time of integration', async () => {
      const store = await openNew();
      const chain = chainOf('t', 70);
      const logged: EntryRow[] = [];
      for (const [from, to] of [
        [0, 1],
        [1, 7],
        [7, 8],
        [8, 64],
        [64, 70],
      ] as const) {
        const rows = chain.slice(from, to);
        await store.commit(batchOf(rows));
        logged.push(...rows);
        expect(await integrateLog(store)).toBe(to);
        expect(await store.unlogged(10)).toEqual([]);
        const head = await logHead(store);
        expect([head.size, hex(head.root)]).toEqual([to, hex(naiveRoot(logged))]);
        for (const size of [0, 1, 5, 8, 63, 64].filter((count) => count <= to)) {
          const root = naiveRoot(chain.slice(0, size));
          expect(await compareWithHead(store, { size, root })).toEqual({
            stands: size === to ? 'at' : 'ahead',
            size: to,
          });
        }
      }
      expect(await store.logged(0, 100)).toEqual(chain);
      expect(await store.logged(60, 3)).toEqual(chain.slice(60, 63));
      for (const [index, { id }] of chain.entries()) expect(await store.logIndex(id)).toBe(index);
      expect(await compareWithHead(store, { size: 71, root: naiveRoot([]) })).toEqual({
        stands: 'truncated',
        size: 70,
      });
      expect(await compareWithHead(store, { size: 9, root: naiveRoot([]) })).toEqual({
        stands: 'diverged',
        size: 70,
      });
    });

    test('an entry that is committed and not logged has no place', async () => {
      const store = await openNew();
      const chain = chainOf('t', 2);
      await store.commit(batchOf(chain));
      expect(await store.logIndex(chain[0]!.id)).toBeUndefined();
      expect(await store.logged(0, 10)).toEqual([]);
    });

    test('a step for another size is refused and writes nothing', async () => {
      const store = await openNew();
      const chain = chainOf('t', 3);
      await store.commit(batchOf(chain));
      const leaf = { id: chain[0]!.id, hash: new Uint8Array(32).fill(1) };
      expect(await store.integrate({ size: 1, leaves: [leaf], nodes: [] })).toBe(false);
      expect(await store.logSize()).toBe(0);
      expect(
        await store.integrate({
          size: 0,
          leaves: [leaf],
          nodes: [{ level: 1, index: 7, hash: leaf.hash }],
        }),
      ).toBe(true);
      expect(await store.integrate({ size: 0, leaves: [leaf], nodes: [] })).toBe(false);
      expect(await store.logSize()).toBe(1);
      expect(hex((await store.logNodes(0, 0, 1))[0]!)).toBe(hex(leaf.hash));
      expect(hex((await store.logNodes(1, 7, 1))[0]!)).toBe(hex(leaf.hash));
      expect(await store.unlogged(10)).toEqual(chain.slice(1));
    });

    test('concurrent integrators give each entry one place, and the same tree', async () => {
      const place = `log-${++places}`;
      const stores = [await openAt(place)];
      if (reopens) stores.push(await openAt(place), await openAt(place));
      const chains = ['a', 'b', 'c'].map((id) => chainOf(id, 40));
      await Promise.all(
        chains.flatMap((chain, i) => [
          (async () => {
            for (const row of chain) await stores[i % stores.length]!.commit(batchOf([row]));
          })(),
          (async () => {
            for (let n = 0; n < 20; n++) await integrateLog(stores[(i + 1) % stores.length]!);
          })(),
        ]),
      );
      expect(await integrateLog(stores[0]!)).toBe(120);
      const rows = await stores[0]!.logged(0, 1_000);
      expect(new Set(rows.map(({ id }) => id)).size).toBe(120);
      expect(hex((await logHead(stores[0]!)).root)).toBe(hex(naiveRoot(rows)));
      for (const { trajectory_id: id } of chains.map((chain) => chain[0]!)) {
        expect(rows.filter((row) => row.trajectory_id === id).map(({ seq }) => seq)).toEqual(
          Array.from({ length: 40 }, (_, i) => i),
        );
      }
    });

    const why = reopens ? '' : ' (nobody can open this store a second time)';
    test.skipIf(!reopens)(`the log is there when the store is opened again${why}`, async () => {
      const place = `log-${++places}`;
      const store = await openAt(place);
      const chain = chainOf('t', 9);
      await store.commit(batchOf(chain.slice(0, 6)));
      await integrateLog(store);
      await store.commit(batchOf(chain.slice(6)));
      await store.close();
      const again = await openAt(place);
      expect(await again.logSize()).toBe(6);
      expect(await again.unlogged(10)).toEqual(chain.slice(6));
      expect(await integrateLog(again)).toBe(9);
      expect(hex((await logHead(again)).root)).toBe(hex(naiveRoot(chain)));
    });

    test('arguments that no row can hold are refused', async () => {
      const store = await openNew();
      const [row] = chainOf('t', 1);
      await store.commit(batchOf([row!]));
      const leaf = { id: row!.id, hash: new Uint8Array(32) };
      for (const step of [
        { size: -1, leaves: [], nodes: [] },
        { size: 0, leaves: [{ ...leaf, id: 'x' }], nodes: [] },
        { size: 0, leaves: [{ ...leaf, hash: new Uint8Array(31) }], nodes: [] },
        { size: 0, leaves: [leaf], nodes: [{ level: 0, index: 0, hash: leaf.hash }] },
        { size: 0, leaves: [leaf], nodes: [{ level: 1, index: 0.5, hash: leaf.hash }] },
      ]) {
        await expect(store.integrate(step)).rejects.toMatchObject({ code: 'store_invalid_input' });
      }
      await expect(store.logged(-1, 1)).rejects.toMatchObject({ code: 'store_invalid_input' });
      await expect(store.unlogged(0)).rejects.toMatchObject({ code: 'store_invalid_input' });
      expect(await store.logSize()).toBe(0);
    });
  });
}

/** RFC 6962 section 2.1, implemented literally. */
function naiveRoot(rows: readonly EntryRow[]): Uint8Array {
  const sha = (...parts: (string | Uint8Array)[]): Uint8Array => {
    const hash = createHash('sha256');
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
  if (rows.length === 0) return sha();
  if (rows.length === 1) return sha(Uint8Array.of(0), rows[0]!.payload);
  let split = 1;
  while (split * 2 < rows.length) split *= 2;
  return sha(Uint8Array.of(1), naiveRoot(rows.slice(0, split)), naiveRoot(rows.slice(split)));
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
