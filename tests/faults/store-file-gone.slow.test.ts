/**
 * The files of an open SQLite store are removed, renamed or replaced. A commit is answered only if
 * it is in the file that the next program finds at the path.
 */
import { type ChildProcess, execFileSync, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CommitResult } from '#ledger';
import { openSqlite, type SqliteStore } from '#stores';
import { interceptSql } from '../../packages/testing/src/intercept.ts';
import { batchOf, blobOf, entryAfter } from '../../packages/testing/src/store-rows.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { tally } from '../support/tools/effect-sink.ts';

const root = mkdtempSync(join(tmpdir(), 'assize-gone-'));
afterAll(() => rmSync(root, { recursive: true }));

const python = spawnSync('python3', ['--version']).status === 0;
let count = 0;
let folder: string;
let path: string;
let opened: SqliteStore[] = [];
let children: ChildProcess[] = [];

beforeEach(() => {
  folder = join(root, `${++count}`);
  mkdirSync(folder);
  path = join(folder, 'ledger.db');
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const store of opened) await store.close();
  for (const child of children) {
    child.disconnect();
    await once(child, 'exit');
  }
  opened = [];
  children = [];
});

async function openAt(file = path): Promise<SqliteStore> {
  const store = await openSqlite({ path: file });
  opened.push(store);
  return store;
}

const rootOf = (trajectoryId: string) => entryAfter(undefined, trajectoryId);
const commit = (store: SqliteStore, trajectoryId: string): Promise<CommitResult> =>
  store.commit(batchOf(rootOf(trajectoryId)));

/** A copy of the store as it is now. Another program moves it over the file later. */
async function backUp(): Promise<string> {
  const copy = join(folder, 'backup.db');
  const db = new DatabaseSync(path, { readOnly: true });
  db.exec(`VACUUM INTO '${copy}'`);
  db.close();
  return copy;
}

async function expectPoisoned(store: SqliteStore, file: string): Promise<void> {
  const gone = {
    code: 'store_poisoned',
    message: expect.stringContaining('removed, renamed or replaced'),
  };
  expect(await commit(store, 'in doubt')).toMatchObject({ status: 'unknown', cause: gone });
  const evidence = { path: store.path, file };
  await expect(commit(store, 'later')).rejects.toMatchObject({ ...gone, evidence });
  await expect(store.trajectories()).rejects.toMatchObject({ code: 'store_poisoned', evidence });
}

/** A chain of that many entries of 1 KiB, in a trajectory of its own. */
async function fill(store: SqliteStore, trajectoryId: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++)
    await store.commit(batchOf(entryAfter(undefined, `${trajectoryId} ${n}`, 'x'.repeat(1_000))));
}

test('a cut file: the first commit after it is not answered', async () => {
  const store = await openAt();
  await fill(store, 'a', 100);
  await (await openAt()).close();
  // Copies the WAL into the file, as another program does.
  new DatabaseSync(path).exec('PRAGMA wal_checkpoint(PASSIVE)');
  expect(await commit(store, 'seen')).toEqual({ status: 'committed' });
  truncateSync(path, 4_096);
  const cut = { code: 'store_poisoned', message: expect.stringContaining('was cut') };
  expect(await commit(store, 'in doubt')).toMatchObject({ status: 'unknown', cause: cut });
  await expect(store.trajectories()).rejects.toMatchObject(cut);
});

test('a file that another process rewrites shorter goes on', async () => {
  const store = await openAt();
  const other = await openAt();
  await store.commit(batchOf(rootOf('t')));
  await store.putSnapshot({ trajectory_id: 't', seq: 0, ...blobOf('x'.repeat(200_000)) }, 0);
  await store.vacuum();
  await commit(store, 'seen');
  const before = statSync(path).size;
  await other.dropSnapshots();
  await other.vacuum();
  expect(statSync(path).size).toBeLessThan(before - 100_000);
  // The store grows in the WAL, and the file stays short.
  await fill(other, 'b', 20);
  for (const name of ['a', 'b']) expect(await commit(store, name)).toEqual({ status: 'committed' });
  store.requireInPlace();
});

