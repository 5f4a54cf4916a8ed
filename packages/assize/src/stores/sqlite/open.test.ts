import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ALICE, changeOf } from '@assize/testing/internal/fact-rows.ts';
import { interceptSql } from '@assize/testing/internal/intercept.ts';
import { batchOf, chainOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { asUnprivilegedUser } from '../../../../../tests/support/process/as-unprivileged-user.ts';
import { UNRELEASED_MAX } from '../schema-version.ts';
import { type Durability, type OpenMode, openSqlite } from './open.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from './schema/migrate.ts';

const root = mkdtempSync(join(tmpdir(), 'assize-open-'));
afterAll(() => rmSync(root, { recursive: true }));

let folders = 0;
function newFolder(): string {
  const folder = join(root, `${++folders}`);
  mkdirSync(folder);
  return folder;
}

/** A closed store with a few entries. */
async function newStore(folder = newFolder()): Promise<string> {
  const path = join(folder, 'ledger.db');
  const store = await openSqlite({ path });
  await store.commit(batchOf(chainOf('t', 3)));
  await store.close();
  return path;
}

function foreignDatabase(path: string, statements = ''): void {
  const db = new DatabaseSync(path);
  db.exec(`CREATE TABLE cats (name TEXT); INSERT INTO cats VALUES ('Mog'); ${statements}`);
  db.close();
}

/** All names under the folder with their bytes. */
function snapshot(folder: string): Record<string, string> {
  const names = readdirSync(folder).sort();
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(join(folder, name)).toString('hex')]),
  );
}

describe('a file that is not ours is refused and left as it was', () => {
  const files: Readonly<Record<string, (path: string) => void>> = {
    text: (path) => writeFileSync(path, 'Dear diary, '.repeat(1_000)),
    'a few bytes': (path) => writeFileSync(path, 'x'),
    'an empty file': (path) => writeFileSync(path, ''),
    'random bytes under the SQLite header': (path) =>
      writeFileSync(path, `SQLite format 3\0${'\x07'.repeat(5_000)}`),
    "another program's database": (path) => foreignDatabase(path),
    "another program's database in WAL mode": (path) =>
      foreignDatabase(path, 'PRAGMA journal_mode = WAL;'),
    'a database with another application_id': (path) =>
      foreignDatabase(path, 'PRAGMA application_id = 7;'),
    'a database with only our schema version': (path) =>
      foreignDatabase(path, 'PRAGMA user_version = 1;'),
  };
  for (const [name, write] of Object.entries(files)) {
    test.each<OpenMode>(['create', 'existing', 'readonly'])(`${name}, mode %s`, async (mode) => {
      const folder = newFolder();
      const path = join(folder, 'ledger.db');
      write(path);
      const before = snapshot(folder);
      await expect(openSqlite({ path, mode })).rejects.toMatchObject({
        name: 'StoreError',
        code: 'store_other_schema',
        message: expect.stringContaining('ledger.db is'),
      });
      expect(snapshot(folder)).toEqual(before);
    });
  }

  test("another program's database with a WAL that a crash left behind", async () => {
    const folder = newFolder();
    const path = join(folder, 'ledger.db');
    foreignDatabase(path, 'PRAGMA journal_mode = WAL;');
    writeFileSync(`${path}-wal`, 'what SQLite would read or delete');
    const before = snapshot(folder);
    await expect(openSqlite({ path })).rejects.toMatchObject({
      code: 'store_other_schema',
      message: expect.stringContaining('ledger.db is not an Assize store: it is another program'),
    });
    expect(snapshot(folder)).toEqual(before);
  });

  test.each<OpenMode>(['create', 'existing', 'readonly'])(
    'a folder in its place, mode %s',
    async (mode) => {
      const path = newFolder();
      await expect(openSqlite({ path, mode })).rejects.toMatchObject({
        code: 'store_other_schema',
        message: expect.stringMatching(/is not an? |Name another schema/),
      });
    },
  );

  test('an empty file is called one', async () => {
    const path = join(newFolder(), 'ledger.db');
    writeFileSync(path, '');
    await expect(openSqlite({ path })).rejects.toThrow(/is an empty file/);
  });

  test.skipIf(process.platform === 'win32')('a device in its place', async () => {
    await expect(openSqlite({ path: '/dev/null' })).rejects.toMatchObject({
      code: 'store_other_schema',
      message: expect.stringMatching(/is not an? |Name another schema/),
    });
  });
});

