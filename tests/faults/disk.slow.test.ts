/**
 * A full disk, a file that cannot be written, a file or a table that another process holds: the
 * view of the runtime's caller.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { verifyStore } from '#runtime';
import { openStore } from '#stores';
import type { DeskState } from '../support/ledger/desk.ts';
import { type Databases, onEveryDatabase, type Place } from '../support/ledger/stores.ts';
import { holdTable } from '../support/postgres/index.ts';
import { asUnprivilegedUser } from '../support/process/as-unprivileged-user.ts';
import { begun, CallerReport, expectOnce, file, papersOf, processOver } from './callers.ts';

afterEach(() => vi.restoreAllMocks());

onEveryDatabase((stores) => {
  const { kind } = stores;

  test('fault: a full disk: a typed error, answers stay, retries are there once', async () => {
    const place = stores.newPlace();
    const disk = kind === 'sqlite' ? smallFile() : smallDisk(place);
    const store = await place.open();
    const trajectory = await begun(store);
    const papers = papersOf(40);
    const told = new CallerReport();
    for (const paper of papers.slice(0, 5)) await told.hear(paper, file(trajectory, paper, 5_000));
    await disk.fill();
    for (const some of [papers.slice(5, 20), papers.slice(20)]) {
      await Promise.all(some.map((paper) => told.hear(paper, file(trajectory, paper, 5_000))));
    }
    expect(told.errors.length).toBeGreaterThan(20);
    told.expectErrors(['commit_unknown', 'store_failed'], /full.*Free space/);
    await disk.free();
    for (const paper of papers) await told.hear(paper, file(trajectory, paper, 5_000));
    expect(told.errors).toEqual([]);
    await expectOnce(await place.open(), told, papers);
  });

  test('fault: a store opened for reading: store_readonly, nothing is changed', async () => {
    const place = stores.newPlace();
    const writer = await place.open();
    await begun(writer);
    await writer.close();
    const store = await place.open({ mode: 'readonly' });
    const trajectory = await processOver(store).open('t');
    await expect(file(trajectory, 'paper')).rejects.toMatchObject({
      code: 'store_readonly',
      message: expect.stringMatching(/cannot be written: .*open/),
    });
    // An adjudicated proposal that could not be written is not visible.
    expect((trajectory.state() as DeskState).boxes).toEqual({});
    expect((await verifyStore(store)).map(({ valid, entries }) => [valid, entries])).toEqual([
      [true, 1],
    ]);
    const told = new CallerReport();
    await told.hear('paper', file(await processOver(await place.open()).open('t'), 'paper'));
    await expectOnce(store, told, ['paper']);
  });

  describe('fault: a locked file or table: unnoticed, or store_locked with no write', () => {
    test('and released in time: unnoticed', async () => {
      const place = stores.newPlace();
      const store = await place.open({ lockTimeoutMs: 60_000 });
      const trajectory = await begun(store);
      const release = await hold(stores, place);
      const told = new CallerReport();
      const papers = papersOf(10);
      const hearing = papers.map((paper) => told.hear(paper, file(trajectory, paper)));
      await release();
      await Promise.all(hearing);
      expect(told.errors).toEqual([]);
      await expectOnce(store, told, papers);
    });

    test('and not released: store_locked, nothing written, the handle continues', async () => {
      const place = stores.newPlace();
      const store = await place.open({ lockTimeoutMs: 100 });
      const trajectory = await begun(store);
      const release = await hold(stores, place);
      const told = new CallerReport();
      const papers = papersOf(10);
      await Promise.all(papers.map((paper) => told.hear(paper, file(trajectory, paper))));
      expect(told.answered.size).toBe(0);
      expect(told.errors).toHaveLength(10);
      told.expectErrors(['store_locked'], /locked by another process.*Try again/);
      const reading = openStore(place.url, { lockTimeoutMs: 50, checkpoint: false }).then(
        async (other) => {
          await other.head('t').finally(() => other.close());
        },
      );
      await expect(reading).rejects.toMatchObject({ code: 'store_locked', retryable: true });
      await release();
      for (const paper of papers) await told.hear(paper, file(trajectory, paper));
      expect(told.errors).toEqual([]);
      await expectOnce(store, told, papers);
    });
  });
});

describe.skipIf(process.platform === 'win32')(
  'fault: an unwritable file or folder: store_readonly, with a remedy',
  () => {
    test.each([
      ['file', 0o444, 0o777],
      ['folder', 0o666, 0o555],
    ])('a %s', async (_what, fileMode, folderMode) => {
      const folder = mkdtempSync(join(tmpdir(), 'assize-readonly-'));
      chmodSync(folder, 0o755);
      const inside = join(folder, 'inside');
      mkdirSync(inside);
      const path = join(inside, 'ledger.db');
      const store = await openStore(`sqlite:${path}`);
      await begun(store);
      await store.close();
      const before = readFileSync(path);
      chmodSync(path, fileMode);
      chmodSync(inside, folderMode);
      const refusal = {
        code: 'store_readonly',
        message: expect.stringMatching(/cannot be written: .*\. Open it with mode readonly/),
      };
      try {
        await asUnprivilegedUser(async () => {
          await expect(openStore(`sqlite:${path}`)).rejects.toMatchObject(refusal);
          const reader = await openStore(`sqlite:${path}`, { mode: 'readonly' });
          await expect(file(await processOver(reader).open('t'), 'paper')).rejects.toMatchObject({
            code: 'store_readonly',
          });
          await reader.close();
        });
        expect(readFileSync(path)).toEqual(before);
      } finally {
        chmodSync(inside, 0o755);
      }
      expect(
        readdirSync(inside).filter((name) => name !== 'ledger.db' && !/-(wal|shm)$/.test(name)),
      ).toEqual([]);
      rmSync(folder, { recursive: true });
    });
  },
);

interface Disk {
  fill(): Promise<void>;
  free(): Promise<void>;
}

/**
 * For the connection opened next: SQLite itself reports a full disk.
 */
