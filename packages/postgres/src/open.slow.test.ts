import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { batchOf, blobOf, chainOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { integrateLog } from 'assize/internal/ledger';
import { openStore } from 'assize/internal/stores';
import type { OpenMode } from 'assize/internal/stores/options.ts';
import { UNRELEASED_MAX } from 'assize/internal/stores/schema-version.ts';
import { describe, expect, test } from 'vitest';
import { withPostgres } from '../../../tests/support/postgres/index.ts';
import { loadDriver } from './connection/driver.ts';
import { Session } from './connection/session.ts';
import { openPostgres, PostgresStore } from './index.ts';
import { MIGRATIONS, migrate, SCHEMA_VERSION } from './schema/migrate.ts';

const MODES: readonly OpenMode[] = ['create', 'existing', 'readonly'];

withPostgres('opening', (postgres) => {
  /** The URL of a closed store with a few entries. */
  async function newStore(): Promise<string> {
    const url = postgres.url();
    const store = await openPostgres({ url });
    await store.commit(batchOf(chainOf('t', 3)));
    await store.close();
    return url;
  }

  /** The full catalog of the schema at a URL, with the rows of its tables. */
  async function snapshot(url: string): Promise<unknown> {
    const schema = postgres.schemaOf(url);
    const things = await postgres.query(
      `SELECT 'class' AS sort, relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace
       UNION SELECT 'proc', proname FROM pg_proc WHERE pronamespace = $1::regnamespace
       UNION SELECT 'type', typname FROM pg_type WHERE typnamespace = $1::regnamespace ORDER BY 1, 2`,
      [schema],
    );
    const tables = await postgres.query(
      'SELECT tablename FROM pg_tables WHERE schemaname = $1 ORDER BY 1',
      [schema],
    );
    const rows = await Promise.all(
      tables.map((table) => postgres.query(`TABLE "${schema}"."${table['tablename']}"`)),
    );
    return { things, rows };
  }

  describe('where there is no store', () => {
    test.each(['existing', 'readonly'] as const)('mode %s makes none', async (mode) => {
      const url = postgres.url();
      await expect(openPostgres({ url, mode })).rejects.toMatchObject({ code: 'store_not_found' });
      expect(
        await postgres.query('SELECT FROM pg_namespace WHERE nspname = $1', [
          postgres.schemaOf(url),
        ]),
      ).toEqual([]);
    });

    test('mode create makes a store, and only within its schema', async () => {
      const around = (): Promise<unknown> =>
        postgres.query("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace");
      const before = await around();
      const url = await newStore();
      const mark = await postgres.query(`SELECT * FROM "${postgres.schemaOf(url)}".mark`);
      expect(mark).toEqual([{ application: 'assize', version: SCHEMA_VERSION }]);
      expect(await around()).toEqual(before);
    });

    test('an empty schema that is there is filled, without the right to make one', async () => {
      const url = postgres.url();
      const schema = postgres.schemaOf(url);
      const user = `${schema}_user`;
      await postgres.query(
        `CREATE ROLE "${user}" LOGIN PASSWORD 'x'; CREATE SCHEMA "${schema}" AUTHORIZATION "${user}"`,
      );
      const asUser = new URL(url);
      asUser.username = user;
      asUser.password = 'x';
      await expect(openPostgres({ url: asUser.href, mode: 'existing' })).rejects.toMatchObject({
        code: 'store_not_found',
      });
      const store = await openPostgres({ url: asUser.href });
      expect(await store.commit(batchOf(entryAfter(undefined, 't')))).toEqual({
        status: 'committed',
      });
      await store.close();
      await postgres.query(`DROP OWNED BY "${user}"; DROP ROLE "${user}"`);
    });

    test('all of many concurrent creators get the same whole store', async () => {
      const url = postgres.url();
      const stores = await Promise.all(Array.from({ length: 8 }, () => openPostgres({ url })));
      const row = entryAfter(undefined, 't');
      await stores[0]!.commit(batchOf(row));
      for (const store of stores) expect(await store.head('t')).toEqual(row);
      for (const store of stores) await store.close();
    });
  });

  describe('a schema of another program is refused and left unchanged', () => {
    const things: Readonly<Record<string, string>> = {
      'a table': 'CREATE TABLE cats (name text)',
      'a table with our name': 'CREATE TABLE entry (name text)',
      'a mark of another form': 'CREATE TABLE mark (name text); INSERT INTO mark VALUES (1)',
      "another program's mark":
        "CREATE TABLE mark (application text, version int); INSERT INTO mark VALUES ('cats', 1)",
      'a mark without a row': 'CREATE TABLE mark (application text, version int)',
      'two marks':
        "CREATE TABLE mark (application text, version int); INSERT INTO mark VALUES ('assize', 1), ('assize', 2)",
      'a function': 'CREATE FUNCTION append() RETURNS int RETURN 1',
      'a type': "CREATE TYPE cat AS ENUM ('Mog')",
      'a view': 'CREATE VIEW mark AS SELECT 1 AS one',
    };
    for (const [name, statements] of Object.entries(things)) {
      test.each(MODES)(`${name}, mode %s`, async (mode) => {
        const url = postgres.url();
        const schema = postgres.schemaOf(url);
        await postgres.query(
          `CREATE SCHEMA "${schema}"; SET search_path TO "${schema}"; ${statements}`,
        );
        const before = await snapshot(url);
        await expect(openPostgres({ url, mode })).rejects.toMatchObject({
          name: 'StoreError',
          code: 'store_other_schema',
        });
        expect(await snapshot(url)).toEqual(before);
      });
    }
  });

  describe('schemas', () => {
    async function withVersion(version: number): Promise<string> {
      const url = await newStore();
      await postgres.query(`UPDATE "${postgres.schemaOf(url)}".mark SET version = ${version}`);
      return url;
    }

    test.each(MODES)('a newer one is refused, mode %s', async (mode) => {
      const url = await withVersion(SCHEMA_VERSION + 1);
      const before = await snapshot(url);
      await expect(openPostgres({ url, mode })).rejects.toMatchObject({
        code: 'store_other_schema',
        evidence: { schema: SCHEMA_VERSION + 1, supported: SCHEMA_VERSION },
      });
      expect(await snapshot(url)).toEqual(before);
    });

    test.each(MODES)('rejects a store of a development version, mode %s', async (mode) => {
      for (const version of [1, 23, UNRELEASED_MAX]) {
        const url = await withVersion(version);
        const before = await snapshot(url);
        await expect(openPostgres({ url, mode })).rejects.toMatchObject({
          code: 'store_other_schema',
          message: expect.stringMatching(
            /schema=\S+ has schema \d+ of a development version.*assize export.*assize import/,
          ),
          evidence: { schema: version, supported: SCHEMA_VERSION },
        });
        expect(await snapshot(url)).toEqual(before);
      }
    });

    async function migratedBy(url: string, migrations: readonly string[]): Promise<void> {
      const session = await Session.open({
        driver: await loadDriver(),
        url: url.slice(0, url.indexOf('?')),
        path: '',
        applicationName: 'test',
        connectTimeoutMs: 10_000,
        lockTimeoutMs: 10_000,
        statementTimeoutMs: 10_000,
      });
      try {
        await migrate(session, postgres.schemaOf(url), 'there', 'existing', migrations);
      } finally {
        await session.end();
      }
    }

    test('runs the migrations that a store lacks, once', async () => {
      const url = await newStore();
      const more = [...MIGRATIONS, 'CREATE TABLE more (n int); INSERT INTO more VALUES (1);'];
      await Promise.all(Array.from({ length: 4 }, () => migratedBy(url, more)));
      const schema = postgres.schemaOf(url);
      expect(await postgres.query(`SELECT * FROM "${schema}".more`)).toEqual([{ n: 1 }]);
      expect(await postgres.query(`SELECT count(*)::int AS n FROM "${schema}".entry`)).toEqual([
        { n: 3 },
      ]);
      await expect(openPostgres({ url })).rejects.toMatchObject({
        code: 'store_other_schema',
        evidence: { schema: SCHEMA_VERSION + 1 },
      });
    });

    test('a migration that fails leaves the store unchanged', async () => {
      const url = await newStore();
      const before = await snapshot(url);
      const more = [...MIGRATIONS, 'CREATE TABLE more (n int); SELECT 1 / 0;'];
      await expect(migratedBy(url, more)).rejects.toMatchObject({ code: '22012' });
      expect(await snapshot(url)).toEqual(before);
    });

    test('an open store writes nothing after a foreign migration and a reconnect', async () => {
      const url = await newStore();
      const store = await openPostgres({ url, applicationName: 'older' });
      const next = entryAfter(await store.head('t'), 't');
      await postgres.query(`UPDATE "${postgres.schemaOf(url)}".mark SET version = version + 1`);
      await postgres.query(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'older'",
      );
      await expect(store.commit(batchOf(next))).rejects.toMatchObject({
        code: 'store_other_schema',
        message: expect.stringContaining(', and this version of Assize'),
      });
      await store.close();
    });
  });

  describe('readonly', () => {
    test('reads, refuses writes, and changes nothing', async () => {
      const url = await newStore();
      const before = await snapshot(url);
      const store = await openPostgres({ url, mode: 'readonly' });
      expect(store).toMatchObject({ readonly: true });
      expect(await store.entries('t')).toHaveLength(3);
      const row = entryAfter((await store.head('t'))!, 't');
      const calls: readonly (() => Promise<unknown>)[] = [
        () => store.commit(batchOf(row)),
        () => store.commit(batchOf([])),
        () => store.oraclePut({ key: row.id, answer: '1', at: 'now' }),
        () => store.integrate({ size: 0, leaves: [], nodes: [] }),
      ];
      for (const call of calls)
        await expect(call()).rejects.toMatchObject({ code: 'store_readonly' });
      await store.close();
      expect(await snapshot(url)).toEqual(before);
    });

    test('sees a writer’s commits while it is open', async () => {
      const url = await newStore();
      const [writer, reader] = [
        await openPostgres({ url }),
        await openPostgres({ url, mode: 'readonly' }),
      ];
      const next = entryAfter((await writer.head('t'))!, 't');
      await writer.commit(batchOf(next));
      expect(await reader.head('t')).toEqual(next);
      await reader.close();
      await writer.close();
    });

    test('a user with read rights can read, and its write is reported as denied', async () => {
      const url = await newStore();
      const schema = postgres.schemaOf(url);
      const user = `${schema}_user`;
      await postgres.query(`CREATE ROLE "${user}" LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA "${schema}" TO "${user}";
        GRANT SELECT ON ALL TABLES IN SCHEMA "${schema}" TO "${user}"`);
      const asUser = new URL(url);
      asUser.username = user;
      asUser.password = 'x';
      const reader = await openPostgres({ url: asUser.href, mode: 'readonly' });
      expect(await reader.entries('t')).toHaveLength(3);
      await reader.close();
      const writer = await openPostgres({ url: asUser.href });
      const commit = writer.commit(batchOf(entryAfter(undefined, 'u')));
      await expect(commit).rejects.toMatchObject({
        code: 'store_failed',
        evidence: { sqlstate: '42501' },
      });
      await writer.close();
      await postgres.query(`DROP OWNED BY "${user}"; DROP ROLE "${user}"`);
    });

    test('a user that can’t update or delete rows can perform every writer call', async () => {
      const url = postgres.url();
      await (await openPostgres({ url })).close();
      const schema = postgres.schemaOf(url);
      const user = `${schema}_user`;
      await postgres.query(`CREATE ROLE "${user}" LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA "${schema}" TO "${user}";
        GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA "${schema}" TO "${user}";
        REVOKE INSERT ON ${effectTables(schema)} FROM "${user}";
        GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA "${schema}" TO "${user}"`);
      const asUser = new URL(url);
      asUser.username = user;
      asUser.password = 'x';
      const store = await openPostgres({ url: asUser.href });
      const root = entryAfter(undefined, 't');
      const answer = { key: root.id, answer: '1', at: 'now' };
      expect(await store.commit(batchOf(root, [blobOf('b')]))).toEqual({ status: 'committed' });
      expect(await store.commit(batchOf(entryAfter(undefined, 't', 'rival')))).toMatchObject({
        status: 'conflict',
      });
      expect(await store.oraclePut(answer)).toEqual(answer);
      expect(await integrateLog(store)).toBe(1);
      expect(await store.selfCheck()).toEqual([]);
      const snapshot = { trajectory_id: 't', seq: 0, hash: root.id, text: '{}' };
      await expect(store.putSnapshot(snapshot, 0)).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining('denies this user the operation. Grant the rights on its'),
      });
      await expect(store.dropSnapshots()).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining('denies this user the operation. Grant the rights on its'),
      });
      await postgres.query(`GRANT UPDATE, TRUNCATE ON "${schema}".snapshot TO "${user}"`);
      await store.putSnapshot(snapshot, 0);
      expect(await store.snapshot('t')).toEqual(snapshot);
      await store.dropSnapshots();
      await expect(store.leaseEffects()).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining('denies this user the operation. Grant the rights on its'),
      });
      const forged = `SET LOCAL ROLE "${user}"; INSERT INTO "${schema}".effect_open VALUES (1)`;
      await expect(postgres.query(`BEGIN; ${forged}; COMMIT`)).rejects.toMatchObject({
        code: '42501',
      });
      await postgres.query(`GRANT INSERT ON ${effectTables(schema)} TO "${user}";
        GRANT UPDATE ON "${schema}".effect_tenure TO "${user}";
        GRANT DELETE ON "${schema}".effect_open, "${schema}".effect_member, "${schema}".effect_event TO "${user}"`);
      const { fence } = await store.leaseEffects();
      const begun = [{ epoch: 1, trajectory_id: 't', body: '{}' }];
      expect(await store.logEffects({ fence, begun })).toEqual({ status: 'written' });
      expect(await store.logEffects({ fence, ended: [1] })).toEqual({ status: 'written' });
      await postgres.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '${user}'`,
      );
      expect(await store.commit(batchOf(entryAfter(root, 't')))).toEqual({ status: 'committed' });
      await store.close();
      await postgres.query(`DROP OWNED BY "${user}"; DROP ROLE "${user}"`);
    });

    test('where the server allows no writes, only a reader is let in', async () => {
      const url = await newStore();
      const readonly = `${url}&options=-c%20default_transaction_read_only%3Don`;
      await expect(openPostgres({ url: readonly })).rejects.toMatchObject({
        code: 'store_readonly',
      });
      const reader = await openPostgres({ url: readonly, mode: 'readonly' });
      expect(await reader.entries('t')).toHaveLength(3);
      expect(await reader.unlogged(10)).toHaveLength(3);
      await reader.close();
    });
  });

  test('a store without its tables', async () => {
    const url = await newStore();
    await postgres.query(`DROP TABLE "${postgres.schemaOf(url)}".entry CASCADE`);
    await expect(openPostgres({ url })).rejects.toMatchObject({
      code: 'store_other_schema',
      message: expect.stringContaining('Undo the change or restore a'),
    });
    const reader = await openPostgres({ url, mode: 'readonly' });
    await expect(reader.head('t')).rejects.toMatchObject({
      code: 'store_failed',
      evidence: { sqlstate: '42P01' },
    });
    await reader.close();
  });

  test('rows that nothing leads to are found', async () => {
    const url = await newStore();
    const schema = postgres.schemaOf(url);
    const store = await openPostgres({ url });
    expect(await store.selfCheck()).toEqual([]);
    await postgres.query(
      `INSERT INTO "${schema}".trajectory (hash, name) VALUES (sha256('u'), 'u')`,
    );
    await postgres.query(`UPDATE "${schema}".entry SET trajectory = 77 WHERE seq = 2`);
    await postgres.query(
      `INSERT INTO "${schema}".log (idx, entry, leaf) VALUES (0, 99, sha256('x'))`,
    );
    await postgres.query(
      `INSERT INTO "${schema}".effect_transaction (epoch, trajectory, body) VALUES (1, 't', '{}')`,
    );
    await postgres.query(
      `INSERT INTO "${schema}".effect_record VALUES (1, 0, ''), (1, 2, ''), (5, 0, ''), (5, 1, '')`,
    );
    await postgres.query(
      `INSERT INTO "${schema}".effect_key VALUES (sha256('a'), 1, 0), (sha256('b'), 7, 0)`,
    );
    await postgres.query(`INSERT INTO "${schema}".effect_open VALUES (1), (8)`);
    await postgres.query(`DELETE FROM "${schema}".effect_tenure`);
    expect(await store.selfCheck()).toEqual([
      '1 entries belong to no trajectory',
      '1 trajectories have a name and no entries',
      '1 positions of the log have lost their entries',
      '3 entries have no position in the log, and cannot get one',
      '2 records of the effect log belong to no transaction',
      '1 transactions have gaps in the effect log',
      '1 keys of effects belong to no transaction',
      '2 keys of effects are in no record of their transaction',
      '1 transactions are open but do not exist',
      '1 fences are missing or too many',
    ]);
    await store.close();
  });

  describe('openStore', () => {
    test('opens a store by its URL, under both names of the scheme', async () => {
      const url = postgres.url('by url');
      for (const name of [url, url.replace(/^postgres:/, 'postgresql:')]) {
        const store = await openStore(name, { durability: 'off', readers: 1 });
        expect(store).toBeInstanceOf(PostgresStore);
        await store.commit(batchOf(entryAfter(await store.head('t'), 't')));
        await store.close();
      }
      const reader = await openStore(url, { mode: 'readonly' });
      expect(await reader.entries('t')).toHaveLength(2);
      await reader.close();
    });

    test('no other store loads the package; without it the error names it', () => {
      const script = `
        import { registerHooks } from 'node:module';
        let asked = 0;
        registerHooks({ resolve(specifier, context, next) {
          if (specifier !== '@assize/postgres') return next(specifier, context);
          asked += 1;
          throw Object.assign(new Error("Cannot find package '@assize/postgres'"), { code: 'ERR_MODULE_NOT_FOUND' });
        } });
        const { openStore } = await import('assize/internal/stores');
        await (await openStore('memory:')).close();
        const before = asked;
        const error = await openStore('postgres://u:secret@localhost/x').catch((thrown) => thrown);
        console.log(JSON.stringify({ before, asked, code: error.code, message: error.message }));`;
      const told = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
        encoding: 'utf8',
      });
      expect(JSON.parse(told)).toEqual({
        before: 0,
        asked: 1,
        code: 'missing_package',
        message: expect.stringContaining('npm install @assize/postgres'),
      });
    });

    test('an open store that nothing waits for does not keep its process', () => {
      const script = `
        const { openStore } = await import('assize/internal/stores');
        const { batchOf, entryAfter } = await import(process.argv[1]);
        const store = await openStore(process.argv[2]);
        await store.follow(() => undefined);
        console.log((await store.commit(batchOf(entryAfter(undefined, 't')))).status);`;
      const rows = join(import.meta.dirname, '../../testing/src/store-rows.ts');
      const args = ['--input-type=module', '-e', script, rows, postgres.url()];
      expect(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 })).toBe(
        'committed\n',
      );
    });
  });
});

function effectTables(schema: string): string {
  const tables = ['tenure', 'count', 'transaction', 'record', 'open', 'key', 'member', 'event'];
  return tables.map((name) => `"${schema}".effect_${name}`).join(', ');
}