describe('where there is no file', () => {
  test.each<OpenMode>(['existing', 'readonly'])('mode %s makes none', async (mode) => {
    const folder = newFolder();
    const path = join(folder, 'ledger.db');
    await expect(openSqlite({ path, mode })).rejects.toMatchObject({
      code: 'store_not_found',
      evidence: { path },
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('mode create makes a file with the store’s mark, and leaves no other file', async () => {
    const folder = newFolder();
    const path = join(folder, 'ledger.db');
    await (await openSqlite({ path })).close();
    expect(readdirSync(folder)).toEqual(['ledger.db']);
    const file = readFileSync(path);
    expect(file.readUInt32BE(68)).toBe(APPLICATION_ID);
    expect(file.readUInt32BE(60)).toBe(SCHEMA_VERSION);
  });

  test('all of many concurrent creators get the same whole store', async () => {
    const path = join(newFolder(), 'ledger.db');
    const stores = await Promise.all(Array.from({ length: 8 }, () => openSqlite({ path })));
    const row = entryAfter(undefined, 't');
    await stores[0]!.commit(batchOf(row));
    for (const store of stores) expect(await store.head('t')).toEqual(row);
    for (const store of stores) await store.close();
  });

  test('a missing folder, and a file in the place of the folder', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'file'), '');
    const missing = openSqlite({ path: join(folder, 'missing', 'ledger.db') });
    await expect(missing).rejects.toMatchObject({ code: 'store_not_found' });
    const under = openSqlite({ path: join(folder, 'file', 'ledger.db') });
    await expect(under).rejects.toMatchObject({ code: 'store_not_found' });
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test.each(['-wal', '-journal'])(
    'a %s without its file is not taken for a new one',
    async (suffix) => {
      const folder = newFolder();
      writeFileSync(join(folder, `ledger.db${suffix}`), 'the last entries');
      const before = snapshot(folder);
      const opening = openSqlite({ path: join(folder, 'ledger.db') });
      await expect(opening).rejects.toMatchObject({ code: 'store_not_found' });
      expect(snapshot(folder)).toEqual(before);
    },
  );

  test.each(['', ':memory:', 'a\0b', '\ud800'])('%j is not a path', async (path) => {
    await expect(openSqlite({ path })).rejects.toMatchObject({ code: 'store_invalid_input' });
  });

  test.each([{ mode: 'write' }, { durability: 'fast' }, { durability: 'OFF; --' }])(
    '%j is not an option',
    async (option) => {
      const folder = newFolder();
      const opening = openSqlite({ path: join(folder, 'ledger.db'), ...(option as object) });
      await expect(opening).rejects.toMatchObject({ code: 'store_invalid_input' });
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  test('a symbolic link to nothing', async () => {
    const folder = newFolder();
    symlinkSync(join(folder, 'nothing.db'), join(folder, 'ledger.db'));
    await expect(openSqlite({ path: join(folder, 'ledger.db') })).rejects.toMatchObject({
      code: 'store_not_found',
    });
    expect(readdirSync(folder)).toEqual(['ledger.db']);
  });

  test('a path means itself, also where SQLite would take it for a URI', async () => {
    const folder = newFolder();
    for (const name of ['file:x.db?mode=memory', 'a b#c%20?.db', 'caf\u00e9.db']) {
      await (await openSqlite({ path: join(folder, name) })).close();
      expect(existsSync(join(folder, name))).toBe(true);
    }
  });
});

async function* pages(): AsyncGenerator<[]> {
  yield [];
}

describe('schemas', () => {
  async function withVersion(version: number): Promise<string> {
    const path = await newStore();
    const db = new DatabaseSync(path);
    db.exec(`PRAGMA user_version = ${version}`);
    db.close();
    return path;
  }

  test.each<OpenMode>(['create', 'existing', 'readonly'])(
    'a newer one is refused, mode %s',
    async (mode) => {
      const path = await withVersion(SCHEMA_VERSION + 1);
      const before = readFileSync(path);
      await expect(openSqlite({ path, mode })).rejects.toMatchObject({
        code: 'store_other_schema',
        evidence: { schema: SCHEMA_VERSION + 1, supported: SCHEMA_VERSION },
      });
      expect(readFileSync(path)).toEqual(before);
    },
  );

  test('a newer schema that is only in the WAL is refused', async () => {
    const path = await newStore();
    const other = new DatabaseSync(path);
    other.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    expect(readFileSync(path).readUInt32BE(60)).toBe(SCHEMA_VERSION);
    await expect(openSqlite({ path })).rejects.toMatchObject({
      code: 'store_other_schema',
      message: expect.stringContaining(', and this version of Assize'),
    });
    other.close();
  });

  test('an open store writes nothing after a newer migration, and reports why', async () => {
    const path = await newStore();
    const store = await openSqlite({ path });
    const root = entryAfter(undefined, 'late');
    expect(await store.commit(batchOf(root))).toEqual({ status: 'committed' });
    const other = new DatabaseSync(path);
    other.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    const refused = { code: 'store_other_schema', evidence: { schema: SCHEMA_VERSION + 1 } };
    const next = entryAfter(root, 'late');
    const wrote = await Promise.allSettled([
      store.commit(batchOf(next)),
      store.rebuildFacts(pages()),
      store.scrub(),
    ]);
    expect(wrote).toMatchObject(wrote.map(() => ({ status: 'rejected', reason: refused })));
    await expect(store.commit(batchOf(next))).rejects.toMatchObject(refused);
    await expect(store.head('late')).rejects.toMatchObject(refused);
    await store.close();
    expect(
      other
        .prepare(
          "SELECT count(*) AS entries, (SELECT whole FROM fact_rebuild) AS whole FROM entry JOIN trajectory AS t ON t.key = trajectory WHERE t.name = 'late'",
        )
        .get(),
    ).toEqual({
      entries: 1,
      whole: 1,
    });
    other.close();
  });

  test.each<OpenMode>(['create', 'existing', 'readonly'])(
    'rejects a store of a development version, mode %s',
    async (mode) => {
      for (const version of [1, 20, UNRELEASED_MAX]) {
        const path = await withVersion(version);
        const before = readFileSync(path);
        await expect(openSqlite({ path, mode })).rejects.toMatchObject({
          code: 'store_other_schema',
          message: expect.stringMatching(
            /ledger\.db has schema \d+ of a development version.*assize export.*assize import/,
          ),
          evidence: { path, schema: version, supported: SCHEMA_VERSION },
        });
        expect(readFileSync(path)).toEqual(before);
      }
    },
  );

  test('keeps views of other programs when facts are rebuilt', async () => {
    const path = await newStore();
    const db = new DatabaseSync(path);
    db.exec(`CREATE VIEW mine AS SELECT subject, object FROM facts;
      CREATE VIEW days AS SELECT day FROM fact_text;
      CREATE VIEW stale AS SELECT gone FROM fact`);
    db.close();
    const store = await openSqlite({ path });
    await store.commit({ ...batchOf([]), facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a' }])] });
    const shell = new DatabaseSync(path, { readOnly: true });
    expect(shell.prepare('SELECT * FROM mine').all()).toEqual([
      { subject: 'alice', object: 'says a' },
    ]);
    await store.rebuildFacts((async function* () {})());
    expect(shell.prepare('SELECT * FROM mine').all()).toEqual([]);
    expect(shell.prepare('SELECT * FROM days').all()).toEqual([]);
    shell.close();
    expect(await store.selfCheck()).toEqual([]);
    await store.close();
  });
});

test.each<Durability>(['full', 'normal', 'off'])(
  'durability %s is passed to SQLite',
  async (durability) => {
    const told: string[] = [];
    interceptSql((sql, proceed) => {
      told.push(sql);
      return proceed();
    });
    const store = await openSqlite({ path: join(newFolder(), 'ledger.db'), durability });
    vi.restoreAllMocks();
    // Without the connection that creates the file.
    const connections = told.filter((sql) => sql.includes('synchronous')).slice(1);
    expect(connections).toHaveLength(1);
    expect(connections[0]).toContain(`synchronous = ${durability.toUpperCase()}`);
    expect(connections[0]).toContain(`PRAGMA fullfsync = ${durability === 'full' ? 'ON' : 'OFF'}`);
    const row = entryAfter(undefined, 't');
    expect(await store.commit(batchOf(row))).toEqual({ status: 'committed' });
    await store.close();
  },
);

/** The store's files that this process has open. */
const openFiles = (path: string): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    const link = `/proc/self/fd/${fd}`;
    // The descriptor that lists the folder is closed by then.
    const file = existsSync(link) ? readlinkSync(link) : '';
    return file.startsWith(path) ? [file] : [];
  });

describe('damaged files', () => {
  test('a store without its tables', async () => {
    const path = await newStore();
    const db = new DatabaseSync(path);
    db.exec('DROP TABLE entry');
    db.close();
    await expect(openSqlite({ path })).rejects.toMatchObject({
      code: 'store_other_schema',
      message: expect.stringContaining('Undo the change or restore a'),
      evidence: { path },
    });
  });

  // The writer prepares statements of the first table, the reader of the second.
  test.runIf(existsSync('/proc/self/fd')).each(['entry_index', 'fact_word'])(
    'a store without the table %s leaves no file open',
    async (table) => {
      const path = await newStore();
      const db = new DatabaseSync(path);
      db.exec(`DROP TABLE ${table}`);
      db.close();
      await expect(openSqlite({ path })).rejects.toMatchObject({
        code: 'store_other_schema',
        message: expect.stringContaining(
          'is missing. Undo the change or restore a backup, and check',
        ),
      });
      await expect(openSqlite({ path, mode: 'readonly' })).rejects.toMatchObject({
        code: 'store_failed',
      });
      expect(openFiles(path)).toEqual([]);
    },
  );

  test('a store with overwritten pages', async () => {
    const path = await newStore();
    const file = readFileSync(path);
    writeFileSync(path, file.fill(0xaa, 100));
    const reading = openSqlite({ path }).then((store) =>
      store.entries('t').finally(() => store.close()),
    );
    await expect(reading).rejects.toMatchObject({ code: 'store_corrupt' });
  });

  test('a store cut short is not made whole by a WAL', async () => {
    const path = await newStore();
    truncateSync(path, 4_096);
    await expect(openSqlite({ path })).rejects.toMatchObject({ code: 'store_corrupt' });
  });

  test('a store that crashed during a checkpoint opens, and is complete', async () => {
    // The first page contains the final size of the file. A checkpoint writes the first page before
    // the last pages. Those are still in the WAL.
    const path = await newStore();
    const { size } = statSync(path);
    const before = await openSqlite({ path });
    await before.commit(batchOf(chainOf('long', 500, 'x'.repeat(500))));
    const wal = readFileSync(`${path}-wal`);
    await before.close();
    const whole = readFileSync(path);
    const crashed = join(newFolder(), 'ledger.db');
    writeFileSync(crashed, whole.subarray(0, size));
    writeFileSync(`${crashed}-wal`, wal);
    const after = await openSqlite({ path: crashed });
    expect(await after.entries('long')).toHaveLength(500);
    expect(await after.entries('t')).toHaveLength(3);
    await after.close();
  });
});

describe('readonly', () => {
  test('reads, refuses writes, and changes no byte', async () => {
    const path = await newStore();
    const before = readFileSync(path);
    const store = await openSqlite({ path, mode: 'readonly' });
    expect(await store.entries('t')).toHaveLength(3);
    const row = entryAfter((await store.head('t'))!, 't');
    await expect(store.commit(batchOf(row))).rejects.toMatchObject({ code: 'store_readonly' });
    await expect(store.commit(batchOf([]))).rejects.toMatchObject({ code: 'store_readonly' });
    const put = store.oraclePut({ key: row.id, answer: '1', at: 'now' });
    await expect(put).rejects.toMatchObject({ code: 'store_readonly' });
    await store.close();
    expect(readFileSync(path)).toEqual(before);
  });

  test('sees a writer’s commits while it is open', async () => {
    const path = await newStore();
    const writer = await openSqlite({ path });
    const reader = await openSqlite({ path, mode: 'readonly' });
    const next = entryAfter((await writer.head('t'))!, 't');
    await writer.commit(batchOf(next));
    expect(await reader.head('t')).toEqual(next);
    await reader.close();
    await writer.close();
  });

  test('a symbolic link leads to the store', async () => {
    const path = await newStore();
    const link = join(newFolder(), 'link.db');
    symlinkSync(path, link);
    const reader = await openSqlite({ path: link, mode: 'readonly' });
    expect(await reader.entries('t')).toHaveLength(3);
    await reader.close();
  });

  test.skipIf(process.platform !== 'linux')(
    'a folder that accepts no files from any user',
    async () => {
      await expect(openSqlite({ path: '/proc/ledger.db' })).rejects.toMatchObject({
        code: 'store_readonly',
      });
    },
  );
});

describe('locks', () => {
  test('a file that another process locks for too long', async () => {
    const path = await newStore();
    const holder = new DatabaseSync(path);
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    for (const mode of ['create', 'readonly'] as const) {
      await expect(openSqlite({ path, mode, lockTimeoutMs: 50 })).rejects.toMatchObject({
        code: 'store_locked',
        retryable: true,
      });
    }
    holder.close();
    const store = await openSqlite({ path });
    expect(await store.entries('t')).toHaveLength(3);
    await store.close();
  });

  test('a commit that waits too long fails unwritten, and the store continues', async () => {
    const path = await newStore();
    const store = await openSqlite({ path, lockTimeoutMs: 50 });
    const holder = new DatabaseSync(path);
    holder.exec('BEGIN IMMEDIATE');
    const next = entryAfter((await store.head('t'))!, 't');
    const waiting = [store.commit(batchOf(next)), store.commit(batchOf(entryAfter(next, 't')))];
    const refused = { status: 'rejected', reason: { code: 'store_locked', retryable: true } };
    expect(await Promise.allSettled(waiting)).toMatchObject([refused, refused]);
    holder.exec('ROLLBACK');
    expect(await store.resolve(next.id)).toBeUndefined();
    expect(await store.commit(batchOf(next))).toEqual({ status: 'committed' });
    holder.close();
    await store.close();
  });

  test('a commit waits for a lock freed in time, and close waits for the commit', async () => {
    const path = await newStore();
    const store = await openSqlite({ path });
    const holder = new DatabaseSync(path);
    holder.exec('BEGIN IMMEDIATE');
    const next = entryAfter((await store.head('t'))!, 't');
    const commit = store.commit(batchOf(next));
    const closed = store.close();
    await new Promise((resolve) => setTimeout(resolve, 60));
    holder.exec('COMMIT');
    holder.close();
    expect(await commit).toEqual({ status: 'committed' });
    await closed;
  });
});

describe.skipIf(process.platform === 'win32')('permissions', () => {
  async function withModes(
    file: number,
    folder: number,
    test: (path: string) => Promise<void>,
  ): Promise<void> {
    chmodSync(root, 0o755);
    const path = await newStore();
    const parent = join(path, '..');
    chmodSync(path, file);
    chmodSync(parent, folder);
    try {
      await asUnprivilegedUser(() => test(path));
    } finally {
      chmodSync(parent, 0o755);
    }
  }

  test('a read-only file is not opened for writing', () =>
    withModes(0o444, 0o777, async (path) => {
      await expect(openSqlite({ path })).rejects.toMatchObject({ code: 'store_readonly' });
    }));

  test('a read-only folder is not opened for writing', () =>
    withModes(0o666, 0o555, async (path) => {
      await expect(openSqlite({ path })).rejects.toMatchObject({ code: 'store_readonly' });
      const beside = join(path, '..', 'new.db');
      await expect(openSqlite({ path: beside })).rejects.toMatchObject({ code: 'store_readonly' });
    }));

  test('a file that this user may not read is named, with the remedy', () =>
    withModes(0o000, 0o755, async (path) => {
      const message = expect.stringMatching(
        /this user may not read it, or may not make the files .*Give this user/,
      );
      await expect(openSqlite({ path, mode: 'readonly' })).rejects.toMatchObject({
        code: 'store_failed',
        message,
      });
    }));

  test('pages of a writer in a read-only folder are named, with the remedy', async () => {
    chmodSync(root, 0o755);
    const path = await newStore();
    const writer = await openSqlite({ path });
    await writer.commit(batchOf(entryAfter(undefined, 'more')));
    // As a crash leaves them: the pages, and no index of them.
    const copy = join(newFolder(), 'ledger.db');
    for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${copy}${end}`);
    await writer.close();
    chmodSync(copy, 0o444);
    chmodSync(`${copy}-wal`, 0o444);
    chmodSync(join(copy, '..'), 0o555);
    const message = expect.stringMatching(
      /ledger\.db failed: this user may not read it, or may not make the files/,
    );
    await asUnprivilegedUser(() =>
      expect(openSqlite({ path: copy, mode: 'readonly' })).rejects.toMatchObject({
        code: 'store_failed',
        message,
      }),
    );
    chmodSync(join(copy, '..'), 0o755);
  });

  test('a read-only file in a read-only folder can be read', () =>
    withModes(0o444, 0o555, async (path) => {
      const store = await openSqlite({ path, mode: 'readonly' });
      expect(await store.entries('t')).toHaveLength(3);
      await store.close();
      expect(readdirSync(join(path, '..'))).toEqual(['ledger.db']);
    }));
});
