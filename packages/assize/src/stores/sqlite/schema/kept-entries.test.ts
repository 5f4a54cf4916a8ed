/** The triggers of the schema that keep entries as they were written. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { batchOf, chainOf } from '@assize/testing/internal/store-rows.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqlite } from '../open.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-kept-'));
const path = join(folder, 'ledger.db');
let rows: string;

beforeAll(async () => {
  const store = await openSqlite({ path });
  await store.commit(batchOf(chainOf('t', 3)));
  await store.close();
  rows = entries();
});
afterAll(() => rmSync(folder, { recursive: true }));

function entries(): string {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return JSON.stringify(
      db.prepare('SELECT position, trajectory, seq, hex(id), kind, payload FROM entry').all(),
    );
  } finally {
    db.close();
  }
}

const ROW = "1, 1, x'" + 'ab'.repeat(32) + "', x'" + 'cd'.repeat(32) + "', 'commit', '{}'";
const COLUMNS = 'trajectory, seq, id, parent, kind, payload';

describe('SQLite refuses, whichever program asks,', () => {
  test.each([
    ['a changed payload', "UPDATE entry SET payload = '{}' WHERE seq = 1", /cannot be changed/],
    ['a changed id', 'UPDATE entry SET id = zeroblob(32)', /cannot be changed/],
    ['a moved entry', 'UPDATE entry SET position = position + 100', /cannot be changed/],
    ['a change that ignores errors', "UPDATE OR IGNORE entry SET kind = 'x'", /cannot be changed/],
    [
      'a change that replaces rows',
      'UPDATE OR REPLACE entry SET seq = 2 WHERE seq = 1',
      /cannot be changed/,
    ],
    ['a deleted entry', 'DELETE FROM entry WHERE seq = 2', /cannot be deleted/],
    ['the deletion of all entries', 'DELETE FROM entry', /cannot be deleted/],
    [
      'an entry in place of another',
      `INSERT OR REPLACE INTO entry (${COLUMNS}) VALUES (${ROW})`,
      /be replaced/,
    ],
    [
      'a REPLACE by position',
      `REPLACE INTO entry (position, ${COLUMNS}) VALUES (2, 9, 9, x'', x'', '', '')`,
      /replaced/,
    ],
    [
      'an upsert',
      `INSERT INTO entry (${COLUMNS}) VALUES (${ROW}) ON CONFLICT DO UPDATE SET payload = excluded.payload`,
      /cannot be/,
    ],
  ])('%s', (_, sql, saying) => {
    const db = new DatabaseSync(path);
    try {
      expect(() => db.exec(sql)).toThrow(saying);
      // A schema that SQLite does not trust changes nothing about triggers.
      db.exec('PRAGMA trusted_schema = OFF; PRAGMA recursive_triggers = ON');
      expect(() => db.exec(sql)).toThrow(saying);
    } finally {
      db.close();
    }
    expect(entries()).toBe(rows);
  });

  test('and accepts the next entry of the store', async () => {
    const store = await openSqlite({ path });
    const next = chainOf('t', 4).slice(3);
    expect(await store.commit(batchOf(next))).toEqual({ status: 'committed' });
    await store.close();
  });
});
