import { DatabaseSync } from 'node:sqlite';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { orders } from '../../../../tests/support/tools/orders.ts';
import { transact } from '../../../../tests/support/tools/tool-stage.ts';
import {
  type SqlConnection,
  type SqlDatabase,
  type SqlToolOptions,
  sqlReader,
  sqlTool,
} from './index.ts';

// Databases and drivers that do what one would not expect of them: a procedure that commits, an
// error that takes back all, a pool that throws no error.

const input = z.strictObject({ what: z.string() });
const own = { writ: writFor('alice'), writes: ['**'], retries: 0 };

/** One connection in memory; `CALL tidy()` stands for a procedure that ends its transaction. */
class Log {
  readonly db = new DatabaseSync(':memory:');
  readonly connection: SqlConnection = {
    query: (text, values) =>
      this.db
        .prepare(text === 'CALL tidy()' ? 'COMMIT' : text)
        .all(...(values as never[])) as never,
    begin: () => this.db.exec('BEGIN IMMEDIATE'),
    commit: () => this.db.exec('COMMIT'),
    rollback: () => (this.db.isTransaction ? this.db.exec('ROLLBACK') : undefined),
  };
  readonly database: SqlDatabase;

  constructor(more: Partial<SqlDatabase> = {}) {
    this.db.exec('CREATE TABLE log (n INTEGER PRIMARY KEY, what TEXT NOT NULL UNIQUE) STRICT');
    this.database = { connect: () => this.connection, writers: 'one', ...more };
  }

  get lines(): unknown[] {
    return this.db
      .prepare('SELECT what FROM log ORDER BY n')
      .all()
      .map(({ what }) => what);
  }

  put(more: Partial<SqlToolOptions<typeof input>> = {}, or = '') {
    return sqlTool({
      ...{ name: 'a.put', input, writes: ['db:a'], database: this.database },
      statements: ({ what }) => [
        { text: `INSERT ${or} INTO log (what) VALUES (?)`, values: [what] },
      ],
      ...more,
    });
  }

  tidy() {
    const { database } = this;
    const statements = () => [{ text: 'CALL tidy()' }];
    return sqlTool({
      name: 'a.tidy',
      input: z.strictObject({}),
      writes: ['db:a'],
      database,
      statements,
    });
  }
}

test('later calls see no rolled back rows, foreign rows on the connection stay', async () => {
  const log = new Log({ stagedTimeoutMs: 10_000 });
  const look = sqlReader({
    ...{ name: 'a.look', input: z.strictObject({}), reads: ['db:a'], database: log.database },
    statement: () => ({ text: 'SELECT what FROM log ORDER BY n' }),
    result: (rows) => rows.map(({ what }) => what),
  });
  const assize = runtimeOver(new MemoryStore(), [orders], { tools: [log.put(), look] });
  const trajectory = await assize.create(orders, { trajectoryId: 't' });
  for (let ticks = 0; ticks < 8; ticks++) {
    const thrown = trajectory.transaction(own, async (tx) => {
      await tx.call('a.put', { what: 'first' });
      tx.call('a.put', { what: 'second' }).catch(() => undefined);
      // The transaction ends at any moment of the call.
      for (let i = 0; i < ticks; i++) await null;
      throw new Error('no');
    });
    await expect(thrown).rejects.toThrow();
    expect([ticks, log.db.isTransaction]).toEqual([ticks, false]);
  }
  log.db.exec("INSERT INTO log (what) VALUES ('of the host')");
  let seen: unknown;
  await trajectory.transaction(own, async (tx) => {
    seen = await tx.call('a.look', {});
    await tx.call('a.put', { what: 'third' });
    tx.propose({ action: 'count', role: 'counter', args: 'x' });
  });
  await assize.close();
  expect([seen, log.lines]).toEqual([['of the host'], ['of the host', 'third']]);
});

test('an undo that ends its transaction is not repeated', async () => {
  const log = new Log();
  const tool = log.put({
    delivery: 'externalised',
    statements: () => [],
    undo: ({ what }) => [
      { text: 'INSERT INTO log (what) VALUES (? || (SELECT count(*) FROM log))', values: [what] },
      { text: 'CALL tidy()' },
    ],
  });
  const { left } = await transact([tool], async (tx) => {
    await tx.call('a.put', { what: 'refund' });
    throw new Error('no');
  });
  expect([log.lines, left.map(({ phase }) => phase)]).toEqual([['refund0'], ['in_doubt']]);
});

