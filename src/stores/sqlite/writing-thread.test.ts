import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { afterAll, expect, test, vi } from 'vitest';
import { batchOf, blobOf, chainOf, entryAfter } from '../../testing/store-rows.ts';
import { openSqlite } from './index.ts';

const threads = vi.hoisted(() => ({ started: [] as Worker[] }));
vi.mock('node:worker_threads', async (original) => {
  const real = await original<typeof import('node:worker_threads')>();
  class Watched extends real.Worker {
    constructor(...given: ConstructorParameters<typeof Worker>) {
      super(...given);
      threads.started.push(this);
    }
  }
  return { ...real, Worker: Watched };
});

const folder = mkdtempSync(join(tmpdir(), 'assize-thread-'));
afterAll(() => rmSync(folder, { recursive: true }));

const COMMITTED = { status: 'committed' };

test('what another thread has written is read here at once, and by whoever opens the file later', async () => {
  const path = join(folder, 'written.db');
  const store = await openSqlite({ path, writer: 'thread' });
  const rows = chainOf('t', 20);
  const answers = await Promise.all(rows.map((row) => store.commit(batchOf(row, [blobOf(`text ${row.seq}`)]))));
  expect(answers).toEqual(rows.map(() => COMMITTED));
  expect(await store.entries('t')).toEqual(rows);
  expect(await store.commit(batchOf(entryAfter(rows[3], 't', 'rival')))).toMatchObject({ status: 'conflict', seq: 4 });
  await store.close();
  await expect(store.head('t')).rejects.toMatchObject({ code: 'store_closed' });
  const again = await openSqlite({ path });
  expect(await again.entries('t')).toEqual(rows);
  await again.close();
  expect(threads.started).toHaveLength(1);
});

test('a thread that ends by itself leaves what it was asked for in doubt, poisons the handle, and lets go of the file', async () => {
  const path = join(folder, 'ended.db');
  const store = await openSqlite({ path, writer: 'thread' });
  const [root, ...rest] = chainOf('t', 4);
  expect(await store.commit(batchOf(root!))).toEqual(COMMITTED);
  const asked = Promise.all(rest.map((row) => store.commit(batchOf(row))));
  const step = store.dropSnapshots().catch((error: unknown) => error);
  await threads.started.at(-1)!.terminate();
  const poisoned = { code: 'store_poisoned', evidence: { path } };
  expect(await asked).toEqual(
    rest.map(() => expect.objectContaining({ status: 'unknown', cause: expect.objectContaining(poisoned) })),
  );
  expect(await step).toMatchObject(poisoned);
  for (const call of [() => store.head('t'), () => store.commit(batchOf(rest[0]!)), () => store.scrub()])
    await expect(call()).rejects.toMatchObject(poisoned);
  await store.close();
  const again = await openSqlite({ path, lockTimeoutMs: 0 });
  const head = await again.head('t');
  expect([root, ...rest]).toContainEqual(head);
  expect(await again.commit(batchOf(entryAfter(head, 't', 'goes on')))).toEqual(COMMITTED);
  await again.close();
});

test('what can’t be copied to another thread is refused, and what was asked for with it is written', async () => {
  const store = await openSqlite({ path: join(folder, 'copied.db'), writer: 'thread' });
  const [first, second] = [entryAfter(undefined, 't'), entryAfter(undefined, 'u')];
  const odd = { ...entryAfter(undefined, 'v'), note: () => 'no row' };
  const answers = await Promise.allSettled([first, odd, second].map((row) => store.commit(batchOf(row))));
  expect(answers).toMatchObject([
    { value: COMMITTED },
    { reason: { code: 'store_invalid_input' } },
    { value: COMMITTED },
  ]);
  expect((await store.trajectories()).map(({ trajectory_id }) => trajectory_id)).toEqual(['t', 'u']);
  await store.close();
});

test('a lock that others hold is waited for, and then said', async () => {
  const path = join(folder, 'locked.db');
  const store = await openSqlite({ path, writer: 'thread', lockTimeoutMs: 100 });
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const row = entryAfter(undefined, 't');
  await expect(store.commit(batchOf(row))).rejects.toMatchObject({
    code: 'store_locked',
    retryable: true,
    evidence: { path, timeoutMs: 100 },
    cause: { errcode: 5 },
  });
  const later = store.commit(batchOf(row));
  other.exec('ROLLBACK');
  other.close();
  expect(await later).toEqual(COMMITTED);
  await store.close();
});

test('a file that the thread can’t open is said as ever, and nobody is kept waiting', async () => {
  const path = join(folder, 'held.db');
  await (await openSqlite({ path })).close();
  const other = new DatabaseSync(path);
  other.exec('BEGIN EXCLUSIVE');
  await expect(openSqlite({ path, writer: 'thread', lockTimeoutMs: 50 })).rejects.toMatchObject({
    code: 'store_locked',
  });
  other.close();
  await expect(openSqlite({ path, writer: 'worker' as 'thread' })).rejects.toMatchObject({
    code: 'store_invalid_input',
  });
});

test('an open store keeps no process alive, and what was asked for is answered before it ends', async () => {
  const path = join(folder, 'alive.db');
  const program = join(folder, 'program.ts');
  writeFileSync(
    program,
    `import { openSqlite } from ${JSON.stringify(join(import.meta.dirname, 'index.ts'))};
const store = await openSqlite({ path: ${JSON.stringify(path)}, writer: 'thread' });
const commit = store.commit(${JSON.stringify(batchOf(entryAfter(undefined, 't')))});
commit.then(({ status }) => console.log(status));
`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  expect(stdout).toBe('committed\n');
  const store = await openSqlite({ path });
  expect(await store.head('t')).toEqual(entryAfter(undefined, 't'));
  await store.close();
});
