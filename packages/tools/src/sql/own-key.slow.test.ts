import { MemoryStore } from '@assize/testing/memory';
import { DidNothing, declareTool } from 'assize/internal/effects';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { orders } from '../../../../tests/support/tools/orders.ts';
import { transact } from '../../../../tests/support/tools/tool-stage.ts';
import {
  EFFECTS_TABLE,
  type SqlConnection,
  type SqlDatabase,
  type SqlRow,
  type SqlToolOptions,
  sqlTool,
} from './index.ts';

// The lookup of effect keys depends on the database: its schemas, its rights, and a table that
// other users may change.

const input = z.strictObject({ what: z.string() });
const insert = (what: string) => ({ text: 'INSERT INTO log (what) VALUES ($1)', values: [what] });

interface PoolOptions extends Partial<SqlDatabase> {
  readonly role?: string;
  /** Before each statement. */
  readonly on?: (text: string, client: Client) => unknown;
  /** Of the first commit the answer is lost, with the connection. */
  readonly losesAnswer?: boolean;
}

withPostgres('keys on a server', (postgres) => {
  let url: string;
  let admin: Client;
  const pools: (() => Promise<unknown>)[] = [];
  let n = 0;
  beforeAll(async () => {
    url = postgres.url().replace(/[?&]schema=[^&]*/, '');
    admin = new Client({ connectionString: url });
    await admin.connect();
  });
  afterAll(async () => {
    for (const end of pools) await end();
    await admin.end();
  });

  /** A schema of its own with a log, and with the table of keys where it is to have one. */
  async function schema(hasKeys = true): Promise<string> {
    const name = `own_key_${process.pid}_${n++}`;
    await admin.query(
      `CREATE SCHEMA ${name}; CREATE TABLE ${name}.log (n serial primary key, what text not null)`,
    );
    if (hasKeys)
      await admin.query(EFFECTS_TABLE.replace('assize_effects', `${name}.assize_effects`));
    return name;
  }

  const logOf = async (...names: readonly string[]): Promise<string[]> => {
    const all = await Promise.all(
      names.map((name) => admin.query(`SELECT what FROM ${name}.log ORDER BY n`)),
    );
    return all.flatMap(({ rows }) => rows.map(({ what }) => String(what)));
  };

  /** Connections are used again, as those of a pool. */
  function pool(
    path: string,
    { role, on = () => undefined, losesAnswer = false, ...more }: PoolOptions = {},
  ): SqlDatabase {
    const idle: Client[] = [];
    const all: Client[] = [];
    let isLost = !losesAnswer;
    pools.push(() => Promise.all(all.map((client) => client.end().catch(() => undefined))));
    const opened = async (): Promise<Client> => {
      const options = `-c search_path=${path}${role === undefined ? '' : ` -c role=${role}`}`;
      const client = new Client({ connectionString: url, options });
      client.on('error', () => undefined);
      await client.connect();
      all.push(client);
      return client;
    };
    const connectionOf = (client: Client): SqlConnection => ({
      query: async (text, values) => {
        await on(text, client);
        return (await client.query(text, [...values])).rows as SqlRow[];
      },
      begin: () => client.query('BEGIN'),
      commit: async () => {
        await client.query('COMMIT');
        if (isLost) return;
        isLost = true;
        await client.end();
        throw new Error('the connection has ended');
      },
      rollback: () => client.query('ROLLBACK'),
      close: (isBroken) => (isBroken ? client.end() : void idle.push(client)),
    });
    return {
      placeholders: '$1',
      connect: async () => connectionOf(idle.pop() ?? (await opened())),
      ...more,
    };
  }

  const put = (database: SqlDatabase, more: Partial<SqlToolOptions<typeof input>> = {}) =>
    sqlTool({
      ...{ name: 'a.put', input, writes: ['db:a:{what}'], database },
      statements: ({ what }) => [insert(what)],
      ...more,
    });

  const CHANGES: readonly (readonly [string, (tenant: string) => string])[] = [
    ['SET search_path', (tenant) => `SET search_path = ${tenant}`],
    ['SET LOCAL search_path', (tenant) => `SET LOCAL search_path = ${tenant}`],
    ['a temporary table', () => EFFECTS_TABLE.replace('CREATE TABLE', 'CREATE TEMP TABLE')],
    ['its key deleted', () => 'DELETE FROM assize_effects'],
  ];
  describe.each([undefined, 60_000])('held for %s ms', (stagedTimeoutMs) => {
    test.each(CHANGES)(
      'a call without its key at the end is not committed: %s',
      async (_, change) => {
        const [app, tenant] = [await schema(), await schema()];
        const database = pool(app, {
          ...(stagedTimeoutMs !== undefined && { stagedTimeoutMs }),
          losesAnswer: true,
        });
        const tool = put(database, {
          statements: ({ what }) => [{ text: change(tenant) }, insert(what)],
        });
        const { left } = await transact([tool], (tx) => tx.call('a.put', { what: '1' }));
        expect([left.map(({ phase }) => phase), await logOf(app, tenant)]).toEqual([
          ['unresolved'],
          [],
        ]);
      },
    );

    test('concurrent first calls create the table once', async () => {
      for (let round = 0; round < 4; round++) {
        const name = await schema(false);
        const tool = put(pool(name, { ...(stagedTimeoutMs !== undefined && { stagedTimeoutMs }) }));
        const assize = runtimeOver(new MemoryStore(), [orders], { tools: [tool] });
        const trajectory = await assize.create(orders, { trajectoryId: 't' });
        const own = (what: string) => ({
          writ: writFor('alice'),
          writes: [`db:a:${what}`],
          retries: 0,
        });
        const made = ['0', '1', '2', '3'].map((what) =>
          trajectory.transaction(own(what), async (tx) => {
            await tx.call('a.put', { what });
            tx.propose({ action: 'count', role: 'counter', args: what });
          }),
        );
        expect((await Promise.all(made)).map(({ effects }) => effects)).toEqual(
          Array(4).fill('settled'),
        );
        await assize.close();
        expect((await logOf(name)).sort()).toEqual(['0', '1', '2', '3']);
      }
    });
  });

  test('a compensation that cannot be confirmed is not reported as done', async () => {
    const [app, tenant] = [await schema(), await schema()];
    const set = { text: `SET LOCAL search_path = ${tenant}` };
    const tool = put(pool(app), {
      undo: ({ what }) => [set, { text: 'DELETE FROM log WHERE what = $1', values: [what] }],
    });
    const fails = declareTool({
      ...{ name: 'b.fails', input, writes: ['b'] },
      class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
      execute: () => {
        throw new DidNothing('no', { final: true });
      },
    });
    const assize = runtimeOver(new MemoryStore(), [orders], { tools: [tool, fails] });
    const trajectory = await assize.create(orders, { trajectoryId: 't' });
    await trajectory.transaction(
      { writ: writFor('alice'), writes: ['**'], retries: 0 },
      async (tx) => {
        await tx.call('a.put', { what: '1' });
        await tx.call('b.fails', { what: '2' });
        tx.propose({ action: 'order', role: 'counter', args: 'order' });
      },
    );
    const left = await assize.recoverEffects();
    await assize.close();
    expect([left.length, await logOf(app)]).toEqual([1, ['1']]);
  });

  test('a role that cannot create tables uses the existing table', async () => {
    const [name, role] = [await schema(), `own_key_${process.pid}`];
    await admin.query(`CREATE ROLE ${role} NOLOGIN; GRANT USAGE ON SCHEMA ${name} TO ${role};
      GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA ${name} TO ${role};
      GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${name} TO ${role}`);
    const { left } = await transact([put(pool(name, { role }))], (tx) =>
      tx.call('a.put', { what: '1' }),
    );
    await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    expect([left, await logOf(name)]).toEqual([[], ['1']]);
  });

  test('a connection ended by the server is not in doubt: staged calls run again', async () => {
    const name = await schema();
    let releases = 0;
    const on = async (text: string, client: Client): Promise<void> => {
      if (!/^RELEASE SAVEPOINT assize_[0-9a-f]+$/.test(text) || ++releases !== 2) return;
      await admin.query('SELECT pg_terminate_backend($1, 5000)', [
        (client as unknown as { processID: number }).processID,
      ]);
    };
    const assize = runtimeOver(new MemoryStore(), [orders], {
      tools: [put(pool(name, { stagedTimeoutMs: 60_000, on }))],
    });
    const trajectory = await assize.create(orders, { trajectoryId: 't' });
    const { effects } = await trajectory.transaction(
      { writ: writFor('alice'), writes: ['**'], retries: 5 },
      async (tx) => {
        for (const what of ['1', '2']) await tx.call('a.put', { what });
        tx.propose({ action: 'count', role: 'counter', args: 'x' });
      },
    );
    await assize.close();
    expect([effects, releases > 2, await logOf(name)]).toEqual(['settled', true, ['1', '2']]);
  });

  const ENDS = 'COMMIT; BEGIN; SAVEPOINT assize_0; SAVEPOINT assize_1; SAVEPOINT assize_open';
  test.each([
    [
      'goes on after a comment',
      [`INSERT INTO log (what) VALUES (E'stolen' -- c\n'\\''); ${ENDS} --')`],
    ],
    ['goes on after a return', [`INSERT INTO log (what) VALUES (E'stolen'\r'\\''); ${ENDS} --')`]],
    [
      'has a character that only looks like a space',
      [`INSERT INTO log (what) SELECT 'stolen' AS \u00a0$$; ${ENDS} --`],
    ],
    [
      'is read as one before has set',
      [
        'SET standard_conforming_strings = off',
        `INSERT INTO log (what) VALUES ('stolen\\''); ${ENDS} --')`,
      ],
    ],
    [
      'is in an encoding that one before has set',
      [
        "SET client_encoding = 'GBK'",
        `INSERT INTO log (what) VALUES (E'stolen\u20ac\\'); ${ENDS} --')`,
      ],
    ],
  ])('a text that %s ends no transaction: a rejection leaves no rows', async (_, texts) => {
    const name = await schema();
    const tool = sqlTool({
      ...{ name: 'a.sql', input: z.strictObject({ sql: z.string() }), writes: ['db:a'] },
      database: pool(name, { stagedTimeoutMs: 60_000 }),
      statements: ({ sql }) => [{ text: sql }],
    });
    const assize = runtimeOver(new MemoryStore(), [orders], { tools: [tool] });
    const trajectory = await assize.create(orders, { trajectoryId: 't' });
    const done = trajectory.transaction(
      { writ: writFor('alice'), writes: ['**'], retries: 0 },
      async (tx) => {
        for (const sql of texts) await tx.call('a.sql', { sql });
        tx.propose({ action: 'count', role: 'counter', args: 'forbidden' });
      },
    );
    await done.catch(() => undefined);
    await assize.close();
    expect(await logOf(name)).toEqual([]);
  });
});
