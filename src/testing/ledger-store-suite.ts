import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { CommitResult, EntryRow, LedgerStore } from '#ledger';
import type { OracleRow, OracleStore } from '#oracle';
import { generatedCalls, StoreModel } from './store-model.ts';
import { batchOf, blobOf, chainOf, entryAfter, entryAt } from './store-rows.ts';

export type StoreUnderTest = LedgerStore & OracleStore;

export interface LedgerStoreSuite {
  /** Stands in the names of the tests. */
  readonly name: string;
  /** Opens the store of that place, empty the first time. Opening a place again gives what was committed there. */
  readonly open: (place: string) => Promise<StoreUnderTest>;
  /** Frees all places, after the last test. */
  readonly remove?: () => Promise<void>;
  /** Tests that the store can't pass, by name, each with why. A name that no test has is an error. */
  readonly skip?: readonly { readonly test: string; readonly reason: string }[];
}

/** Properties run so often; each run opens a store of its own. */
const RUNS = 60;

/**
 * What every store has to keep: compare-and-set without gaps, batches whole or not at all, rows exactly as given, one
 * answer an oracle key, and a close that loses nothing. Run it in a test file of the store.
 */
export function ledgerStoreSuite({ name, open, remove, skip = [] }: LedgerStoreSuite): void {
  const skipped = new Map(skip.map(({ test: title, reason }) => [title, reason]));
  const opened: StoreUnderTest[] = [];
  let places = 0;

  const newPlace = (): string => `place-${++places}`;
  const openAt = async (place: string): Promise<StoreUnderTest> => {
    const store = await open(place);
    opened.push(store);
    return store;
  };
  const openNew = (): Promise<StoreUnderTest> => openAt(newPlace());

  function law(title: string, check: () => Promise<void>): void {
    const reason = skipped.get(title);
    skipped.delete(title);
    if (reason === undefined) test(title, check);
    else test.skip(`${title} (${reason})`, check);
  }

  describe(`ledger store: ${name}`, () => {
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });
    afterAll(() => remove?.());

    law('an empty store has nothing', async () => {
      const store = await openNew();
      expect(await store.trajectories()).toEqual([]);
      expect(await store.head('t')).toBeUndefined();
      expect(await store.entries('t')).toEqual([]);
      expect(await store.resolve('0'.repeat(64))).toBeUndefined();
      expect(await store.blob('0'.repeat(64))).toBeUndefined();
      expect(await store.find('00000000')).toEqual([]);
      expect(await store.oracleGet('0'.repeat(64))).toBeUndefined();
    });

    law('rows come back exactly as given', async () => {
      const store = await openNew();
      for (const text of AWKWARD_TEXTS) {
        const row = { ...entryAfter(undefined, text, text), payload: text };
        const blob = { ...blobOf(text), text };
        expect(await store.commit(batchOf(row, [blob]))).toEqual({ status: 'committed' });
        expect(await store.head(text)).toEqual(row);
        expect(await store.entries(text)).toEqual([row]);
        expect(await store.resolve(row.id)).toEqual(row);
        expect(await store.find(row.id)).toEqual([row]);
        expect(await store.blob(blob.hash)).toBe(text);
      }
      expect((await store.trajectories()).map((info) => info.trajectory_id)).toEqual(AWKWARD_TEXTS);
    });

    law('an entry goes only after the head it names', async () => {
      const store = await openNew();
      const [first, second, third] = chainOf('t', 3) as [EntryRow, EntryRow, EntryRow];
      await store.commit(batchOf([first, second]));
      const wrong: readonly EntryRow[] = [
        entryAt('t', 0, null, 'another root'),
        entryAt('t', 1, first.id, 'a fork'),
        entryAt('t', 2, first.id, 'the wrong parent'),
        entryAt('t', 2, null, 'no parent'),
        entryAt('t', 3, third.id, 'a gap'),
        entryAt('t', 3, second.id, 'a gap under the head'),
        entryAt('new', 0, first.id, 'a root with a parent'),
        entryAt('new', 1, first.id, 'no root'),
        second,
      ];
      for (const row of wrong) expect(await store.commit(batchOf(row))).toEqual(conflictAt(row));
      expect(await store.entries('t')).toEqual([first, second]);
      expect(await store.trajectories()).toEqual([{ trajectory_id: 't', entries: 2, head: second.id }]);
      expect(await store.commit(batchOf(third))).toEqual({ status: 'committed' });
    });

    law('of 100 that append to one head, one is committed and 99 are conflicts', async () => {
      const store = await openNew();
      let head: EntryRow | undefined;
      for (let round = 0; round < 3; round += 1) {
        const rivals = Array.from({ length: 100 }, (_, note) => entryAfter(head, 't', note));
        const results = await Promise.all(rivals.map((row) => store.commit(batchOf(row))));
        expect(results.filter(({ status }) => status === 'committed')).toHaveLength(1);
        expect(results.filter(({ status }) => status === 'conflict')).toHaveLength(99);
        head = await store.head('t');
        expect(head).toEqual(rivals[results.findIndex(({ status }) => status === 'committed')]);
      }
      expect((await store.entries('t')).map((row) => row.seq)).toEqual([0, 1, 2]);
    });

    law('an empty batch changes nothing', async () => {
      const store = await openNew();
      expect(await store.commit(batchOf([]))).toEqual({ status: 'committed' });
      expect(await store.trajectories()).toEqual([]);
    });

    law('an id is in the store once, wherever it is', async () => {
      const store = await openNew();
      const [first, second] = chainOf('t', 2) as [EntryRow, EntryRow];
      await store.commit(batchOf([first, second]));
      const copy = { ...entryAfter(undefined, 'u'), id: second.id };
      const lost = blobOf('lost with its batch');
      const [before, after] = [entryAfter(undefined, 'before'), entryAfter(undefined, 'after')];
      const results = await Promise.all([
        store.commit(batchOf(before)),
        store.commit(batchOf([entryAfter(undefined, 'v'), copy], [lost])),
        store.commit(batchOf(after)),
      ]);
      expect(results).toEqual([{ status: 'committed' }, conflictAt(copy), { status: 'committed' }]);
      expect((await store.trajectories()).map((info) => info.trajectory_id)).toEqual(['t', 'before', 'after']);
      expect(await store.blob(lost.hash)).toBeUndefined();
      const twice = entryAfter(undefined, 'w');
      const again = { ...entryAfter(twice, 'w'), id: twice.id };
      expect(await store.commit(batchOf([twice, again]))).toEqual(conflictAt(again));
      expect(await store.head('w')).toBeUndefined();
    });

    law('a batch is written whole or not at all', async () => {
      const store = await openNew();
      const taken = entryAfter(undefined, 'taken');
      await store.commit(batchOf(taken));
      const rival = entryAfter(undefined, 'taken', 'rival');
      const blob = blobOf('blob');
      expect(await store.commit(batchOf([...chainOf('fresh', 2), rival], [blob]))).toEqual(conflictAt(rival));
      expect(await store.head('fresh')).toBeUndefined();
      expect(await store.blob(blob.hash)).toBeUndefined();
    });

    law('a batch may go back and forth between trajectories', async () => {
      const store = await openNew();
      const [a, b] = [chainOf('a', 3), chainOf('b', 3)];
      const mixed = [a[0]!, b[0]!, a[1]!, a[2]!, b[1]!, b[2]!];
      expect(await store.commit(batchOf(mixed))).toEqual({ status: 'committed' });
      expect(await store.entries('a')).toEqual(a);
      expect(await store.entries('b')).toEqual(b);
    });

    law('a batch may build on one that still waits', async () => {
      const store = await openNew();
      const chain = chainOf('t', 50);
      const results = await Promise.all(chain.map((row) => store.commit(batchOf(row))));
      expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['committed']));
      expect(await store.entries('t')).toEqual(chain);
    });

    law('when a waiting batch fails, those that build on it are conflicts', async () => {
      const store = await openNew();
      const root = entryAfter(undefined, 't');
      await store.commit(batchOf(root));
      const winner = entryAfter(root, 't', 'winner');
      const loser = entryAfter(root, 't', 'loser');
      const afterLoser = entryAfter(loser, 't');
      const rows = [winner, loser, afterLoser, entryAfter(afterLoser, 't'), entryAfter(winner, 't')];
      const results = await Promise.all(rows.map((row) => store.commit(batchOf(row))));
      expect(results).toEqual([{ status: 'committed' }, ...rows.slice(1, 4).map(conflictAt), { status: 'committed' }]);
    });

    law('reads do not see what still waits', async () => {
      const store = await openNew();
      const row = entryAfter(undefined, 't');
      const blob = blobOf('blob');
      const waiting = store.commit(batchOf(row, [blob]));
      const reads = await Promise.all([store.head('t'), store.resolve(row.id), store.blob(blob.hash)]);
      expect(reads).toEqual([undefined, undefined, undefined]);
      await waiting;
      expect(await store.head('t')).toEqual(row);
    });

    law('a blob is stored once and stays as it was first', async () => {
      const store = await openNew();
      const blob = blobOf('first');
      const [a, b] = chainOf('t', 2) as [EntryRow, EntryRow];
      await store.commit(batchOf(a, [blob, blob]));
      expect(await store.commit(batchOf(b, [{ ...blob, text: 'second' }]))).toEqual({ status: 'committed' });
      expect(await store.blob(blob.hash)).toBe('first');
      const alone = blobOf('without an entry');
      expect(await store.commit(batchOf([], [alone]))).toEqual({ status: 'committed' });
      expect(await store.blob(alone.hash)).toBe(alone.text);
    });

    law('entries come in pages, in order', async () => {
      const store = await openNew();
      const chain = chainOf('t', 1_001);
      await store.commit(batchOf(chain));
      expect(await store.entries('t')).toEqual(chain.slice(0, 1_000));
      expect(await store.entries('t', { from: 998 })).toEqual(chain.slice(998));
      expect(await store.entries('t', { from: 3, limit: 2 })).toEqual(chain.slice(3, 5));
      expect(await store.entries('t', { limit: 2_000 })).toEqual(chain);
      expect(await store.entries('t', { from: 1_001 })).toEqual([]);
      expect(await store.entries('u', { from: 0 })).toEqual([]);
    });

    law('trajectories are listed in order of creation', async () => {
      const store = await openNew();
      const chains = ['z', 'a', 'm'].map((trajectory, index) => chainOf(trajectory, index + 1));
      for (const chain of chains) await store.commit(batchOf(chain));
      const expected = chains.map((chain) => ({
        trajectory_id: chain[0]!.trajectory_id,
        entries: chain.length,
        head: chain.at(-1)!.id,
      }));
      expect(await store.trajectories()).toEqual(expected);
    });

    law('an entry is found by the beginning of its id', async () => {
      const store = await openNew();
      const ids = ['00000000', 'abcdef00', 'abcdef01', 'abcdef010', 'ffffffff'].map((id) => id.padEnd(64, '5'));
      const rows = ids.map((id, index) => ({ ...entryAfter(undefined, `t${index}`), id }));
      for (const row of rows) await store.commit(batchOf(row));
      expect(await store.find('00000000')).toEqual([rows[0]]);
      expect(await store.find('FFFFFFFF')).toEqual([rows[4]]);
      expect(await store.find('abcdef00')).toEqual([rows[1]]);
      expect(await store.find('abcdef015')).toEqual([rows[2]]);
      expect(await store.find('abcdef02')).toEqual([]);
      const ambiguous = await store.find('abcdef01');
      expect(new Set(ambiguous)).toEqual(new Set([rows[2], rows[3]]));
      for (const prefix of ['', 'abcdef0', 'abcdef0g', `${ids[1]}0`, 'abcdef0%']) {
        await expect(store.find(prefix)).rejects.toMatchObject({ code: 'store_invalid_input' });
      }
    });

    law('what no row can hold is refused, and nothing is written', async () => {
      const store = await openNew();
      const row = entryAfter(undefined, 't');
      const blob = blobOf('blob');
      const wrongRows: readonly object[] = [
        { id: '' },
        { id: row.id.slice(1) },
        { id: `${row.id}00` },
        { id: `${row.id.slice(2)}zz` },
        { id: row.id.replace(/[0-9]/, 'A') },
        { id: 7 },
        { seq: -1 },
        { seq: 0.5 },
        { seq: Number.NaN },
        { seq: 2 ** 53 },
        { kind: 'rumour' },
        { trajectory_id: '\ud800' },
        { trajectory_id: undefined },
        { payload: 'half a pair \udfff' },
        { payload: 'a\0b' },
        { payload: null },
      ];
      for (const wrong of wrongRows) {
        const batch = batchOf([row, { ...entryAfter(row, 't'), ...wrong } as EntryRow], [blob]);
        await expect(store.commit(batch), JSON.stringify(wrong)).rejects.toMatchObject({ code: 'store_invalid_input' });
      }
      for (const wrong of [{ hash: 'x' }, { text: '\ud800' }, { text: 1 }]) {
        const batch = batchOf(row, [{ ...blob, ...wrong } as typeof blob]);
        await expect(store.commit(batch), JSON.stringify(wrong)).rejects.toMatchObject({ code: 'store_invalid_input' });
      }
      const calls: readonly (() => Promise<unknown>)[] = [
        () => store.resolve('abc'),
        () => store.blob(''),
        () => store.head('\ud800'),
        () => store.entries('t', { from: -1 }),
        () => store.entries('t', { limit: 0 }),
        () => store.entries('t', { limit: 1.5 }),
        () => store.oracleGet('abc'),
        () => store.oraclePut({ key: 'abc', answer: '1', at: 'now' }),
        () => store.oraclePut({ key: row.id, answer: '\ud800', at: 'now' }),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'store_invalid_input' });
      expect(await store.trajectories()).toEqual([]);
      expect(await store.blob(blob.hash)).toBeUndefined();
      expect(await store.oracleGet(row.id)).toBeUndefined();
    });

    law('any interleaving of batches gives what a plain model gives', async () => {
      await fc.assert(
        fc.asyncProperty(generatedCalls, async (calls) => {
          const store = await openNew();
          const model = new StoreModel();
          const answers: [Promise<CommitResult>, CommitResult, readonly EntryRow[]][] = [];
          for (const call of calls) {
            const batch = model.batch(call);
            answers.push([store.commit(batch), model.commit(batch), batch.entries]);
            if (call.thenWaits) await answers.at(-1)![0];
          }
          for (const [answer, expected, rows] of answers) expectSameAnswer(await answer, expected, rows);
          await expectSameContent(store, model);
          await store.close();
        }),
        { numRuns: RUNS },
      );
    });

    law('the first answer of the oracle stays', async () => {
      const store = await openNew();
      const first: OracleRow = { key: 'a'.repeat(64), answer: '{"said":"yes"}', at: '2026-03-23T09:00:00.000000Z' };
      expect(await store.oraclePut(first)).toEqual(first);
      expect(await store.oraclePut({ ...first, answer: '"no"', at: 'later' })).toEqual(first);
      expect(await store.oracleGet(first.key)).toEqual(first);
      expect(await store.oracleGet('b'.repeat(64))).toBeUndefined();
    });

    law('of 50 that answer one question at once, all get the same answer', async () => {
      const store = await openNew();
      const rows = Array.from({ length: 50 }, (_, n) => ({ key: 'a'.repeat(64), answer: `${n}`, at: `${n}` }));
      const kept = await Promise.all(rows.map((row) => store.oraclePut(row)));
      const inStore = await store.oracleGet('a'.repeat(64));
      expect(rows).toContainEqual(inStore);
      for (const row of kept) expect(row).toEqual(inStore);
    });

    law('close waits for what is queued, and may be called twice', async () => {
      const store = await openNew();
      const waiting = chainOf('t', 20).map((row) => store.commit(batchOf(row)));
      const answer = store.oraclePut({ key: 'a'.repeat(64), answer: '1', at: 'now' });
      await Promise.all([store.close(), store.close()]);
      await store.close();
      expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set(['committed']));
      expect(await answer).toMatchObject({ answer: '1' });
    });

    law('a closed store refuses every call', async () => {
      const store = await openNew();
      const row = entryAfter(undefined, 't');
      const closing = store.close();
      const calls: readonly (() => Promise<unknown>)[] = [
        () => store.commit(batchOf(row)),
        () => store.commit(batchOf([])),
        () => store.resolve(row.id),
        () => store.entries('t'),
        () => store.head('t'),
        () => store.trajectories(),
        () => store.blob(row.id),
        () => store.find(row.id),
        () => store.oracleGet(row.id),
        () => store.oraclePut({ key: row.id, answer: '1', at: 'now' }),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'store_closed' });
      await closing;
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'store_closed' });
    });

    law('a store opened again has all that was committed', async () => {
      const place = newPlace();
      const before = await openAt(place);
      const [z, a] = [chainOf('z', 3), chainOf('a', 2)];
      const blob = blobOf('blob');
      const answer: OracleRow = { key: 'a'.repeat(64), answer: '1', at: 'now' };
      await Promise.all([before.commit(batchOf(z, [blob])), before.commit(batchOf(a)), before.oraclePut(answer)]);
      await before.close();
      const after = await openAt(place);
      expect((await after.trajectories()).map((info) => info.trajectory_id)).toEqual(['z', 'a']);
      expect(await after.entries('z')).toEqual(z);
      expect(await after.blob(blob.hash)).toBe('blob');
      expect(await after.oracleGet(answer.key)).toEqual(answer);
      const stale = entryAfter(z[1], 'z', 'stale');
      expect(await after.commit(batchOf(stale))).toEqual(conflictAt(stale));
      expect(await after.commit(batchOf(entryAfter(z[2], 'z')))).toEqual({ status: 'committed' });
    });

    law('two handles on one place see and stop each other', async () => {
      const place = newPlace();
      const [left, right] = [await openAt(place), await openAt(place)];
      const root = entryAfter(undefined, 't');
      expect(await left.commit(batchOf(root))).toEqual({ status: 'committed' });
      expect(await right.head('t')).toEqual(root);
      const fromRight = entryAfter(root, 't', 'right');
      expect(await right.commit(batchOf(fromRight))).toEqual({ status: 'committed' });
      const fromLeft = entryAfter(fromRight, 't', 'left');
      expect(await left.commit(batchOf(fromLeft))).toEqual({ status: 'committed' });
      const stale = entryAfter(fromRight, 't', 'right again');
      expect(await right.commit(batchOf(stale))).toEqual(conflictAt(stale));
      expect(await left.head('t')).toEqual(fromLeft);
      const key = 'a'.repeat(64);
      const puts = [left, right].map((store, n) => store.oraclePut({ key, answer: `${n}`, at: 'now' }));
      const [one, other] = await Promise.all(puts);
      expect(one).toEqual(other);
    });

    law('two handles that race leave one chain', async () => {
      const place = newPlace();
      const stores = [await openAt(place), await openAt(place)];
      const write = async (store: StoreUnderTest, who: number): Promise<string[]> => {
        const committed: string[] = [];
        while (committed.length < 25) {
          const row = entryAfter(await store.head('t'), 't', [who, committed.length]);
          if ((await store.commit(batchOf(row))).status === 'committed') committed.push(row.id);
        }
        return committed;
      };
      const committed = (await Promise.all(stores.map(write))).flat();
      const entries = await stores[0]!.entries('t');
      expect(entries.map((row) => row.seq)).toEqual(entries.map((_, index) => index));
      expect(entries.map((row) => row.parent)).toEqual([null, ...entries.slice(0, -1).map((row) => row.id)]);
      expect(new Set(entries.map((row) => row.id))).toEqual(new Set(committed));
    });

    if (skipped.size > 0) throw new Error(`the suite has no test named: ${[...skipped.keys()].join('; ')}`);
  });
}

