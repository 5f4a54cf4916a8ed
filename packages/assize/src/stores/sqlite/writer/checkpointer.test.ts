import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { interceptSql, sqliteError } from '@assize/testing/internal/intercept.ts';
import { batchOf, chainOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { openSqlite } from '../index.ts';
import { Checkpointer } from './checkpointer.ts';
import { CHECKPOINT_PAGES, FRAME_BYTES } from './group-commit.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-copier-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

let n = 0;
/** A file with a table and an empty WAL. */
function opened(): { readonly path: string; readonly db: DatabaseSync } {
  const path = join(folder, `${n++}.db`);
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE row (text TEXT)');
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  return { path, db };
}

test('committed data is copied into the file, also during other writes', async () => {
  const { path, db } = opened();
  const copier = new Checkpointer(db, path);
  const insert = db.prepare('INSERT INTO row (text) VALUES (?)');
  for (let times = 1; times <= 2; times++) {
    const before = statSync(path).size;
    for (let i = 0; i < 100; i++) insert.run('x'.repeat(4_000));
    db.exec('BEGIN IMMEDIATE');
    insert.run('not committed');
    expect(await copier.copy()).toBe(true);
    expect(statSync(path).size).toBeGreaterThanOrEqual(before + 100 * 4_000);
    db.exec('ROLLBACK');
  }
  await copier.end();
  // The whole WAL was copied, so the next write restarts it.
  const size = statSync(`${path}-wal`).size;
  insert.run('x');
  expect(statSync(`${path}-wal`).size).toBe(size);
  db.close();
});

test('without a worker thread nothing is copied, and no caller waits', async () => {
  const { path, db } = opened();
  const copier = new Checkpointer(db, join(folder, 'nothing', 'there.db'));
  expect(await copier.copy()).toBe(false);
  expect(await copier.copy()).toBe(false);
  await copier.end();
  // The start of the worker fails immediately.
  const closed = new DatabaseSync(path);
  closed.close();
  expect(await new Checkpointer(closed, path).copy()).toBe(false);
  const ended = new Checkpointer(db, path);
  await ended.end();
  expect(await ended.copy()).toBe(true);
  const copying = ended.copy();
  await ended.end();
  expect(await copying).toBe(true);
  expect(await ended.copy()).toBe(false);
  db.close();
});

test('a process stays alive for the end of its copier, despite later requests', async () => {
  const { path, db } = opened();
  const program = `
    import { DatabaseSync } from 'node:sqlite';
    import { Checkpointer } from ${JSON.stringify(new URL('./checkpointer.ts', import.meta.url).href)};
    const db = new DatabaseSync(${JSON.stringify(path)});
    const copier = new Checkpointer(db, ${JSON.stringify(path)});
    const copying = copier.copy();
    const ending = copier.end();
    const more = copier.copy();
    await ending;
    console.log(await copying, await more);`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    program,
  ]);
  expect(stdout).toBe('true false\n');
  db.close();
});

test('a scrub that waits during a copy keeps its process alive', async () => {
  const path = join(folder, `${n++}.db`);
  const url = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);
  const program = `
    import { batchOf, blobOf, chainOf } from ${url('../../../../../testing/src/store-rows.ts')};
    import { openSqlite } from ${url('../index.ts')};
    const store = await openSqlite({ path: ${JSON.stringify(path)} });
    const text = blobOf('a secret');
    await store.commit(batchOf(chainOf('t', 1.5 * ${CHECKPOINT_PAGES}), [text]));
    await store.commit({ entries: [], blobs: [], erased: [{ hash: text.hash, by: 'b'.repeat(64) }] });
    await store.scrub();
    console.log('scrubbed');
    // It is open, and its thread as well: neither keeps the process alive.`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    program,
  ]);
  expect(stdout).toBe('scrubbed\n');
});

