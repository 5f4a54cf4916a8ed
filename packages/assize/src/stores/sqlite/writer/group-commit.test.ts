import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ALICE, changeOf } from '@assize/testing/internal/fact-rows.ts';
import { interceptSql } from '@assize/testing/internal/intercept.ts';
import { batchOf, blobOf, chainOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { openSqlite } from '../index.ts';
import { CHECKPOINT_PAGES, GROUP_BYTES_MAX, GROUP_ROWS_MAX } from './group-commit.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-group-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);

/** The number of rows that each later transaction inserts, in the order of the transactions. */
function watchGroups(): number[] {
  const groups: number[] = [];
  let rows = 0;
  interceptSql((sql, proceed) => {
    if (/^INSERT INTO (entry|blob) /.test(sql)) rows += 1;
    if (sql === 'COMMIT') groups.push(rows);
    if (sql === 'COMMIT' || sql === 'ROLLBACK') rows = 0;
    return proceed();
  });
  return groups;
}

test('all that wait together are written together', async () => {
  const store = await openSqlite({ path: newPath() });
  const groups = watchGroups();
  const chains = Array.from({ length: 64 }, (_, n) => chainOf(`t${n}`, 3));
  const append = async (chain: (typeof chains)[number]): Promise<void> => {
    for (const row of chain)
      expect(await store.commit(batchOf(row))).toEqual({ status: 'committed' });
  };
  await Promise.all(chains.map(append));
  expect(groups).toEqual([64, 64, 64]);
  await store.close();
});

test('calls that come over sockets are written together', async () => {
  const store = await openSqlite({ path: newPath() });
  const groups = watchGroups();
  const [callers, each] = [32, 10];
  let named = 0;
  const server = createServer((socket) => {
    const chain = chainOf(`t${++named}`, each);
    socket.on('data', async () => {
      await store.commit(batchOf(chain.shift()!));
      socket.write('.');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = async (): Promise<void> => {
    const socket: Socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    for (let n = 0; n < each; n += 1) {
      socket.write('?');
      await once(socket, 'data');
    }
    socket.end();
  };
  await Promise.all(Array.from({ length: callers }, client));
  expect(groups.reduce((sum, rows) => sum + rows, 0)).toBe(callers * each);
  // A flush in a microtask would write one group per entry.
  expect(groups.length).toBeLessThan((callers * each) / 2);
  server.close();
  await store.close();
});

test('a group ends at so many rows, and no batch is cut in two', async () => {
  const store = await openSqlite({ path: newPath() });
  const groups = watchGroups();
  const small = chainOf('small', 2 * GROUP_ROWS_MAX + 1).map((row) => store.commit(batchOf(row)));
  const large = store.commit(batchOf(chainOf('large', 2 * GROUP_ROWS_MAX)));
  for (const commit of [...small, large]) expect(await commit).toEqual({ status: 'committed' });
  expect(groups).toEqual([GROUP_ROWS_MAX, GROUP_ROWS_MAX, 1, 2 * GROUP_ROWS_MAX]);
  await store.close();
});

test('a group ends at so many bytes', async () => {
  const store = await openSqlite({ path: newPath() });
  const groups = watchGroups();
  const blobs = Array.from({ length: 5 }, (_, n) => blobOf(`${n}`.repeat(GROUP_BYTES_MAX / 2)));
  await Promise.all(blobs.map((blob) => store.commit(batchOf([], [blob]))));
  expect(groups).toEqual([2, 2, 1]);
  await store.close();
});

test('an existing id costs its group one more transaction, and others nothing', async () => {
  const store = await openSqlite({ path: newPath() });
  const root = entryAfter(undefined, 'root');
  await store.commit(batchOf(root));
  const groups = watchGroups();
  const rows = Array.from({ length: 9 }, (_, n) => entryAfter(undefined, `t${n}`));
  rows[4] = { ...rows[4]!, id: root.id };
  const results = await Promise.all(rows.map((row) => store.commit(batchOf(row))));
  expect(results.map(({ status }) => status === 'committed')).toEqual(rows.map((_, n) => n !== 4));
  expect(groups).toHaveLength(1);
  expect(await store.trajectories()).toHaveLength(9);
  await store.close();
});

test('the WAL is copied into the file while the store is open', async () => {
  const path = newPath();
  const store = await openSqlite({ path });
  const before = statSync(path).size;
  const chain = chainOf('t', 2 * CHECKPOINT_PAGES, 'x'.repeat(600));
  for (let from = 0; from < chain.length; from += 200)
    await store.commit(batchOf(chain.slice(from, from + 200)));
  await vi.waitFor(() => expect(statSync(path).size).toBeGreaterThan(before), { timeout: 300_000 });
  await store.close();
  expect(statSync(path).size).toBeGreaterThan(chain.length * 600);
});

test('the WAL stays short for single entries after a large group, and by link', async () => {
  const path = newPath();
  await (await openSqlite({ path })).close();
  symlinkSync(path, `${path}-link`);
  const store = await openSqlite({ path: `${path}-link`, durability: 'off' });
  const together = chainOf('t', CHECKPOINT_PAGES + 1);
  await store.commit(batchOf(together));
  for (const [n, row] of chainOf('u', CHECKPOINT_PAGES, 'x'.repeat(8_000)).entries()) {
    await store.commit(batchOf(row));
    // A pause like a wait for a disk, so the copying thread makes progress on a fast machine.
    if (n % 64 === 0) await wait(10);
  }
  expect(statSync(`${path}-wal`).size).toBeLessThan(3 * CHECKPOINT_PAGES * 4_096);
  await store.close();
});

test('more trajectories than heads are kept in memory', async () => {
  const store = await openSqlite({ path: newPath() });
  const chains = Array.from({ length: 10_050 }, (_, n) => chainOf(`t${n}`, 2));
  expect(await store.commit(batchOf(chains.map((chain) => chain[0]!)))).toEqual({
    status: 'committed',
  });
  expect(await store.commit(batchOf(chains.map((chain) => chain[1]!)))).toEqual({
    status: 'committed',
  });
  expect(new Set((await store.trajectories()).map((info) => info.entries))).toEqual(new Set([2]));
  await store.close();
});

test.each([
  'INSERT INTO trajectory',
  'INSERT INTO entry',
  'INSERT INTO blob',
  'INSERT INTO fact_partition',
  'INSERT INTO fact ',
  'INSERT INTO fact_time',
  'INSERT INTO fact_version',
  'INSERT INTO effect_transaction',
  'INSERT INTO effect_key',
])('%s that keeps no row fails the write and poisons the handle', async (start) => {
  const store = await openSqlite({ path: newPath() });
  const { fence } = await store.leaseEffects();
  interceptSql((sql, proceed) =>
    sql.startsWith(start) ? { changes: 0, lastInsertRowid: 1 } : proceed(),
  );
  const row = entryAfter(undefined, 't');
  const done = await store.commit({
    ...batchOf(row, [blobOf('text')]),
    facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'f', object: 'o' }])],
    effects: {
      fence,
      begun: [{ epoch: 1, trajectory_id: 't', body: '{}' }],
      records: [{ epoch: 1, place: 0, record: '[]' }],
      keys: [{ key: row.id, epoch: 1, n: 0 }],
      ended: [],
    },
  });
  expect(done).toMatchObject({ status: 'unknown', cause: { code: 'store_poisoned' } });
  vi.restoreAllMocks();
  await expect(Promise.resolve().then(() => store.head('t'))).rejects.toMatchObject({
    code: 'store_poisoned',
  });
  await store.close();
});
