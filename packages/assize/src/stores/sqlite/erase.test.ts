import { hash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { changeOf, contentOf, keyOfRow, namesOf } from '@assize/testing/internal/fact-rows.ts';
import { seededNumbers } from '@assize/testing/internal/faults.ts';
import { interceptSql, sqliteError } from '@assize/testing/internal/intercept.ts';
import { batchOf, blobOf, chainOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import type { FactWrite, PartitionName } from '#ledger';
import { unit } from '../vectors.ts';
import { openSqlite, type SqliteStore } from './index.ts';
import { CUT_PAUSE_MS } from './writer/group-commit.ts';

const root = mkdtempSync(join(tmpdir(), 'assize-erase-'));
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

/** The prefix of every word to erase. An index can keep the prefix of a word. */
const SECRET = 'zq7wkx';
const VECTOR = Float32Array.of(0.9, -0.3, 0.7, 0.1);
const COMMITTED = { status: 'committed' };
const BY = 'b'.repeat(64);

function newPath(): string {
  return join(mkdtempSync(join(root, 'store-')), 'ledger.db');
}

/** Whether the bytes are in any file of the folder: the database, its WAL or any other file. */
function isThere(path: string, bytes: string | Buffer = SECRET): boolean {
  const folder = join(path, '..');
  return readdirSync(folder).some((name) => {
    const file = readFileSync(join(folder, name));
    return typeof bytes === 'string'
      ? file.toString('latin1').toLowerCase().includes(bytes)
      : file.includes(bytes);
  });
}

async function erase(
  store: SqliteStore,
  hashes: readonly string[],
  by: string = BY,
): Promise<void> {
  const erased = hashes.map((hash) => ({ hash, by }));
  expect(await store.commit({ entries: [], blobs: [], erased })).toEqual(COMMITTED);
}

function bytesOf(vector: Float32Array): Buffer {
  return Buffer.from(unit(vector).buffer);
}

async function embedAll(store: SqliteStore): Promise<void> {
  for (;;) {
    const texts = await store.textsToEmbed('model', 'ward', 100);
    if (texts.length === 0) return;
    const vectors = texts.map(({ id, text }) => ({
      id,
      vector: text.includes(SECRET) ? VECTOR : VECTOR.map((x) => -x),
    }));
    await store.putVectors('model', vectors);
  }
}

function shuffled<T>(list: readonly T[], below: (bound: number) => number): T[] {
  const keyed = list.map((each) => ({ each, key: below(2 ** 30) }));
  return keyed.sort((a, b) => a.key - b.key).map(({ each }) => each);
}

/**
 * Prefixes that sort words of each list before, between and after words of the other list. Pages of
 * an index start with either.
 */
const BEGINNINGS = {
  secret: [SECRET, `a${SECRET}`, `m${SECRET}`],
  plain: ['zr', 'b', 'mzr', 'mzp', 'zp', 'plain '],
};

function wordsOf(
  kind: keyof typeof BEGINNINGS,
  count: number,
  below: (bound: number) => number,
): string {
  const beginnings = BEGINNINGS[kind];
  return Array.from(
    { length: count },
    () => `${beginnings[below(beginnings.length)]}${below(1e6)}`,
  ).join(' ');
}

test.each([3, 4])('no byte of many erased rows is left among other rows: seed %i', async (seed) => {
  const below = seededNumbers(seed);
  const often = 1 + below(9);
  const path = newPath();
  const store = await openSqlite({ path, durability: 'off' });
  const chain = chainOf('t', 3);
  await store.commit(batchOf(chain[0]!));
  const gone: string[] = [];
  const facts: FactWrite[] = [];
  for (let n = 0; n < 700; n += 1) {
    const isSecret = below(10) < often;
    const some = (count: number): string => wordsOf(isSecret ? 'secret' : 'plain', count, below);
    const partition: PartitionName = {
      space: 'ward',
      subject: `${some(1)} ${n}`,
      predicate: some(1 + below(3)),
    };
    const filler = some(1 + below(n % 50 === 0 ? 600 : 12));
    const first = changeOf(partition, 1, 1 + n, [{ fact_id: `a${n}`, object: filler }]);
    facts.push(first);
    if (below(3) === 0)
      facts.push(
        changeOf(
          partition,
          2,
          800 + n,
          [{ fact_id: `b${n}`, object: `${filler}twice` }],
          first.insert.map(keyOfRow),
        ),
      );
    const blob = blobOf(`blob ${filler}`);
    await store.commit({ entries: [], blobs: [blob] });
    if (!isSecret) continue;
    gone.push(
      blob.hash,
      namesOf(partition).hash,
      contentOf(filler).hash,
      contentOf(`${filler}twice`).hash,
    );
  }
  // In random order, so pages split in the middle. In several commits, so pages split repeatedly.
  const last = facts.filter(({ version }) => version > 1);
  for (const change of [
    ...shuffled(
      facts.filter(({ version }) => version === 1),
      below,
    ),
    ...last,
  ])
    expect(await store.commit({ entries: [], blobs: [], facts: [change] })).toEqual(COMMITTED);
  const text = `{"a":"${SECRET.repeat(2_000)}"}`;
  await store.putSnapshot({ trajectory_id: 't', seq: 0, hash: hash('sha256', text), text }, 0);
  await embedAll(store);
  expect(isThere(path)).toBe(true);
  expect(isThere(path, bytesOf(VECTOR))).toBe(true);
  for (let at = 0; at < gone.length; at += 900) await erase(store, gone.slice(at, at + 900));
  await store.scrub();
  // When the call answers, not some time later.
  expect(isThere(path)).toBe(false);
  expect(isThere(path, bytesOf(VECTOR))).toBe(false);
  expect(await store.selfCheck()).toEqual([]);
  expect(await store.factsByText({ space: 'ward', text: 'plain', limit: 5 })).toHaveLength(5);
  expect((await store.facts({ space: 'ward' })).length).toBeGreaterThan(0);
  await store.commit(batchOf(chain.slice(1)));
  await store.close();
  expect(isThere(path)).toBe(false);
});

test('nor of an answer that is erased, by itself', async () => {
  const path = newPath();
  const store = await openSqlite({ path });
  const { hash: key } = blobOf('question');
  await store.oraclePut({ key, answer: SECRET, at: 'now' });
  expect(isThere(path)).toBe(true);
  await store.commit({ ...batchOf([]), erasedAnswers: [{ key, by: key }] });
  await store.scrub();
  expect(isThere(path)).toBe(false);
  await store.close();
});

async function withSecret(path: string): Promise<{ store: SqliteStore; hash: string }> {
  const store = await openSqlite({ path });
  const blob = blobOf(SECRET.repeat(400));
  await store.commit(batchOf(chainOf('t', 2), [blob]));
  return { store, hash: blob.hash };
}

test('bytes that a reader uses stay in the WAL until it ends; writes continue', async () => {
  const path = newPath();
  const { store, hash } = await withSecret(path);
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN');
  expect(reader.prepare('SELECT count(*) AS n FROM blob').get()).toEqual({ n: 1 });
  await erase(store, [hash]);
  await store.scrub();
  expect(isThere(path)).toBe(true);
  expect(await store.selfCheck()).toEqual([
    expect.stringMatching(/1 erasures may still be in the file or its WAL/),
  ]);
  const head = await store.head('t');
  expect(await store.commit(batchOf(entryAfter(head, 't')))).toEqual(COMMITTED);
  reader.exec('COMMIT');
  reader.close();
  await vi.waitFor(() => expect(isThere(path)).toBe(false), {
    timeout: 300_000,
    interval: CUT_PAUSE_MS / 4,
  });
  expect(await store.selfCheck()).toEqual([]);
  await store.close();
});

test('bytes that a reader used in the WAL go when the store is closed early', async () => {
  const path = newPath();
  const { store, hash } = await withSecret(path);
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) AS n FROM blob').get();
  await erase(store, [hash]);
  await store.scrub();
  reader.close();
  await store.close();
  expect(isThere(path)).toBe(false);
  expect(await checked(path)).toEqual([]);
});

/** The findings of a read-only store. It resumes no work. */
async function checked(path: string): Promise<string[]> {
  const store = await openSqlite({ path, mode: 'readonly' });
  try {
    return await store.selfCheck();
  } finally {
    await store.close();
  }
}

test('an erasure ended at any statement is resumed by the next writable store', async () => {
  const path = newPath();
  const { store, hash } = await withSecret(path);
  await erase(store, [hash]);
  const ends: { readonly copy: string; readonly at: string }[] = [];
  interceptSql((at, proceed) => {
    // The files that a process leaves when it is killed now: no close and no truncated WAL.
    const copy = newPath();
    for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${copy}${end}`);
    ends.push({ copy, at });
    return proceed();
  });
  await store.scrub();
  vi.restoreAllMocks();
  await store.close();
  expect(ends.map(({ at }) => at)).toContain('VACUUM');
  for (const { copy, at } of ends) {
    const left = await checked(copy);
    const next = await openSqlite({ path: copy });
    expect({ at, isThere: isThere(copy) }).toEqual({ at, isThere: false });
    expect(await next.erasedBy(hash)).toBe(BY);
    expect(await next.selfCheck()).toEqual([]);
    await next.close();
    // The store does not report unfinished work as done.
    expect({ at, left: left.length }).toEqual({ at, left: 1 });
  }
});

test('the file is rewritten once for all callers, and not if nothing is due', async () => {
  const path = newPath();
  const { store, hash } = await withSecret(path);
  let times = 0;
  interceptSql((sql, proceed) => {
    if (sql === 'VACUUM') times += 1;
    return proceed();
  });
  await store.scrub();
  expect(times).toBe(0);
  const other = blobOf('other');
  await Promise.all([erase(store, [hash]), erase(store, [other.hash])]);
  await Promise.all([store.scrub(), store.scrub(), store.scrub()]);
  await store.scrub();
  expect(times).toBe(1);
  await store.close();
  await (await openSqlite({ path })).close();
  expect(times).toBe(1);
});

test('an erasure by another process in between is done too', async () => {
  const path = newPath();
  const { store, hash } = await withSecret(path);
  const mine = blobOf('mine');
  await erase(store, [mine.hash]);
  const other = await openSqlite({ path, lockTimeoutMs: 0 });
  interceptSql((sql, proceed) => {
    const done = proceed();
    if (sql !== 'VACUUM') return done;
    vi.restoreAllMocks();
    const db = new DatabaseSync(path);
    db.exec('UPDATE scrub SET erasures = erasures + 1');
    db.close();
    return done;
  });
  await erase(store, [hash]);
  await store.scrub();
  expect(await store.selfCheck()).toHaveLength(1);
  await other.scrub();
  expect(await store.selfCheck()).toEqual([]);
  await other.close();
  await store.close();
});

test.each([
  ['VACUUM', 13],
  ['VACUUM', 14],
  ["INSERT INTO fact_words (fact_words) VALUES ('rebuild')", 13],
])(
  'without space for %s the erasure holds, and every store works: code %i',
  async (sql, errcode) => {
    const path = newPath();
    const { store, hash } = await withSecret(path);
    await erase(store, [hash]);
    interceptSql((text, proceed) => {
      if (text === sql) throw sqliteError(errcode);
      return proceed();
    });
    await expect(store.scrub()).rejects.toMatchObject({
      code: 'store_not_scrubbed',
      retryable: true,
      evidence: { path, sqlite: errcode },
      message: expect.stringMatching(
        /the size of the file as free space.*open the store for writing.*assize verify --database/,
      ),
    });
    expect([await store.blob(hash), await store.erasedBy(hash)]).toEqual([undefined, BY]);
    expect(await store.commit(batchOf(entryAfter(await store.head('t'), 't')))).toEqual(COMMITTED);
    await store.close();
    // A store without disk space for the erasure still opens.
    const next = await openSqlite({ path });
    expect(await next.selfCheck()).toHaveLength(1);
    vi.restoreAllMocks();
    await next.scrub();
    expect(await next.selfCheck()).toEqual([]);
    expect(isThere(path)).toBe(false);
    await next.close();
  },
);

const SHORTEN = 'PRAGMA wal_checkpoint(TRUNCATE)';

test.each([
  ['the file is to be rewritten', ['VACUUM', SHORTEN]],
  ['the WAL is to be cut', [SHORTEN]],
])('without space to truncate the WAL either, when %s, the store continues', async (_, without) => {
  const path = newPath();
  const { store, hash } = await withSecret(path);
  await erase(store, [hash]);
  interceptSql((text, proceed) => {
    if (without.includes(text)) throw sqliteError(13);
    return proceed();
  });
  await expect(store.scrub()).rejects.toMatchObject({
    code: 'store_not_scrubbed',
    evidence: { path, sqlite: 13 },
  });
  expect(await store.commit(batchOf(entryAfter(await store.head('t'), 't')))).toEqual(COMMITTED);
  vi.restoreAllMocks();
  await store.scrub();
  expect([await store.selfCheck(), isThere(path)]).toEqual([[], false]);
  await store.close();
});

test('any other failure poisons the handle, and the erasure stays due', async () => {
  const path = newPath();
  const { store, hash } = await withSecret(path);
  await erase(store, [hash]);
  interceptSql((text, proceed) => {
    if (text === 'VACUUM') throw sqliteError(10 | (4 << 8));
    return proceed();
  });
  await expect(store.scrub()).rejects.toMatchObject({ code: 'store_poisoned' });
  await store.close();
  await expect(openSqlite({ path })).rejects.toMatchObject({ code: 'store_poisoned' });
  vi.restoreAllMocks();
  const next = await openSqlite({ path });
  expect(isThere(path)).toBe(false);
  await next.close();
});

test('while another process writes it waits, and says so after a time', async () => {
  const path = newPath();
  const { store, hash } = await withSecret(path);
  await erase(store, [hash]);
  await store.close();
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  other.exec("INSERT INTO trajectory (name) VALUES ('u')");
  const impatient = openSqlite({ path, lockTimeoutMs: 30 });
  await expect(impatient).rejects.toMatchObject({ code: 'store_locked' });
  other.exec('ROLLBACK');
  const next = await openSqlite({ path, lockTimeoutMs: 100 });
  await erase(next, [blobOf('other').hash]);
  other.exec('BEGIN IMMEDIATE');
  await expect(next.scrub()).rejects.toMatchObject({
    code: 'store_not_scrubbed',
    message: expect.stringMatching(/Other processes write to the file/),
  });
  const waiting = next.scrub();
  other.exec('ROLLBACK');
  await waiting;
  expect(await next.selfCheck()).toEqual([]);
  other.close();
  await next.close();
});
