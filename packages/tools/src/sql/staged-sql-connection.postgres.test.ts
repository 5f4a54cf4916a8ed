import type { Tool } from 'assize/internal/effects';
import type { Transaction } from 'assize/internal/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { transact } from '../../../../tests/support/tools/tool-stage.ts';
import { PostgresStage, SqliteStage, type StagedDatabase } from '../../tests/support/sql-stage.ts';
import { type SqlDatabase, sqlReader, sqlTool } from './index.ts';

// One transaction holds something in a database, and immediately does or undoes something else
// there: it must not wait for itself.

const LONG = 300_000;

const input = z.strictObject({ row: z.string(), by: z.int() });

/** Adds to a row, and takes it off to undo that. */
function add(name: string, database: SqlDatabase, delivery: 'buffered' | 'externalised'): Tool {
  const [by, row] = database.placeholders === '$1' ? ['$1', '$2'] : ['?', '?'];
  const statement = (given: z.infer<typeof input>, sign: 1 | -1) => [
    {
      text: `UPDATE cell SET n = n + ${by} WHERE name = ${row}`,
      values: [sign * given.by, given.row],
    },
  ];
  return sqlTool<typeof input>({
    name,
    input,
    writes: [`cell:${name}:{row}`],
    database,
    delivery,
    statements: (given) => statement(given, 1),
    ...(delivery === 'externalised' ? { undo: (given) => statement(given, -1) } : {}),
  });
}

function tests(open: () => Promise<StagedDatabase>): void {
  let stage: StagedDatabase;
  beforeAll(async () => {
    stage = await open();
    await stage.run('CREATE TABLE cell (name TEXT PRIMARY KEY, n INTEGER NOT NULL)');
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  const made = async (body: (tx: Transaction) => Promise<unknown>): Promise<string> => {
    await stage.reset();
    await stage.run('DELETE FROM cell');
    await stage.run(`INSERT INTO cell (name, n) VALUES ('p', 0), ('q', 0)`);
    const database = stage.of(undefined, LONG);
    const tools = [add('at_once', database, 'externalised'), add('held', database, 'buffered')];
    const { isCommitted, left, error } = await transact(tools, body, { writes: ['cell:**'] });
    if (error !== undefined) throw error;
    expect([isCommitted, left]).toEqual([true, []]);
    return (await stage.run('SELECT n FROM cell ORDER BY name')).map(({ n }) => n).join(' ');
  };

  test('immediate calls are executed next to staged calls', async () => {
    const body = async (tx: Transaction) => {
      await tx.call('held', { row: 'p', by: 1 });
      await tx.call('at_once', { row: 'q', by: 10 });
      await tx.call('held', { row: 'p', by: 2 });
    };
    expect(await made(body)).toBe('3 10');
  });

  test('an aborted nested part is reverted, calls staged next to it remain', async () => {
    const body = async (tx: Transaction) => {
      await tx.call('held', { row: 'q', by: 100 });
      const part = tx.nested(async (inner) => {
        await inner.call('at_once', { row: 'p', by: 1 });
        await inner.call('held', { row: 'p', by: 2 });
        throw new Error('no');
      });
      await expect(part).rejects.toThrow('no');
      await tx.call('held', { row: 'p', by: 10 });
    };
    expect(await made(body)).toBe('10 100');
  });

  test('an unchosen branch is reverted, calls staged for the other one remain', async () => {
    const body = (tx: Transaction) =>
      tx.speculate(
        [
          async (branch) => {
            await branch.call('at_once', { row: 'p', by: 1 });
            await branch.call('held', { row: 'p', by: 2 });
          },
          (branch) => branch.call('held', { row: 'q', by: 10 }),
        ],
        () => 1,
      );
    expect(await made(body)).toBe('0 10');
  });
}

describe('SQLite', () => {
  tests(async () => new SqliteStage());

  /** They answer with the next number. `fails` is refused by the database. */
  const numbering = (database: SqlDatabase): Tool[] =>
    (['at_once', 'fails', 'held'] as const).map((name) =>
      sqlTool({
        name,
        input: z.strictObject({}),
        writes: [`log:${name}`],
        database,
        delivery: name === 'held' ? 'buffered' : 'externalised',
        statements: () => [
          {
            text: 'INSERT INTO log (what, size) VALUES (?, ?) RETURNING n',
            values: [name, name === 'fails' ? -1 : 0],
          },
        ],
        result: ([rows]) => rows?.[0]?.['n'],
        undo: () => [{ text: 'DELETE FROM log WHERE what = ?', values: [name] }],
      }),
    );

  const other = "INSERT INTO log (what, size) VALUES ('other', 0)";

  test.each<[string, (tx: Transaction, stage: SqliteStage) => Promise<unknown>, string[]]>([
    ['after an immediate call beside it', (tx) => tx.call('at_once', {}), []],
    [
      'also where the body passes over that',
      (tx) => tx.call('at_once', {}).catch(() => undefined),
      [],
    ],
    [
      'where it was let go for another branch',
      (tx, stage) =>
        tx.speculate(
          [(branch) => branch.call('held', {}), (branch) => branch.call('at_once', {})],
          async () => {
            await stage.run(other);
            return 0;
          },
        ),
      ['other'],
    ],
    [
      'where it was let go for a branch that held as much',
      (tx, stage) => {
        const both = async (branch: Transaction) => {
          await branch.call('held', {});
          await branch.call('at_once', {}).catch(() => undefined);
        };
        return tx.speculate([(branch) => branch.call('held', {}), both], async () => {
          await stage.run(other);
          return 0;
        });
      },
      ['other'],
    ],
  ])('a staged call with a changed answer is not committed: %s', async (_, body, log) => {
    await using stage = new SqliteStage();
    const { error, left } = await transact(numbering(stage.of(undefined, LONG)), async (tx) => {
      expect(await tx.call('held', {})).toBe(1);
      await body(tx, stage);
    });
    expect([error?.code, left]).toEqual(['stale', []]);
    expect((await stage.look()).log).toEqual(log);
  });

  test('a read before staging is repeated on the staging connection', async () => {
    await using stage = new SqliteStage();
    const database = stage.of(undefined, LONG);
    const look = sqlReader({
      name: 'look',
      input: z.strictObject({}),
      reads: ['log:seen'],
      database,
      statement: () => ({ text: 'SELECT COUNT(*) AS n FROM log', values: [] }),
      result: (rows) => rows[0]!['n'],
    });
    const body = async (tx: Transaction) => {
      expect(await tx.call('look', {})).toBe(0);
      expect(await tx.call('held', {})).toBe(1);
    };
    const { error, left, isCommitted } = await transact([look, ...numbering(database)], body, {
      reading: 'optimistic',
    });
    expect([error, left, isCommitted]).toEqual([undefined, [], true]);
    expect((await stage.look()).log).toEqual(['held']);
  });

  test('calls released for a failed call are staged again before other writers', async () => {
    await using stage = new SqliteStage();
    const { error, left, isCommitted } = await transact(
      numbering(stage.of(undefined, LONG)),
      async (tx) => {
        expect(await tx.call('held', {})).toBe(1);
        await expect(tx.call('fails', {})).rejects.toMatchObject({ code: 'tool_failed' });
        await expect(stage.run(other)).rejects.toThrow('locked');
      },
    );
    expect([error, left, isCommitted]).toEqual([undefined, [], true]);
    expect((await stage.look()).log).toEqual(['held']);
  });
});

withPostgres('PostgreSQL', (postgres) => {
  tests(() => PostgresStage.open(postgres));
});