test.each([
  ['order', 'order'],
  ['count', 'asked'],
] as const)(
  'a commit during staging takes effect once and needs a human: %s %s',
  async (action, args) => {
    const log = new Log({ stagedTimeoutMs: 10_000 });
    // Twice the same would be refused, and not be seen.
    const put = log.put({
      statements: ({ what }) => [
        { text: 'INSERT INTO log (what) VALUES (? || (SELECT count(*) FROM log))', values: [what] },
      ],
    });
    const assize = runtimeOver(new MemoryStore(), [orders], { tools: [put, log.tidy()] });
    const trajectory = await assize.create(orders, { trajectoryId: 't' });
    await trajectory.transaction({ ...own, name: 'x' }, async (tx) => {
      await tx.call('a.put', { what: 'money' });
      await tx.call('a.tidy', {}).catch(() => undefined);
      tx.propose({ action, role: 'counter', args });
    });
    for await (const { id, kind } of assize.pending() as AsyncIterable<{
      id: string;
      kind?: string;
    }>)
      if (kind !== 'effect')
        await trajectory.approvals
          .approve(id, { principal: 'boss', method: 'test', override: true })
          .catch(() => undefined);
    const left = await assize.recoverEffects();
    await assize.close();
    expect([log.lines, left.length > 0]).toEqual([['money0'], true]);
  },
);

test('a table that was dropped is made again', async () => {
  const log = new Log();
  await transact([log.put()], (tx) => tx.call('a.put', { what: '1' }));
  log.db.exec('DROP TABLE assize_effects');
  const { left } = await transact([log.put()], (tx) => tx.call('a.put', { what: '2' }));
  expect([left, log.lines]).toEqual([[], ['1', '2']]);
});

test.each(['buffered', 'externalised'] as const)(
  'if `isTransient` throws, it is still certain that nothing was done: %s',
  async (delivery) => {
    const connect = (): never => {
      throw 'the pool is exhausted';
    };
    const isTransient = (error: unknown): boolean =>
      (error as { message: string }).message.includes('locked');
    const tool = new Log().put({
      database: { connect },
      delivery,
      isTransient: isTransient,
      undo: () => [],
    });
    const { left, error } = await transact([tool], (tx) => tx.call('a.put', { what: '1' }));
    expect([
      left.some(({ phase }) => phase === 'in_doubt'),
      error?.code === 'outcome_unknown',
    ]).toEqual([false, false]);
  },
);

test('a failed connect is retried even if `isTransient` returns false', async () => {
  const log = new Log();
  let tries = 0;
  const connect = (): SqlConnection => {
    if (++tries === 1) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    return log.connection;
  };
  const { left } = await transact(
    [log.put({ database: { connect }, isTransient: () => false })],
    (tx) => tx.call('a.put', { what: '1' }),
  );
  expect([left, log.lines]).toEqual([[], ['1']]);
});

test('a connection that fails to close leaves a certain outcome certain', async () => {
  const log = new Log();
  const close = (): never => {
    throw new Error('it was given back already');
  };
  const tool = log.put({
    database: { connect: () => ({ ...log.connection, close }) },
    statements: () => [{ text: 'INSERT INTO nowhere (what) VALUES (1)' }],
  });
  const { left } = await transact([tool], (tx) => tx.call('a.put', { what: '1' }));
  expect(left.map(({ phase }) => phase)).toEqual(['unresolved']);
});

test('an error that rolls back the whole transaction is reported unchanged', async () => {
  const log = new Log({ stagedTimeoutMs: 10_000 });
  let error: { readonly message?: string; readonly retryable?: boolean } = {};
  const { left } = await transact(
    [log.put({ isTransient: () => false }, 'OR ROLLBACK')],
    async (tx) => {
      await tx.call('a.put', { what: '1' });
      error = await tx.call('a.put', { what: '1' }).catch((thrown) => thrown);
    },
  );
  expect([error.message, error.retryable]).toEqual([expect.stringMatching(/UNIQUE/), false]);
  // The write before the error is executed again.
  expect([left, log.lines]).toEqual([[], ['1']]);
});
