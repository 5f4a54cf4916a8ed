import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import { crashedEverywhere, transact } from '../../../../tests/support/tools/tool-stage.ts';
import {
  type SqlConnection,
  type SqlDatabase,
  type SqlToolOptions,
  type SqlValue,
  sqlTool,
} from './index.ts';
import { refusal } from './refusal.ts';

/**
 * `fail`: it is not done; `lose`: it is, and the connection ends; `torn`: the server ends it later,
 * and it is not done.
 */
type Fault = 'none' | 'fail' | 'lose' | 'torn';

/** The database of a bank, with the driver of the platform. Its own tables show the effects. */
class Bank implements SqlDatabase, AsyncDisposable {
  readonly database = new DatabaseSync(':memory:');
  /** Of the next commits. */
  readonly commits: Fault[];
  readonly broken: boolean[] = [];
  #isDown = false;
  #isTorn = false;
  readonly #connection: SqlConnection = {
    query: (text, values) =>
      this.#alive()
        .prepare(text.replaceAll(/\$(\d)/g, '?$1'))
        .all(...(values as never[])) as never,
    begin: () => this.#alive().exec('BEGIN IMMEDIATE'),
    commit: () => this.#commit(),
    rollback: () => {
      if (this.#isTorn) throw new Error('nobody answers');
      if (this.#alive().isTransaction) this.database.exec('ROLLBACK');
    },
    close: (isBroken) => {
      this.broken.push(isBroken);
      if (this.#isTorn) this.database.exec('ROLLBACK');
      this.#isTorn = false;
    },
  };

  constructor(commits: readonly Fault[] = []) {
    this.commits = [...commits];
    this.database.exec(`CREATE TABLE account (owner TEXT PRIMARY KEY, cents INTEGER NOT NULL CHECK (cents >= 0)) STRICT;
      CREATE TABLE booking (n INTEGER PRIMARY KEY, what TEXT NOT NULL) STRICT;
      INSERT INTO account VALUES ('ada', 100), ('bob', 0)`);
  }

  connect(): SqlConnection {
    this.#isDown = false;
    return this.#connection;
  }

  cents(): unknown {
    return this.database
      .prepare('SELECT owner, cents FROM account ORDER BY owner')
      .all()
      .map(({ cents }) => cents);
  }

  bookings(what: string): unknown {
    return this.database.prepare('SELECT count(*) AS n FROM booking WHERE what = ?').get(what)?.[
      'n'
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.database.close();
  }

  #alive(): DatabaseSync {
    if (this.#isDown) throw new Error('the connection has ended');
    return this.database;
  }

  #commit(): void {
    const fault = this.commits.shift() ?? 'none';
    if (fault === 'fail') throw new Error('the disk is full');
    if (fault === 'torn') {
      this.#isTorn = true;
      throw new Error('nobody answers');
    }
    this.#alive().exec('COMMIT');
    if (fault !== 'lose') return;
    this.#isDown = true;
    throw new Error('the connection has ended');
  }
}

const input = z.strictObject({ from: z.string(), to: z.string(), cents: z.int().positive() });

function pay(bank: Bank, rest: Partial<SqlToolOptions<typeof input>> = {}) {
  const move = (from: string, to: string, cents: number, what: string) => [
    { text: 'UPDATE account SET cents = cents - ? WHERE owner = ?', values: [cents, from] },
    {
      text: 'UPDATE account SET cents = cents + ? WHERE owner = ? RETURNING cents',
      values: [cents, to],
    },
    { text: 'INSERT INTO booking (what) VALUES (?)', values: [what] },
  ];
  return sqlTool({
    name: rest.delivery === 'externalised' ? 'bank.pay_now' : 'bank.pay',
    input,
    writes: ['db:sqlite:bank:account:{from}', 'db:sqlite:bank:account:{to}'],
    database: bank,
    statements: ({ from, to, cents }) => move(from, to, cents, 'pay'),
    result: ([, rows]) => ({ now: rows?.[0]?.['cents'] }),
    undo: ({ from, to, cents }) => move(to, from, cents, 'undo'),
    ...rest,
  });
}

const GIVEN = { from: 'ada', to: 'bob', cents: 30 };
const now = (bank: Bank) => pay(bank, { delivery: 'externalised' });

describe('statements', () => {
  test('are held until the commit, and then done in one transaction', async () => {
    await using bank = new Bank();
    const { left } = await transact([pay(bank)], async (tx) => {
      await tx.call('bank.pay', GIVEN);
      expect(bank.cents()).toEqual([100, 0]);
    });
    expect([left, bank.cents(), bank.bookings('pay')]).toEqual([[], [70, 30], 1]);
  });

  test('of a transaction that comes to nothing are never seen', async () => {
    await using bank = new Bank();
    await transact([pay(bank)], async (tx) => {
      await tx.call('bank.pay', GIVEN);
      throw new Error('no');
    });
    expect([bank.cents(), bank.broken]).toEqual([[100, 0], []]);
  });

  test('that act immediately are undone if no commit follows', async () => {
    await using bank = new Bank();
    await transact([now(bank)], async (tx) => {
      expect(await tx.call('bank.pay_now', GIVEN)).toEqual({ now: 30 });
      expect(bank.cents()).toEqual([70, 30]);
      throw new Error('no');
    });
    expect([bank.cents(), bank.bookings('undo')]).toEqual([[100, 0], 1]);
  });

  test('that the database refuses are reported by its code, not by its message', async () => {
    await using bank = new Bank();
    const { left } = await transact([pay(bank)], (tx) =>
      tx.call('bank.pay', { ...GIVEN, cents: 101 }),
    );
    // SQLITE_CONSTRAINT_CHECK, https://sqlite.org/rescode.html
    expect(left).toMatchObject([
      { phase: 'unresolved', why: 'sql_275', error: { message: expect.stringMatching(/CHECK/) } },
    ]);
  });

  test.each<[object, string | undefined]>([
    [{ code: '23514' }, 'sql_23514'],
    [{ code: 'SQLITE_CONSTRAINT_CHECK' }, 'sql_sqlite_constraint_check'],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 275 }, 'sql_275'],
    [{ code: 'the value ada is not a number' }, undefined],
    [{ code: 23_514 }, undefined],
    [{}, undefined],
  ])('are reported only by a value that can only be a code: %j', (error, why) => {
    expect(refusal(Object.assign(new Error('no'), error))).toBe(why);
  });

  test('are done all or none: where one is refused, so are those before it', async () => {
    await using bank = new Bank();
    const tool = pay(bank, { isTransient: () => false });
    const { left } = await transact([tool], (tx) =>
      tx.call('bank.pay', { ...GIVEN, from: 'bob', to: 'ada', cents: 1 }),
    );
    expect([left.map(({ phase }) => phase), bank.cents(), bank.bookings('pay')]).toEqual([
      ['unresolved'],
      [100, 0],
      0,
    ]);
    expect(bank.broken).toEqual([false]);
  });

  test('are done once for a key, however often they are called, and undone once', async () => {
    await using bank = new Bank();
    const tool = now(bank);
    const call = { key: 'k', signal: AbortSignal.timeout(300_000) };
    const answers = await Promise.all([1, 2, 3].map(() => tool.spec.execute(GIVEN, call, [])));
    expect(answers).toEqual([{ now: 30 }, { now: 30 }, { now: 30 }]);
    expect([bank.cents(), bank.bookings('pay')]).toEqual([[70, 30], 1]);
    await tool.spec.execute(GIVEN, { ...call, key: 'other' }, []);
    expect(bank.cents()).toEqual([40, 60]);
    for (const _ of [1, 2]) await tool.spec.compensate?.(GIVEN, answers[0], call);
    await tool.spec.compensate?.(GIVEN, answers[0], { ...call, key: 'never' });
    expect([bank.cents(), bank.bookings('undo')]).toEqual([[70, 30], 1]);
  });

  test('may not end the transaction that they stand in', async () => {
    for (const text of [
      'COMMIT',
      '  rollback',
      'BEGIN IMMEDIATE',
      'savepoint x',
      'End',
      '/* c */ COMMIT',
      ';COMMIT',
    ]) {
      await using bank = new Bank();
      const tool = pay(bank, {
        statements: () => [{ text: "INSERT INTO booking (what) VALUES ('pay')" }, { text }],
      });
      const { left } = await transact([tool], (tx) => tx.call('bank.pay', GIVEN));
      expect([text, left.map(({ phase }) => phase), bank.bookings('pay')]).toEqual([
        text,
        ['unresolved'],
        0,
      ]);
    }
  });

  test('that still end it leave it in doubt, for any delivery, and run once', async () => {
    for (const [delivery, stagedTimeoutMs] of [
      ['buffered'],
      ['buffered', 10_000],
      ['externalised'],
    ] as const) {
      await using bank = new Bank();
      // As a procedure may, with a statement of its own.
      const connection = {
        ...bank.connect(),
        query: (text: string, values: readonly SqlValue[]) =>
          bank.connect().query(text === 'CALL tidy()' ? 'COMMIT' : text, values),
      };
      const database = {
        connect: () => connection,
        ...(stagedTimeoutMs === undefined ? {} : { stagedTimeoutMs }),
      };
      const statements = () => [
        { text: "INSERT INTO booking (what) VALUES ('pay')" },
        { text: 'CALL tidy()' },
      ];
      const result = () => 1;
      const tool = pay(bank, { database, statements, delivery, result });
      const { left, error, isCommitted } = await transact(
        [tool],
        (tx) => tx.call(tool.name, GIVEN),
        { retries: 2 },
      );
      const isTold = stagedTimeoutMs !== undefined || delivery === 'externalised';
      expect([error?.code, isCommitted]).toEqual(
        isTold ? ['outcome_unknown', false] : [undefined, true],
      );
      // A staged call reports the error before an effect can be unresolved.
      expect(left.map(({ phase }) => phase)).toEqual(
        stagedTimeoutMs === undefined ? ['in_doubt'] : [],
      );
      expect(bank.bookings('pay')).toBe(1);
    }
  });

  test('that end it while it is staged are not repeated by a continuing body', async () => {
    await using bank = new Bank();
    const query = (text: string, values: readonly SqlValue[]) =>
      bank.connect().query(text === 'CALL tidy()' ? 'COMMIT' : text, values);
    const connection = { ...bank.connect(), query };
    const database = { connect: () => connection, stagedTimeoutMs: 10_000 };
    const tidy = sqlTool({
      ...{ name: 'bank.tidy', input: z.strictObject({}), writes: ['db:sqlite:bank:x'], database },
      statements: () => [{ text: 'CALL tidy()' }],
    });
    const { left, isCommitted } = await transact([pay(bank, { database }), tidy], async (tx) => {
      await tx.call('bank.pay', GIVEN);
      for (const name of ['bank.tidy', 'bank.pay'])
        expect(
          await tx.call(name, name === 'bank.pay' ? GIVEN : {}).catch(({ code }) => code),
        ).toBe('outcome_unknown');
    });
    // Under its key the bank has that it was started, and not its result.
    expect([isCommitted, left.map(({ phase }) => phase)]).toEqual([true, ['in_doubt']]);
    expect([bank.cents(), bank.bookings('pay')]).toEqual([[70, 30], 1]);
  });

  test('take values as values', async () => {
    await using bank = new Bank();
    const what = "x'); DROP TABLE account; --";
    const tool = sqlTool({
      name: 'bank.note',
      input: z.strictObject({ what: z.string() }),
      writes: ['db:sqlite:bank:booking'],
      database: { connect: () => bank.connect(), placeholders: '$1' },
      statements: (given) => [
        { text: 'INSERT INTO booking (what) VALUES ($1)', values: [given.what] },
      ],
    });
    const { left } = await transact([tool], (tx) => tx.call('bank.note', { what }));
    expect([left, bank.bookings(what), bank.cents()]).toEqual([[], 1, [100, 0]]);
  });
});

