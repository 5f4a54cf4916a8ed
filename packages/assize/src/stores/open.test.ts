import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { batchOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { afterAll, expect, test } from 'vitest';
import { openStore, SqliteStore, TemporaryStore } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-url-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('sqlite: opens the file after the colon', async () => {
  const path = join(folder, 'a b?c#d%20.db');
  const store = await openStore(`sqlite:${path}`);
  expect(store).toBeInstanceOf(SqliteStore);
  expect(store).toMatchObject({ path, readonly: false });
  const row = entryAfter(undefined, 't');
  await store.commit(batchOf(row));
  await store.close();
  const reader = await openStore(`sqlite:${path}`, { mode: 'readonly' });
  expect(await reader.head('t')).toEqual(row);
  await reader.close();
});

test('memory: is new each time', async () => {
  const store = await openStore('memory:');
  expect(store).toBeInstanceOf(TemporaryStore);
  await store.commit(batchOf(entryAfter(undefined, 't')));
  expect(await (await openStore('memory:')).trajectories()).toEqual([]);
});

test.each([
  '',
  'ledger.db',
  'sqlite',
  'sqlite:',
  'sqlite::memory:',
  'sqlite://host/file.db',
  'SQLITE:x.db',
  'memory',
  'memory:x',
  'postgres:x',
  'postgresql:/x',
  'POSTGRES://localhost/x',
  ':x',
])('%j names no store, and the error lists the valid forms', async (url) => {
  await expect(openStore(url)).rejects.toMatchObject({
    name: 'StoreError',
    code: 'store_unknown',
    message: expect.stringMatching(/sqlite:.*memory:/),
  });
});

test.each([
  ['sqlite:./x.db?mode=ro', 'mode'],
  ['sqlite:x.db?mode=memory&cache=shared', 'mode'],
  ['sqlite:/tmp/x.db?immutable=1', 'immutable'],
  ['postgres://localhost/x?schema=a&mode=readonly', 'mode'],
  ['postgresql://localhost/x?durability=off', 'durability'],
  ['postgres://localhost/x?sslrootcert=/etc/ca.pem&readers=2', 'readers'],
])('%s is refused by the name of its option %s', async (url, option) => {
  await expect(openStore(url)).rejects.toMatchObject({
    code: 'store_unknown',
    message: expect.stringContaining(`has no option ${option}. Remove it from the URL`),
    evidence: { option },
  });
});

test('a path may have a question mark', async () => {
  const path = join(folder, 'why?.db');
  await (await openStore(`sqlite:${path}`)).close();
  expect(existsSync(path)).toBe(true);
});

test('the error does not repeat a password', async () => {
  const error = await openStore('mysql://user:secret@host/x').catch((thrown: unknown) => thrown);
  expect(JSON.stringify([error, String(error)])).not.toContain('secret');
});