describe('no commit is answered after', () => {
  const REMOVED: Readonly<Record<string, readonly string[]>> = {
    'the store was removed': ['', '-wal', '-shm'],
    'the file was removed': [''],
    'the WAL was removed': ['-wal'],
    'the index of the WAL was removed': ['-shm'],
  };
  test.each(Object.entries(REMOVED))('%s', async (_, endings) => {
    const store = await openAt();
    expect(await commit(store, 'a')).toEqual({ status: 'committed' });
    for (const ending of endings) rmSync(path + ending);
    await expectPoisoned(store, path + endings[0]!);
    await store.close();
    expect(existsSync(path)).toBe(!endings.includes(''));
    if (endings.includes('')) return;
    // The file is whole, and the next handle finds out what became of the unknown commit.
    const again = await openAt();
    expect(await again.resolve(rootOf('a').id)).toMatchObject({ trajectory_id: 'a' });
    expect(await again.selfCheck()).toEqual([]);
    expect(await commit(again, 'b')).toEqual({ status: 'committed' });
  });

  test('a backup was moved over the file', async () => {
    const store = await openAt();
    await commit(store, 'a');
    const backup = await backUp();
    await commit(store, 'b');
    renameSync(backup, path);
    await expectPoisoned(store, path);
    await store.close();
  });

  test('a backup was moved over the file, the WAL and its index', async () => {
    const store = await openAt();
    await commit(store, 'a');
    const backup = await backUp();
    for (const ending of ['-wal', '-shm']) rmSync(path + ending);
    renameSync(backup, path);
    const other = await openAt();
    expect(await commit(other, 'by the new handle')).toEqual({ status: 'committed' });
    await expectPoisoned(store, path);
    await store.close();
    expect(await commit(other, 'once more')).toEqual({ status: 'committed' });
    await other.close();
    const again = await openAt();
    for (const id of ['a', 'by the new handle', 'once more'])
      expect(await again.resolve(rootOf(id).id)).toBeDefined();
  });

  test('the file was renamed, and a copy took its name', async () => {
    const store = await openAt();
    await commit(store, 'a');
    renameSync(path, `${path}.old`);
    copyFileSync(`${path}.old`, path);
    await expectPoisoned(store, path);
  });

  test('its folder was renamed', async () => {
    const inside = join(folder, 'data', 'ledger.db');
    mkdirSync(dirname(inside));
    const store = await openAt(inside);
    await commit(store, 'a');
    renameSync(dirname(inside), join(folder, 'moved'));
    await expectPoisoned(store, inside);
  });

  test('its folder was replaced by a file', async () => {
    const inside = join(folder, 'data', 'ledger.db');
    mkdirSync(dirname(inside));
    const store = await openAt(inside);
    await commit(store, 'a');
    renameSync(dirname(inside), join(folder, 'moved'));
    writeFileSync(dirname(inside), 'in the way');
    await expectPoisoned(store, inside);
  });

  test('the link that it was opened by names another file', async () => {
    const store = await openAt(join(folder, 'real.db'));
    await store.close();
    copyFileSync(join(folder, 'real.db'), join(folder, 'other.db'));
    symlinkSync('real.db', path);
    const linked = await openAt();
    expect(await commit(linked, 'a')).toEqual({ status: 'committed' });
    rmSync(path);
    symlinkSync('other.db', path);
    await expectPoisoned(linked, path);
  });

  test('the target of the link was renamed together with the link', async () => {
    const real = join(folder, 'real.db');
    await (await openAt(real)).close();
    symlinkSync('real.db', path);
    const linked = await openAt();
    await commit(linked, 'a');
    // The path names the same file, and the WAL has the old name, where no opening looks for it.
    renameSync(real, join(folder, 'renamed.db'));
    rmSync(path);
    symlinkSync('renamed.db', path);
    await expectPoisoned(linked, real);
  });

  // Node's own SQLite leaves the WAL, and other builds of SQLite remove it.
  test.skipIf(!python)(
    'a reader (python3) removed the WAL of a process without its locks',
    async () => {
      const store = await openAt();
      await commit(store, 'a');
      // A plain read and close of the file drops the POSIX locks of this process.
      readFileSync(path);
      const reader =
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('SELECT count(*) FROM entry').fetchall(); db.close()";
      execFileSync('python3', ['-c', reader, path]);
      expect(existsSync(`${path}-wal`)).toBe(false);
      await expectPoisoned(store, `${path}-wal`);
      await store.close();
      const again = await openAt();
      expect(await again.resolve(rootOf('a').id)).toBeDefined();
      expect(await again.selfCheck()).toEqual([]);
    },
  );

  test('another handle of this process was opened without the index of the WAL', async () => {
    const idle = await openAt();
    await commit(idle, 'a');
    rmSync(`${path}-shm`);
    const store = await openAt();
    expect(await commit(store, 'b')).toEqual({ status: 'committed' });
    // Another process makes an index of its own, and would not see the locks of this one.
    writeFileSync(`${path}-shm`, '');
    await expectPoisoned(store, `${path}-shm`);
    await expectPoisoned(idle, `${path}-shm`);
  });
});

