import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { interceptSql } from '@assize/testing/internal/intercept.ts';
import { batchOf, blobOf, chainOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { openSqlite, type SqliteStore } from '../index.ts';
import { THREAD_BYTES_MIN } from './rewrite.ts';

// A worker thread rewrites a large file.

const threads = vi.hoisted(() => ({ started: 0, fails: false, isRefused: false }));
vi.mock('node:worker_threads', async (original) => {
  const real = await original<typeof import('node:worker_threads')>();
  class Counted extends real.Worker {
    constructor(file: string | URL, options?: import('node:worker_threads').WorkerOptions) {
      threads.started++;
      if (threads.isRefused)
        throw Object.assign(new Error('Worker initialization failure: EAGAIN'), {
          code: 'ERR_WORKER_INIT_FAILED',
        });
      super(threads.fails ? new URL('./nothing-here.ts', import.meta.url) : file, options);
    }
  }
  return { ...real, Worker: Counted };
});

const root = mkdtempSync(join(tmpdir(), 'assize-rewrite-'));
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => {
  vi.restoreAllMocks();
  threads.started = 0;
  threads.fails = false;
  threads.isRefused = false;
});

const SECRET = 'zq7wkx';
const BY = 'b'.repeat(64);
const COMMITTED = { status: 'committed' };

interface Large {
  readonly path: string;
  readonly store: SqliteStore;
  readonly hash: string;
  /** The hash of a text that stays. */
  readonly other: string;
}

const newPath = (): string => join(mkdtempSync(join(root, 'store-')), 'ledger.db');

/** A store with a file of a given size, in which a text was erased. */
async function erased(bytes: number = THREAD_BYTES_MIN, lockTimeoutMs = 5_000): Promise<Large> {
  const path = newPath();
  const store = await openSqlite({ path, lockTimeoutMs });
  const secret = blobOf(SECRET.repeat(400));
  const others = Array.from({ length: 8 }, (_, n) => blobOf(`${n}`.repeat(Math.ceil(bytes / 8))));
  await store.commit(batchOf(chainOf('t', 2), [secret, ...others]));
  await store.close();
  // A copy in unused pages, like the copies that moved rows leave.
  const db = new DatabaseSync(path);
  db.exec(
    `PRAGMA secure_delete = OFF; CREATE TABLE moved (text TEXT); INSERT INTO moved VALUES ('${SECRET.repeat(400)}')`,
  );
  db.exec('DROP TABLE moved');
  db.close();
  const again = await openSqlite({ path, lockTimeoutMs });
  const { hash } = secret;
  expect(await again.commit({ entries: [], blobs: [], erased: [{ hash, by: BY }] })).toEqual(
    COMMITTED,
  );
  expect(isThere(path)).toBe(true);
  return { path, store: again, hash, other: others[0]!.hash };
}

function isThere(path: string): boolean {
  const folder = join(path, '..');
  return readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes(SECRET));
}

const entry = async (store: SqliteStore) => batchOf(entryAfter(await store.head('t'), 't'));

test('reads continue during a rewrite, and writes follow it', async () => {
  const { path, store, hash, other } = await erased();
  const here: string[] = [];
  interceptSql((sql, proceed) => {
    here.push(sql);
    return proceed();
  });
  let isOver = false;
  const scrubbed = store.scrub().then(() => {
    isOver = true;
  });
  const batch = await entry(store);
  let reads = 0;
  let committed: Promise<unknown> | undefined;
  while (!isOver) {
    expect([
      await store.blob(hash),
      await store.erasedBy(hash),
      (await store.blob(other))?.length,
    ]).toEqual([undefined, BY, THREAD_BYTES_MIN / 8]);
    if (reads++ === 2) committed = store.commit(batch);
    await turn();
  }
  await scrubbed;
  expect(await committed).toEqual(COMMITTED);
  expect(reads).toBeGreaterThan(10);
  expect(threads.started).toBe(1);
  expect(here).not.toContain('VACUUM');
  expect(isThere(path)).toBe(false);
  expect(await store.selfCheck()).toEqual([]);
  await store.close();
  expect(isThere(path)).toBe(false);
});

test('a small file is rewritten in this thread, a large one only when due', async () => {
  const { path, store } = await erased(1_000);
  await store.scrub();
  expect([threads.started, isThere(path)]).toEqual([0, false]);
  await store.close();
  const large = await erased();
  await Promise.all([large.store.scrub(), large.store.scrub()]);
  await large.store.scrub();
  expect(threads.started).toBe(1);
  await large.store.close();
});

test('a store closed during a rewrite waits for it, and for queued writes', async () => {
  const { path, store } = await erased();
  const batch = await entry(store);
  const scrubbed = store.scrub();
  const committed = store.commit(batch);
  const closed = store.close();
  await scrubbed;
  expect(await committed).toEqual(COMMITTED);
  await closed;
  expect(isThere(path)).toBe(false);
  const next = await openSqlite({ path, mode: 'readonly' });
  expect(await next.selfCheck()).toEqual([]);
  expect((await next.head('t'))?.id).toBe(batch.entries[0]?.id);
  await next.close();
});

test('a process that ends in a rewrite leaves it due for the next writable one', async () => {
  const { path, store, hash } = await erased();
  const copies: string[] = [];
  let isOver = false;
  const scrubbed = store.scrub().then(() => {
    isOver = true;
  });
  for (let n = 0; !isOver; n++) {
    await turn();
    if (isOver || n % 20 !== 0 || copies.length > 5) continue;
    const copy = newPath();
    const { mtimeNs } = statSync(path, { bigint: true });
    for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${copy}${end}`);
    // The two files are consistent only if the database was not written in between.
    if (statSync(path, { bigint: true }).mtimeNs === mtimeNs) copies.push(copy);
  }
  await scrubbed;
  await store.close();
  expect(copies.length).toBeGreaterThan(0);
  for (const copy of copies) {
    const next = await openSqlite({ path: copy });
    expect([isThere(copy), await next.blob(hash), await next.erasedBy(hash)]).toEqual([
      false,
      undefined,
      BY,
    ]);
    expect(await next.selfCheck()).toEqual([]);
    await next.close();
  }
});

test('a rewrite waits for a writer and reports that; a reader keeps the WAL', async () => {
  const { path, store } = await erased(THREAD_BYTES_MIN, 300);
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  await expect(store.scrub()).rejects.toMatchObject({
    code: 'store_not_scrubbed',
    message: expect.stringMatching(/Other processes write to the file/),
  });
  expect(await store.selfCheck()).toEqual([
    expect.stringMatching(/1 erasures may still be in the file or its WAL/),
  ]);
  other.exec('ROLLBACK; BEGIN');
  other.prepare('SELECT count(*) AS n FROM blob').get();
  await store.scrub();
  // The rewrite is in the WAL. The file keeps its old pages while a reader is active.
  const due = async () => (await store.selfCheck()).length;
  expect([await due(), isThere(path)]).toEqual([1, true]);
  other.exec('COMMIT');
  other.close();
  await vi.waitFor(async () => expect(await due()).toBe(0), { timeout: 300_000, interval: 50 });
  expect(isThere(path)).toBe(false);
  await store.close();
});

test.each(['fails', 'isRefused'] as const)(
  'where no thread is to be had it is done in this one: it %s',
  async (how) => {
    const { path, store } = await erased();
    threads[how] = true;
    await store.scrub();
    expect([threads.started, isThere(path), await store.selfCheck()]).toEqual([1, false, []]);
    await store.close();
  },
);
