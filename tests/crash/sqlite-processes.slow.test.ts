import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { EntryRow } from '#ledger';
import { openSqlite, type SqliteStore } from '#stores';
import type { Operation } from '../../packages/testing/src/history.ts';
import { batchOf, entryAfter } from '../../packages/testing/src/store-rows.ts';
import { entriesOf, expectBlobs, expectSound } from './ledger-check.ts';
import { WriterProcess } from './writer-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-processes-'));
afterAll(() => rmSync(folder, { recursive: true }));

let processes = 0;
function startWriters(
  path: string,
  options: { writers?: number; fileBytesMax?: number } = {},
): WriterProcess {
  return new WriterProcess(path, { name: `p${++processes}`, writers: 4, ...options });
}

const now = (): number => Number(process.hrtime.bigint() / 1_000n);

/**
 * Checks that the operations of these processes and of this test explain the content of the store.
 */
async function expectMadeBy(
  store: SqliteStore,
  writers: readonly WriterProcess[],
  here: readonly Operation[] = [],
): Promise<EntryRow[]> {
  const entries = await entriesOf(store);
  expectSound([...writers.flatMap(({ history }) => history), ...here], entries);
  const ids = new Set(entries.map(({ id }) => id));
  for (const { sent } of writers) await expectBlobs(store, sent, (id) => ids.has(id));
  return entries;
}

test('a reader next to a killed writer reads the answered entries', async () => {
  const path = join(folder, 'read.db');
  const writers = startWriters(path);
  await writers.go(1);
  await writers.reach(50);
  await writers.kill();
  const reader = await openSqlite({ path, mode: 'readonly' });
  await expectMadeBy(reader, [writers]);
  await reader.close();
});

test('several processes on a file see chains only grow, even when killed', async () => {
  const path = join(folder, 'shared.db');
  const store = await openSqlite({ path });
  const reader = await openSqlite({ path, mode: 'readonly' });
  const processes = [startWriters(path, { writers: 2 }), startWriters(path, { writers: 2 })];
  const here: Operation[] = [];
  let committed = 0;
  for (const [seed, writers] of processes.entries()) await writers.go(seed);
  while (committed < 20 || processes.some((writers) => writers.committed < 60)) {
    const row = entryAfter(await store.head('shared'), 'shared', 'here');
    const invoked = now();
    const { status } = await store.commit(batchOf(row));
    const result = status === 'committed' ? 'committed' : 'failed';
    here.push({
      operation: 'append',
      client: 'here',
      invoked,
      returned: now(),
      result,
      ids: [row.id],
    });
    if (status === 'committed') committed += 1;
    const asked = now();
    const head = await reader.head('shared');
    const seen = head === undefined ? { entries: 0 } : { entries: head.seq + 1, head: head.id };
    here.push({
      operation: 'read',
      client: 'reader',
      invoked: asked,
      returned: now(),
      trajectory_id: 'shared',
      ...seen,
    });
  }
  for (const writers of processes) await writers.kill();
  const entries = await expectMadeBy(store, processes, here);
  expect(await entriesOf(reader)).toEqual(entries);
  await reader.close();
  await store.close();
});

describe.skipIf(process.platform === 'win32')('a disk that is full', () => {
  test('poisons the writers; answered entries stay, the rest is whole or absent', async () => {
    const path = join(folder, 'full.db');
    const writers = startWriters(path, { fileBytesMax: 2 ** 20 });
    await writers.go(2);
    await writers.end();
    expect(writers.lastWord).toBe('poisoned');
    expect(writers.committed).toBeGreaterThan(0);
    expect(writers.sent.filter(({ result }) => result === 'unknown').length).toBeGreaterThan(0);
    const store = await openSqlite({ path });
    await expectMadeBy(store, [writers]);
    const next = entryAfter(await store.head('own-0'), 'own-0', 'goes on');
    expect(await store.commit(batchOf(next))).toEqual({ status: 'committed' });
    await store.close();
  });
});