describe('while a group commit is in flight', () => {
  test.each(['before', 'after'] as const)(
    'a replacement just %s its COMMIT leaves every answer unknown',
    async (when) => {
      const store = await openAt();
      await commit(store, 'a');
      const backup = await backUp();
      interceptSql((sql, proceed) => {
        const moves = sql === 'COMMIT' && existsSync(backup);
        if (moves && when === 'before') renameSync(backup, path);
        const result = proceed();
        if (moves && when === 'after') renameSync(backup, path);
        return result;
      });
      const group = ['b', 'c', 'd'].map((id) => commit(store, id));
      const answer = store.oraclePut({ key: 'a'.repeat(64), answer: '1', at: 'now' });
      await expect(answer).rejects.toMatchObject({ code: 'store_poisoned' });
      for (const result of await Promise.all(group))
        expect(result).toMatchObject({ status: 'unknown' });
    },
  );

  test('a store that keeps writing answers no commit that is lost', async () => {
    const store = await openAt();
    const committed: string[] = [];
    const backup = join(folder, 'backup.db');
    let failed: unknown;
    for (let n = 0; failed === undefined; n += 1) {
      if (n === 20) copyFileSync(path, backup);
      if (n === 40) {
        for (const ending of ['-wal', '-shm']) rmSync(path + ending);
        renameSync(path, join(folder, 'aside.db'));
        renameSync(backup, path);
      }
      const results = await Promise.all([0, 1, 2].map((i) => commit(store, `${n}-${i}`))).catch(
        (error) => error,
      );
      if (!Array.isArray(results) || results.some(({ status }) => status !== 'committed'))
        failed = results;
      else committed.push(...[0, 1, 2].map((i) => `${n}-${i}`));
    }
    expect(committed).toHaveLength(120);
  });
});

describe('several processes', () => {
  async function writer(): Promise<(trajectoryId: string) => Promise<string>> {
    const child = fork(join(import.meta.dirname, 'store-writer.ts'), [path]);
    children.push(child);
    expect((await once(child, 'message'))[0]).toBe('open');
    return async (trajectoryId) => {
      child.send(trajectoryId);
      return (await once(child, 'message'))[0] as string;
    };
  }

  test('that have the file open all refuse after a backup was moved over it', async () => {
    const [one, two] = [await writer(), await writer()];
    expect([await one('a'), await two('b')]).toEqual(['committed', 'committed']);
    renameSync(await backUp(), path);
    expect([await one('c'), await two('d')]).toEqual(['unknown', 'unknown']);
    expect([await one('e'), await two('f')]).toEqual(['store_poisoned', 'store_poisoned']);
  });

  test('refuse where only the WAL and its index were removed', async () => {
    const [one, two] = [await writer(), await writer()];
    expect([await one('a'), await two('b')]).toEqual(['committed', 'committed']);
    for (const ending of ['-wal', '-shm']) rmSync(path + ending);
    expect([await one('c'), await two('d')]).toEqual(['unknown', 'unknown']);
  });

  test('that open and close the file beside a writer change nothing for it', async () => {
    const store = await openAt();
    expect(await commit(store, 'a')).toEqual({ status: 'committed' });
    const other = await writer();
    expect(await other('b')).toBe('committed');
    const child = children.pop()!;
    child.disconnect();
    await once(child, 'exit');
    expect(await commit(store, 'c')).toEqual({ status: 'committed' });
  });
});

describe('a store stays open', () => {
  test('over its own checkpoints and rewrites, and those of other connections', async () => {
    const store = await openAt();
    for (const step of ['wal_checkpoint(TRUNCATE)', 'wal_checkpoint(RESTART)', 'optimize']) {
      const db = new DatabaseSync(path);
      db.exec(`PRAGMA ${step}`);
      db.close();
      expect(await commit(store, step)).toEqual({ status: 'committed' });
    }
    await store.commit({
      entries: [],
      blobs: [],
      erased: [{ hash: 'a'.repeat(64), by: 'b'.repeat(64) }],
    });
    await store.scrub();
    expect(await commit(store, 'after a rewrite')).toEqual({ status: 'committed' });
  });

  test('where the file gets a second name', async () => {
    const store = await openAt();
    linkSync(path, join(folder, 'second.db'));
    expect(await commit(store, 'a')).toEqual({ status: 'committed' });
  });
});

test('fault: the file is removed or replaced: commit_unknown, then refused', async () => {
  const store = await openAt();
  const assize = runtimeOver(store, [tally]);
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const act = () =>
    trajectory.propose({ action: 'count', role: 'counter', args: 'x', writ: writFor('alice') });
  expect((await act()).ruling).toBe('committed');
  for (const ending of ['', '-wal', '-shm']) rmSync(path + ending);
  await expect(act()).rejects.toMatchObject({ code: 'commit_unknown' });
  await expect(act()).rejects.toMatchObject({ code: 'store_poisoned' });
});