describe('a commit that', () => {
  test('fails is tried again, and was nothing', async () => {
    await using bank = new Bank(['fail']);
    const { left } = await transact([pay(bank)], (tx) => tx.call('bank.pay', GIVEN));
    expect([left, bank.cents(), bank.broken]).toEqual([[], [70, 30], [false, false]]);
  });

  test('fails permanently is unresolved and changed nothing', async () => {
    await using bank = new Bank(['fail', 'fail', 'fail']);
    const { left } = await transact([pay(bank)], (tx) => tx.call('bank.pay', GIVEN));
    expect([left.map(({ phase }) => phase), bank.cents()]).toEqual([['unresolved'], [100, 0]]);
  });

  test('was done, and its answer lost, is found by its key', async () => {
    await using bank = new Bank(['lose']);
    const { left } = await transact([pay(bank)], (tx) => tx.call('bank.pay', GIVEN));
    expect([left, bank.cents(), bank.bookings('pay')]).toEqual([[], [70, 30], 1]);
    expect(bank.broken).toEqual([true, false]);
  });

  test('was lost and cannot roll back is checked on another connection only', async () => {
    await using bank = new Bank(['torn']);
    const { left } = await transact([pay(bank)], (tx) => tx.call('bank.pay', GIVEN));
    expect([left, bank.cents(), bank.bookings('pay')]).toEqual([[], [70, 30], 1]);
  });

  test('was an undoing, and lost, is not undone twice', async () => {
    await using bank = new Bank(['none', 'lose']);
    const { left } = await transact([now(bank)], async (tx) => {
      await tx.call('bank.pay_now', GIVEN);
      throw new Error('no');
    });
    expect([left, bank.cents(), bank.bookings('undo')]).toEqual([[], [100, 0], 1]);
  });
});