function smallFile(): Disk {
  const opening = vi.spyOn(DatabaseSync.prototype, 'exec');
  let connection: DatabaseSync | undefined;
  return {
    fill: async () => {
      const db = opening.mock.contexts.findLast(
        (context) => (context as unknown as DatabaseSync).isOpen,
      );
      vi.restoreAllMocks();
      connection = db as unknown as DatabaseSync;
      const pages = Number(connection.prepare('PRAGMA page_count').get()!['page_count']);
      connection.exec(`PRAGMA max_page_count = ${pages + 4}`);
    },
    free: async () => connection!.exec('PRAGMA max_page_count = 1073741823'),
  };
}

/** The server says so of every entry. */
function smallDisk(place: Place): Disk {
  return {
    fill: () =>
      place.sql(
        `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`,
        'CREATE TRIGGER full_disk AFTER INSERT ON entry EXECUTE FUNCTION full_disk()',
      ),
    free: () => place.sql('DROP TRIGGER full_disk ON entry', 'DROP FUNCTION full_disk'),
  };
}

/** A foreign transaction that blocks all other writers. Returns a function that ends it. */
async function hold({ kind }: Databases, place: Place): Promise<() => Promise<void>> {
  if (kind === 'sqlite') return holdFile(place.url.slice('sqlite:'.length));
  return holdTable(place.url, 'entry');
}

/** A process of its own, because locks of one process are not in its own way everywhere. */
async function holdFile(path: string): Promise<() => Promise<void>> {
  const script = `
    const { DatabaseSync } = require('node:sqlite');
    const db = new DatabaseSync(${JSON.stringify(path)}, { timeout: 10_000 });
    db.exec('BEGIN IMMEDIATE');
    console.log('held');
    process.stdin.once('data', () => { db.exec('ROLLBACK'); db.close(); process.exit(0); });`;
  const child = spawn(process.execPath, ['--eval', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  // Null when it ended without a word.
  const [word] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => [null]),
  ]);
  expect(word?.toString()).toBe('held\n');
  return async () => {
    const exited = once(child, 'exit');
    child.stdin.write('release\n');
    await exited;
  };
}
