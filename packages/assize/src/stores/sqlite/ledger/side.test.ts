import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sideStoreSuite } from '@assize/testing/internal/side-store-suite.ts';
import { afterAll, expect, test } from 'vitest';
import { openSqlite } from '../open.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-side-'));
afterAll(() => rmSync(folder, { recursive: true }));

sideStoreSuite({
  name: 'sqlite',
  open: (place) => openSqlite({ path: join(folder, `${place}.db`), durability: 'off' }),
});

const change = { kind: 'k', key: 'a', expected: null, body: '1' };

test('a store that is only read, or retired, writes no side row', async () => {
  const path = join(folder, 'read.db');
  const store = await openSqlite({ path });
  await store.sidePut([change]);
  const reader = await openSqlite({ path, mode: 'readonly' });
  expect(await reader.sideGet('k', 'a')).toMatchObject({ body: '1' });
  await expect(reader.sidePut([change])).rejects.toMatchObject({ code: 'store_readonly' });
  await reader.close();
  const second = await openSqlite({ path });
  await second.retire({ at: '2026-03-01T00:00:00.000000Z', reason: 'moved' });
  await second.close();
  await expect(store.sidePut([{ ...change, key: 'b' }])).rejects.toMatchObject({
    code: 'store_retired',
  });
  await store.close();
});

test('a file of an earlier schema is refused, with its missing table', async () => {
  const path = join(folder, 'earlier.db');
  await (await openSqlite({ path })).close();
  const db = new DatabaseSync(path);
  db.exec('DROP TABLE side');
  db.close();
  await expect(openSqlite({ path })).rejects.toMatchObject({
    code: 'store_other_schema',
    message: expect.stringContaining('Undo the change or restore a'),
    evidence: { faults: expect.arrayContaining(['the table side is missing']) },
  });
  const reader = await openSqlite({ path, mode: 'readonly' });
  expect(await reader.trajectories()).toEqual([]);
  await expect(reader.sideGet('k', 'a')).rejects.toMatchObject({ code: 'store_failed' });
  await reader.close();
});
