import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { batchOf, blobOf, chainOf } from '../../testing/store-rows.ts';
import { openSqlite } from './open.ts';

const root = mkdtempSync(join(tmpdir(), 'assize-erase-'));
afterAll(() => rmSync(root, { recursive: true }));

const SECRET = 'the bytes of this text are to be gone ';

/** Whether the text is anywhere in the files of a folder: the database, its WAL, whatever else there is. */
function isThere(folder: string): boolean {
  return readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes(SECRET));
}

test.each([1, 400])('no byte of what is erased stays in the files: %i times as long', async (times) => {
  const folder = mkdtempSync(join(root, 'store-'));
  const path = join(folder, 'ledger.db');
  const store = await openSqlite({ path });
  const rows = chainOf('t', 3);
  const blob = { ...blobOf('secret'), text: SECRET.repeat(times) };
  await store.commit(batchOf(rows[0]!, [blob]));
  expect(isThere(folder)).toBe(true);
  await store.commit({ ...batchOf(rows[1]!), erased: [{ hash: blob.hash, by: rows[1]!.id }] });
  // When the call answers, and not some time after.
  expect(isThere(folder)).toBe(false);
  await store.commit(batchOf(rows[2]!));
  await store.close();
  expect(isThere(folder)).toBe(false);
});

test('nor of an answer that is erased, by itself', async () => {
  const folder = mkdtempSync(join(root, 'store-'));
  const store = await openSqlite({ path: join(folder, 'ledger.db') });
  const { hash: key } = blobOf('question');
  await store.oraclePut({ key, answer: SECRET, at: 'now' });
  expect(isThere(folder)).toBe(true);
  await store.commit({ ...batchOf([]), erasedAnswers: [{ key, by: key }] });
  expect(isThere(folder)).toBe(false);
  await store.close();
});

test('a reader who is in the middle of the WAL keeps it a little longer, and the writer goes on', async () => {
  const folder = mkdtempSync(join(root, 'store-'));
  const path = join(folder, 'ledger.db');
  const store = await openSqlite({ path });
  const rows = chainOf('t', 3);
  const blob = { ...blobOf('secret'), text: SECRET };
  await store.commit(batchOf(rows[0]!, [blob]));
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN; SELECT count(*) FROM blob');
  expect(reader.prepare('SELECT count(*) AS n FROM blob').get()).toEqual({ n: 1 });
  await store.commit({ ...batchOf(rows[1]!), erased: [{ hash: blob.hash, by: rows[1]!.id }] });
  await turn();
  await turn();
  expect(await store.commit(batchOf(rows[2]!))).toEqual({ status: 'committed' });
  reader.exec('COMMIT');
  reader.close();
  await store.close();
  expect(isThere(folder)).toBe(false);
});
