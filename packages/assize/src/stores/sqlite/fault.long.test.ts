import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ALICE, changeOf, contentOf, keyOfRow } from '@assize/testing/internal/fact-rows.ts';
import { interceptSql, sqliteError } from '@assize/testing/internal/intercept.ts';
import { batchOf, blobOf, chainOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import type { Batch, CommitResult, EntryRow } from '#ledger';
import { OPEN_END } from '#memory';
import type { OracleRow } from '#oracle';
import { IDLE_MS, PART } from './facts/indexing.ts';
import { openSqlite, type SqliteStore } from './index.ts';
import { CHECKPOINT_PAGES } from './writer/group-commit.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-fault-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

/** `lost`: the statement runs, and its answer is lost. */
type Fault = { readonly at: number; readonly when: 'before' | 'lost'; readonly errcode: number };

/**
 * Makes the n-th statement from now on fail as in SQLite. Returns a function that counts the
 * statements.
 */
function inject({ at, when, errcode }: Fault): () => number {
  let count = 0;
  interceptSql((_, proceed) => {
    count += 1;
    if (count !== at) return proceed();
    try {
      if (when === 'lost') proceed();
    } catch {
      // The statement's own error is lost too.
    }
    throw sqliteError(errcode);
  });
  return () => count;
}

const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a' }]);
const second = changeOf(ALICE, 2, 11, [{ fact_id: 'b' }], first.insert.map(keyOfRow));
const third = changeOf(ALICE, 3, 12, [], second.insert.map(keyOfRow));
const bob = changeOf({ ...ALICE, subject: 'bob' }, 1, 10, [
  { fact_id: 'bob', cardinality: 'multi-valued' },
]);
const erased = [{ hash: contentOf(first.insert[0]!.object).hash, by: 'b'.repeat(64) }];

/**
 * Writes two groups of batches. They include a conflict, a duplicate id, blobs, changes of facts
 * with one outdated change, an erasure and an oracle answer.
 */
async function write(
  store: SqliteStore,
): Promise<{ batches: Batch[]; results: CommitResult[]; put: unknown }> {
  const [t, u] = [chainOf('t', 6), chainOf('u', 4)];
  const groups: Batch[][] = [
    [
      { ...batchOf(t.slice(0, 2), [blobOf('t')]), facts: [first] },
      batchOf(u.slice(0, 1)),
      { ...batchOf(t.slice(2, 4)), facts: [second] },
    ],
    [
      { ...batchOf(t.slice(4, 6)), facts: [third, bob] },
      batchOf({ ...entryAfter(undefined, 'copy'), id: t[0]!.id }),
      batchOf(entryAfter(t[3], 't', 'rival')),
      { ...batchOf(entryAfter(undefined, 'v')), facts: [first] },
      { ...batchOf(u.slice(1), [blobOf('u')]), erased },
    ],
  ];
  const results: CommitResult[] = [];
  let put: unknown;
  for (const group of groups) {
    const answers = Promise.all(group.map((batch) => store.commit(batch).catch(poisonedOnly)));
    const answer = store.oraclePut(ANSWER).catch((error: unknown) => error);
    results.push(...(await answers));
    put = await answer;
  }
  return { batches: groups.flat(), results, put };
}

const ANSWER: OracleRow = { key: 'a'.repeat(64), answer: '1', at: 'now' };

// The result of a commit after the poisoning. The refusal is a definite answer.
function poisonedOnly(error: { code?: string }): CommitResult {
  if (error.code !== 'store_poisoned') throw error;
  return { status: 'conflict', trajectory_id: 'refused', seq: 0 };
}

async function present(store: SqliteStore, batch: Batch): Promise<boolean> {
  const found = await Promise.all(batch.entries.map((row) => store.resolve(row.id)));
  const there = found.filter(
    (row, index) => row?.trajectory_id === batch.entries[index]!.trajectory_id,
  );
  if (there.length !== 0) expect(there).toEqual(batch.entries);
  for (const blob of batch.blobs)
    expect(await store.blob(blob.hash)).toBe(there.length === 0 ? undefined : blob.text);
  const isThere = there.length !== 0;
  // The facts of a refused batch can equal the facts of another batch.
  if (batch.entries[0]!.trajectory_id !== 'v') await expectFacts(store, batch, isThere);
  return isThere;
}

async function expectFacts(
  store: SqliteStore,
  { facts = [], erased = [] }: Batch,
  isThere: boolean,
): Promise<void> {
  for (const { partition, version, insert, close } of facts) {
    expect(((await store.partition(partition))?.version ?? 0) >= version).toBe(isThere);
    const rows = await store.facts(partition);
    const ids = rows.map(({ fact_id }) => fact_id);
    for (const row of insert) expect(ids.includes(row.fact_id)).toBe(isThere);
    for (const key of close) {
      const row = rows.find(({ fact_id }) => fact_id === key.fact_id);
      if (row !== undefined) expect(row.system_time_end < OPEN_END).toBe(isThere);
    }
  }
  for (const { hash } of erased) {
    const [row] = await store.facts({ ...ALICE, lineage: 'a' });
    if (row !== undefined) expect(row.object === `{"$erased":"${hash}"}`).toBe(isThere);
  }
}

async function expectChain(store: SqliteStore, name: string): Promise<void> {
  const rows = await store.entries(name);
  const shape = ({ seq, parent }: EntryRow): unknown => ({ seq, parent });
  expect(rows.map(shape)).toEqual(
    rows.map((_, seq) => ({ seq, parent: seq === 0 ? null : rows[seq - 1]!.id })),
  );
}

test('a full disk at each statement in turn: nothing written, and writes go on', async () => {
  let at = 0;
  for (let fired = true; fired; ) {
    at += 1;
    const path = join(folder, `full-${at}.db`);
    const store = await openSqlite({ path });
    const count = inject({ at, when: 'before', errcode: 13 });
    const t = chainOf('t', 4);
    const batches = [
      batchOf(t.slice(0, 2), [blobOf('t')]),
      { ...batchOf(t.slice(2)), facts: [first] },
    ];
    const results = await Promise.all(
      batches.map((batch) => store.commit(batch).catch((error: unknown) => error)),
    );
    fired = count() >= at;
    vi.restoreAllMocks();
    for (const [index, batch] of batches.entries()) {
      const result = results[index] as CommitResult & { code?: string };
      if (result instanceof Error)
        expect(result).toMatchObject({ code: 'store_failed', retryable: true });
      expect({ at, index, there: await present(store, batch) }).toEqual({
        at,
        index,
        there: !(result instanceof Error),
      });
      if (result instanceof Error)
        expect(await store.commit(batch)).toEqual({ status: 'committed' });
    }
    await expectChain(store, 't');
    expect(await store.selfCheck()).toEqual([]);
    await store.close();
  }
  expect(at).toBeGreaterThan(10);
});

describe('a failed statement poisons the handle; a reopened store has the writes', () => {
  const IOERR_FSYNC = 10 | (4 << 8);
  const IOERR_SHMSIZE = 10 | (19 << 8);
  const faults = [
    ['before', IOERR_FSYNC],
    ['lost', IOERR_SHMSIZE],
  ] as const;
  for (const [when, errcode] of faults) {
    test(`${when}, code ${errcode}, at each statement in turn`, async () => {
      let at = 0;
      for (let fired = true; fired; ) {
        at += 1;
        const path = join(folder, `${when}-${errcode}-${at}.db`);
        const store = await openSqlite({ path });
        const count = inject({ at, when, errcode });
        const { batches, results, put } = await write(store);
        fired = count() >= at;
        vi.restoreAllMocks();
        if (fired) await expectPoisoned(store);
        await store.close();
        const reopened = await openSqlite({ path });
        for (const [index, batch] of batches.entries()) {
          const { status } = results[index]!;
          const there = await present(reopened, batch);
          if (status !== 'unknown')
            expect({ at, index, there }).toEqual({ at, index, there: status === 'committed' });
        }
        for (const name of ['t', 'u']) await expectChain(reopened, name);
        if (put instanceof Error) expect(put).toMatchObject({ code: 'store_poisoned' });
        else expect(await reopened.oracleGet(ANSWER.key)).toEqual(ANSWER);
        expect(await reopened.selfCheck()).toEqual([]);
        const head = await reopened.head('t');
        expect(await reopened.commit(batchOf(entryAfter(head, 't', 'goes on')))).toEqual({
          status: 'committed',
        });
        await reopened.close();
      }
      expect(at).toBeGreaterThan(20);
    });
  }
});

async function expectPoisoned(store: SqliteStore): Promise<void> {
  const row = entryAfter(undefined, 'later');
  const calls: readonly (() => Promise<unknown>)[] = [
    () => store.commit(batchOf(row)),
    () => store.commit(batchOf([])),
    () => store.head('t'),
    () => store.trajectories(),
    () => store.oracleGet(ANSWER.key),
    () => store.oraclePut(ANSWER),
  ];
  for (const call of calls) {
    await expect(call()).rejects.toMatchObject({
      code: 'store_poisoned',
      cause: { message: 'injected' },
    });
  }
}

test('a poisoned handle has released the file immediately', async () => {
  const path = join(folder, 'released.db');
  const store = await openSqlite({ path });
  inject({ at: 3, when: 'before', errcode: 10 });
  expect(await store.commit(batchOf(entryAfter(undefined, 't')))).toMatchObject({
    status: 'unknown',
    cause: { code: 'store_poisoned', evidence: { path, sqlite: 10 } },
  });
  vi.restoreAllMocks();
  const other = await openSqlite({ path, lockTimeoutMs: 0 });
  expect(await other.commit(batchOf(entryAfter(undefined, 't')))).toEqual({ status: 'committed' });
  await other.close();
});

test('a failed read does not poison', async () => {
  const store = await openSqlite({ path: join(folder, 'read.db') });
  inject({ at: 1, when: 'before', errcode: 10 });
  await expect(store.head('t')).rejects.toMatchObject({
    code: 'store_failed',
    evidence: { sqlite: 10 },
  });
  vi.restoreAllMocks();
  expect(await store.commit(batchOf(entryAfter(undefined, 't')))).toEqual({ status: 'committed' });
  await store.close();
});

test('a failed checkpoint poisons, with any waiters, after earlier answers', async () => {
  const path = join(folder, 'checkpoint.db');
  const store = await openSqlite({ path });
  interceptSql((sql, proceed) => {
    if (sql.includes('wal_checkpoint')) throw sqliteError(10);
    return proceed();
  });
  const chain = chainOf('t', CHECKPOINT_PAGES * 1.5);
  expect(await store.commit(batchOf(chain))).toEqual({ status: 'committed' });
  await vi.waitFor(
    () => expect(store.head('t')).rejects.toMatchObject({ code: 'store_poisoned' }),
    {
      timeout: 300_000,
    },
  );
  await expect(store.commit(batchOf(entryAfter(chain.at(-1), 't')))).rejects.toMatchObject({
    code: 'store_poisoned',
  });
  vi.restoreAllMocks();
  await store.close();
  const reopened = await openSqlite({ path });
  expect(await reopened.head('t')).toEqual(chain.at(-1));
  await reopened.close();
});

test('a checkpoint without disk space is postponed until there is space', async () => {
  const FULL = 13;
  const path = join(folder, 'no-room-for-a-checkpoint.db');
  const store = await openSqlite({ path });
  let [refused, done, isFull] = [0, 0, true];
  interceptSql((sql, proceed) => {
    if (!sql.includes('wal_checkpoint')) return proceed();
    if (isFull) {
      refused += 1;
      throw sqliteError(FULL);
    }
    done += 1;
    return proceed();
  });
  const chain = chainOf('t', 4 * CHECKPOINT_PAGES);
  const part = (n: number): EntryRow[] =>
    chain.slice(n * CHECKPOINT_PAGES, (n + 1) * CHECKPOINT_PAGES);
  for (const n of [0, 1]) {
    const before = refused;
    expect(await store.commit(batchOf(part(n)))).toEqual({ status: 'committed' });
    // The store retries only after the same number of new pages, and not continuously.
    await vi.waitFor(() => expect(refused).toBeGreaterThan(before), { timeout: 300_000 });
  }
  isFull = false;
  for (const n of [2, 3])
    expect(await store.commit(batchOf(part(n)))).toEqual({ status: 'committed' });
  await vi.waitFor(() => expect(done).toBeGreaterThan(0), { timeout: 300_000 });
  expect(await store.head('t')).toEqual(chain.at(-1));
  vi.restoreAllMocks();
  await store.close();
  const reopened = await openSqlite({ path });
  expect(await reopened.head('t')).toEqual(chain.at(-1));
  expect(await reopened.selfCheck()).toEqual([]);
  await reopened.close();
});

test('a write that fails while more is queued for the index: closing ends', async () => {
  const store = await openSqlite({ path: join(folder, 'indexing.db') });
  // Commits of the batch, of one full part of its indexing, and of the next part.
  let commits = 0;
  interceptSql((sql, proceed) => {
    if (sql === 'COMMIT' && ++commits > 2) throw sqliteError(10);
    return proceed();
  });
  const facts = Array.from({ length: PART + 100 }, (_, n) =>
    changeOf({ ...ALICE, subject: `patient ${n}` }, 1, 10, [{ fact_id: `claim ${n}` }]),
  );
  expect(await store.commit({ ...batchOf([]), facts })).toEqual({ status: 'committed' });
  while (commits < 2) await new Promise(setImmediate);
  // The commit is refused if the rest is indexed before it and fails.
  const answer = await store.commit(batchOf(entryAfter(undefined, 't'))).catch(poisonedOnly);
  expect(['unknown', 'conflict']).toContain(answer.status);
  // Longer than the store leaves queued texts alone.
  await sleep(3 * IDLE_MS);
  await store.close();
});

test('a close that fails says so, and nothing is lost', async () => {
  const path = join(folder, 'close.db');
  const store = await openSqlite({ path });
  const row = entryAfter(undefined, 't');
  await store.commit(batchOf(row));
  inject({ at: 1, when: 'before', errcode: 10 });
  await expect(store.close()).rejects.toMatchObject({ code: 'store_failed' });
  vi.restoreAllMocks();
  const reopened = await openSqlite({ path });
  expect(await reopened.head('t')).toEqual(row);
  await reopened.close();
});

test('a full disk is reported with a remedy, at opening and at a write', async () => {
  const FULL = 13;
  const path = join(folder, 'no-room.db');
  const store = await openSqlite({ path });
  inject({ at: 1, when: 'before', errcode: FULL });
  await expect(store.commit(batchOf(entryAfter(undefined, 't')))).rejects.toMatchObject({
    code: 'store_failed',
    retryable: true,
    message: `${path} is on a full disk. Free space and try again.`,
  });
  vi.restoreAllMocks();
  await store.close();
  inject({ at: 4, when: 'before', errcode: FULL });
  await expect(openSqlite({ path })).rejects.toMatchObject({
    code: 'store_failed',
    retryable: true,
    message: `${path} is on a full disk. Free space and try again.`,
  });
});
