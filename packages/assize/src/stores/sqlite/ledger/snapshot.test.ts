import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { snapshotStoreSuite } from '@assize/testing/internal/snapshot-store-suite.ts';
import { batchOf, blobOf, chainOf } from '@assize/testing/internal/store-rows.ts';
import { afterAll, expect, test } from 'vitest';
import { openSqlite } from '../open.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-snapshot-'));
afterAll(() => rmSync(folder, { recursive: true }));

snapshotStoreSuite({
  name: 'sqlite',
  open: (place) => openSqlite({ path: join(folder, `${place}.db`) }),
});

test('of snapshots that were replaced or dropped nothing is left in the file', async () => {
  const store = await openSqlite({ path: join(folder, 'secret.db') });
  await store.commit(batchOf(chainOf('t', 1)));
  const isThere = (secret: string): boolean =>
    readdirSync(folder)
      .filter((name) => name.startsWith('secret.db') && !name.endsWith('-wal'))
      .some((name) => readFileSync(join(folder, name)).includes(secret));
  // Long enough to fill separate pages that a deletion frees.
  const secrets = ['very-secret ', 'more-secret '].map((word) => word.repeat(2_000));
  for (const text of secrets) {
    await store.putSnapshot({ trajectory_id: 't', seq: 0, hash: blobOf(text).hash, text }, 0);
  }
  await store.close();
  expect([isThere('very-secret'), isThere('more-secret')]).toEqual([false, true]);
  const again = await openSqlite({ path: join(folder, 'secret.db') });
  await again.dropSnapshots();
  await again.close();
  expect([isThere('very-secret'), isThere('more-secret')]).toEqual([false, false]);
});

test('a store that is only read takes none', async () => {
  const path = join(folder, 'read.db');
  const store = await openSqlite({ path });
  await store.commit(batchOf(chainOf('t', 1)));
  await store.close();
  const reader = await openSqlite({ path, mode: 'readonly' });
  expect(reader.readonly).toBe(true);
  const row = { trajectory_id: 't', seq: 0, hash: blobOf('x').hash, text: 'x' };
  await expect(reader.putSnapshot(row, 0)).rejects.toMatchObject({ code: 'store_readonly' });
  await expect(reader.dropSnapshots()).rejects.toMatchObject({ code: 'store_readonly' });
  await reader.close();
});
