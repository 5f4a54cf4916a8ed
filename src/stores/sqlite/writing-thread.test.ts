import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { hashText } from '#canon';
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
  // Or it might have written some of it before it ends.
  const holder = new DatabaseSync(path);
  holder.exec('BEGIN IMMEDIATE');
  const asked = Promise.all(rest.map((row) => store.commit(batchOf(row))));
  const step = store.dropSnapshots().catch((error: unknown) => error);
  await threads.started.at(-1)!.terminate();
  const poisoned = { code: 'store_poisoned', evidence: { path } };
  expect(await asked).toEqual(
    rest.map(() => expect.objectContaining({ status: 'unknown', cause: expect.objectContaining(poisoned) })),
  );
  expect(await step).toMatchObject(poisoned);
  holder.close();
  for (const call of [() => store.head('t'), () => store.commit(batchOf(rest[0]!)), () => store.scrub()])
    await expect(call()).rejects.toMatchObject(poisoned);
  await store.close();
  const again = await openSqlite({ path, lockTimeoutMs: 0 });
  const head = await again.head('t');
  expect(head).toEqual(root);
  expect(await again.commit(batchOf(entryAfter(head, 't', 'goes on')))).toEqual(COMMITTED);
  await again.close();
});

test('what can’t be copied to another thread is refused, and what was asked for with it is written', async () => {
  const store = await openSqlite({ path: join(folder, 'copied.db'), writer: 'thread' });
  const [first, second] = [entryAfter(undefined, 't'), entryAfter(undefined, 'u')];
  const odd = { key: hashText('key'), answer: '1', at: 'now', note: () => 'no row' };
  const answers = await Promise.allSettled([
    store.commit(batchOf(first)),
    store.oraclePut(odd),
    store.commit(batchOf(second)),
  ]);
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

/** Those that this process has open of that store. */
const openFiles = (path: string): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    const link = `/proc/self/fd/${fd}`;
    // The one by which they are listed is closed by now.
    const file = existsSync(link) ? readlinkSync(link) : '';
    return file.startsWith(path) ? [file] : [];
  });

describe.runIf(existsSync('/proc/self/fd'))(
  'a store that can’t be opened leaves neither a thread nor a file behind',
  () => {
    // The first is what whoever writes prepares, the second what whoever reads does.
    const tables = ['entry_index', 'fact_word'];
    for (const table of tables) {
      test.each(['inline', 'thread'] as const)(`without ${table}: %s`, async (writer) => {
        const path = join(folder, `without-${table}-${writer}.db`);
        await (await openSqlite({ path })).close();
        const db = new DatabaseSync(path);
        db.exec(`DROP TABLE ${table}`);
        db.close();
        const before = threads.started.length;
        await expect(openSqlite({ path, writer })).rejects.toMatchObject({ code: 'store_failed' });
        expect(threads.started).toHaveLength(before + (writer === 'thread' ? 1 : 0));
        await vi.waitFor(() => expect(openFiles(path)).toEqual([]), { timeout: 300_000 });
      });
    }
  },
);

test('a file that others hold is said as ever, and so is a writer that there is none of', async () => {
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

test('a thread that ends while the store is closed: closing ends too, and effects are given up', async () => {
  const path = join(folder, 'ends.db');
  const store = await openSqlite({ path, writer: 'thread' });
  await store.holdEffects();
  const commit = store.commit(batchOf(entryAfter(undefined, 't')));
  const closing = store.close().catch((error: unknown) => error);
  await threads.started.at(-1)!.terminate();
  expect(['committed', 'unknown']).toContain((await commit).status);
  expect([undefined, 'store_poisoned']).toContain(((await closing) as { code?: string } | undefined)?.code);
  const other = await openSqlite({ path });
  await (await other.holdEffects()).release();
  await other.close();
});

test('an answer that comes after the thread was told to have ended answers nobody a second time', async () => {
  const store = await openSqlite({ path: join(folder, 'after.db'), writer: 'thread' });
  const commit = store.commit(batchOf(entryAfter(undefined, 't')));
  await new Promise(setImmediate);
  threads.started.at(-1)!.emit('error', new Error('it failed'));
  expect(await commit).toMatchObject({
    status: 'unknown',
    cause: { code: 'store_poisoned', cause: { message: 'it failed' } },
  });
  threads.started.at(-1)!.emit('message', { answers: [1, false, COMMITTED] });
  await store.close();
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