test('a crash at any step leaves all of it once, or nothing', async () => {
  const outcomes = new Set<boolean>();
  await crashedEverywhere({
    open: async () => new Bank(),
    tools: (bank) => [pay(bank), now(bank)],
    body: async (tx) => {
      await tx.call('bank.pay_now', { ...GIVEN, cents: 1 });
      await tx.call('bank.pay', GIVEN);
    },
    check: (bank, { isCommitted, left }) => {
      outcomes.add(isCommitted);
      expect([left, bank.cents()]).toEqual([[], isCommitted ? [69, 31] : [100, 0]]);
      expect(bank.bookings('pay')).toBe(isCommitted ? 2 : bank.bookings('undo'));
    },
  });
  expect(outcomes.size).toBe(2);
});

test.each<[string, object, string]>([
  ['no database', { database: undefined }, 'database'],
  ['an invalid database', { database: {} }, 'database'],
  [
    'values named as nobody does',
    { database: { connect: () => 0, placeholders: ':1' } },
    'placeholders',
  ],
  ['no statements', { statements: ['DELETE'] }, 'statements'],
  ['no writes', { writes: undefined }, 'writes'],
  ['a scope that does not parse', { writes: ['db::x'] }, 'does not parse'],
  ['an invalid delivery', { delivery: 'later' }, 'delivery'],
])('a declaration with %s is refused', async (_, change, why) => {
  await using bank = new Bank();
  expect(errorOf(() => pay(bank, change as never))).toMatchObject({
    reason: 'invalid_tool',
    message: expect.stringContaining(why),
  });
});