/** The steps that a store takes for its WAL, in order, when its writes make a checkpoint due. */
async function writingMuch(
  copy: (this: Checkpointer) => Promise<boolean>,
): Promise<{ readonly path: string; readonly did: string[]; readonly close: () => Promise<void> }> {
  const path = join(folder, `${n++}.db`);
  const store = await openSqlite({ path });
  const did: string[] = [];
  vi.spyOn(Checkpointer.prototype, 'copy').mockImplementation(async function (this: Checkpointer) {
    did.push('copies');
    const isCopied = await copy.call(this);
    did.push(isCopied ? 'copied' : 'not copied');
    return isCopied;
  });
  interceptSql((sql, proceed) => {
    if (sql.includes('wal_checkpoint')) did.push('rest');
    return proceed();
  });
  expect(await store.commit(batchOf(chainOf('t', 1.5 * CHECKPOINT_PAGES)))).toEqual({
    status: 'committed',
  });
  await vi.waitFor(() => expect(did).toContain('rest'), { timeout: 300_000 });
  return { path, did, close: () => store.close() };
}

test('a store copies its WAL in another thread, and the rest itself', async () => {
  const { path, did, close } = await writingMuch(Checkpointer.prototype.copy);
  expect(did).toEqual(['copies', 'copied', 'rest']);
  expect(statSync(path).size).toBeGreaterThan(CHECKPOINT_PAGES * 300);
  await close();
});

test('the WAL that grew beside a long reader is cut after its end', async () => {
  const path = join(folder, `${n++}.db`);
  const store = await openSqlite({ path });
  const limit = CHECKPOINT_PAGES * FRAME_BYTES;
  const walBytes = (): number => statSync(`${path}-wal`).size;
  let parts = 0;
  const write = async (): Promise<void> => {
    const batch = batchOf(chainOf(`t${parts++}`, CHECKPOINT_PAGES / 4));
    expect(await store.commit(batch)).toEqual({ status: 'committed' });
  };
  await write();
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN; SELECT count(*) FROM entry');
  while (walBytes() < 2 * limit) await write();
  reader.close();
  for (let more = 0; walBytes() > limit && more < 100; more++) await write();
  expect(walBytes()).toBeLessThanOrEqual(limit);
  await store.close();
});

test('without a thread a store copies all of it itself', async () => {
  const { path, did, close } = await writingMuch(async () => false);
  expect(did).toEqual(['copies', 'not copied', 'rest']);
  expect(statSync(path).size).toBeGreaterThan(CHECKPOINT_PAGES * 300);
  await close();
});

test('a failed copy poisons the store, and a waiting close is answered', async () => {
  const path = join(folder, `${n++}.db`);
  const store = await openSqlite({ path });
  const copying = Promise.withResolvers<boolean>();
  const copy = vi.spyOn(Checkpointer.prototype, 'copy').mockReturnValue(copying.promise);
  const chain = chainOf('t', 1.5 * CHECKPOINT_PAGES);
  expect(await store.commit(batchOf(chain))).toEqual({ status: 'committed' });
  await vi.waitFor(() => expect(copy).toHaveBeenCalled(), { timeout: 300_000 });
  // The call precedes the turn that would write the batch.
  const waiting = store.commit(batchOf(entryAfter(chain.at(-1), 't')));
  const closed = store.close();
  copying.reject(sqliteError(10));
  expect(await waiting).toMatchObject({ status: 'unknown' });
  await closed;
  vi.restoreAllMocks();
  const reopened = await openSqlite({ path });
  expect(await reopened.head('t')).toEqual(chain.at(-1));
  await reopened.close();
});

test('a copy that fails after a write has failed changes nothing', async () => {
  const store = await openSqlite({ path: join(folder, `${n++}.db`) });
  const copying = Promise.withResolvers<boolean>();
  const copy = vi.spyOn(Checkpointer.prototype, 'copy').mockReturnValue(copying.promise);
  const chain = chainOf('t', 1.5 * CHECKPOINT_PAGES);
  expect(await store.commit(batchOf(chain))).toEqual({ status: 'committed' });
  await vi.waitFor(() => expect(copy).toHaveBeenCalled(), { timeout: 300_000 });
  interceptSql((sql, proceed) => {
    if (sql === 'COMMIT') throw sqliteError(10);
    return proceed();
  });
  expect(await store.commit(batchOf(entryAfter(chain.at(-1), 't')))).toMatchObject({
    status: 'unknown',
  });
  const refused = (): Promise<unknown> =>
    store.commit(batchOf(entryAfter(chain.at(-1), 't'))).catch((error) => error);
  const failure = await refused();
  expect(failure).toMatchObject({ code: 'store_poisoned' });
  copying.reject(sqliteError(10));
  await new Promise(setImmediate);
  expect(await refused()).toBe(failure);
  await store.close();
});