const AWKWARD_TEXTS: readonly string[] = [
  '{"a":1}',
  '',
  ' ',
  "'; DROP TABLE entry; --",
  '%_"`[]\\',
  'caf\u00e9',
  'cafe\u0301',
  'CAFE\u0301',
  '\u{1f600}\u200d\u2028\ufeff\uffff',
  '\n\r\t\u0001\u007f',
  'x'.repeat(100_000),
];

function conflictAt({ trajectory_id, seq }: EntryRow): CommitResult {
  return { status: 'conflict', trajectory_id, seq };
}

// Where a batch has several faults, which of them is named is left to the store.
function expectSameAnswer(actual: CommitResult, expected: CommitResult, rows: readonly EntryRow[]): void {
  expect(actual.status).toBe(expected.status);
  if (actual.status === 'conflict') expect(rows.map(conflictAt)).toContainEqual(actual);
}

async function expectSameContent(store: StoreUnderTest, model: StoreModel): Promise<void> {
  const listed = await store.trajectories();
  expect(listed.map((info) => info.trajectory_id)).toEqual(model.trajectories);
  for (const { trajectory_id, entries, head } of listed) {
    const expected = model.of(trajectory_id);
    expect(await store.entries(trajectory_id)).toEqual(expected);
    expect({ entries, head }).toEqual({ entries: expected.length, head: expected.at(-1)!.id });
  }
  for (const [key, text] of model.blobs) expect(await store.blob(key)).toBe(text);
}
