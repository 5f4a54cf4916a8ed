import { type BatchedCall, DidNothing } from 'assize/internal/effects';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { transact as transactTools } from '../../../../tests/support/tools/tool-stage.ts';
import { SqlPart } from './part.ts';
import type { SqlConnection, SqlDatabase } from './port.ts';
import { sqlReader } from './sql-reader.ts';
import { StagedSql } from './staged-sql.ts';
import { type SqlWork, transact } from './transact.ts';

// Staged writes are released regardless of the database's answers. No other transaction gets a
// connection with such writes, and none waits for a silent connection. The database here is a list,
// and answers on demand.

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const never = (): Promise<never> => new Promise(() => undefined);

/** One connection for all, as of a file; `isClosable`: each has its own and can be cut off. */
class Listed {
  readonly committed: string[] = [];
  readonly closed: boolean[] = [];
  rollbacks = 0;
  /** Called with each statement, before the statement runs. */
  at: (text: string) => unknown = () => undefined;
  /** The keys of writes. A rollback keeps them, because the tests here do not inspect that. */
  readonly #keys = new Set<unknown>();
  readonly #isClosable: boolean;
  readonly database: SqlDatabase;

  constructor(isClosable: boolean) {
    this.#isClosable = isClosable;
    const shared = this.#connection();
    const connect = (): SqlConnection => (isClosable ? this.#connection() : shared);
    this.database = { connect, writers: 'one', stagedTimeoutMs: 60_000 };
  }

  #connection(): SqlConnection {
    let open: string[] | undefined;
    let isClosed = false;
    const answer = async (text: string, make: () => void): Promise<never[]> => {
      await this.at(text);
      if (isClosed) throw new Error('it was closed');
      make();
      return [];
    };
    const connection = {
      query: async (text: string, [key]: readonly unknown[]) => {
        await answer(text, () => {
          if (text.startsWith('put ')) (open ?? this.committed).push(text);
          if (text.startsWith('INSERT INTO assize_effects')) this.#keys.add(key);
        });
        const isFound = text.startsWith('SELECT result') && this.#keys.has(key);
        return isFound ? [{ result: 'null', undone: 0 }] : [];
      },
      // As PostgreSQL: it only warns of a transaction within a transaction.
      begin: () =>
        answer('BEGIN', () => {
          open ??= [];
        }),
      commit: () =>
        answer('COMMIT', () => {
          this.committed.push(...(open ?? []));
          open = undefined;
        }),
      rollback: () =>
        answer('ROLLBACK', () => {
          this.rollbacks++;
          open = undefined;
        }),
    };
    if (!this.#isClosable) return connection;
    const close = (isBroken: boolean): void => {
      this.closed.push(isBroken);
      isClosed = true;
    };
    return { ...connection, close };
  }
}

const part = new SqlPart({ name: 'list.put', statements: (what) => [{ text: `put ${what}` }] });
const callOf = (what: string, signal = new AbortController().signal): BatchedCall => ({
  part,
  input: what,
  call: { key: what, signal },
});
const workOf = (what: string): SqlWork => ({
  ...part.work(what, callOf(what).call),
  make: async (connection) => void (await connection.query(`put ${what}`, [])),
});

describe.each([false, true])('a connection that can be closed: %s', (isClosable) => {
  test('a call in flight at the end is not committed by the next transaction', async () => {
    const list = new Listed(isClosable);
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const held = new StagedSql(list.database);
    await held.execute([], callOf('first'));
    list.at = (text) => (text === 'put second' ? gate : undefined);
    const before = [{ part, input: 'first', key: 'first', reported: null }];
    const second = held.execute(before, callOf('second')).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1);
    const ended = held.rollback();
    const next = transact(list.database, [workOf('other')]);
    await vi.advanceTimersByTimeAsync(1);
    // Where it is cut off, nothing is waited for.
    expect(list.committed).toEqual(isClosable ? ['put other'] : []);
    open();
    await next;
    await ended;
    expect(await second).toBeInstanceOf(Error);
    expect(list.committed).toEqual(['put other']);
    if (isClosable) expect(list.closed).toContain(true);
  });

  test('a call that starts during the end is rolled back', async () => {
    const list = new Listed(isClosable);
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    list.at = (text) => (text === 'BEGIN' ? gate : undefined);
    const held = new StagedSql(list.database);
    const late = held.execute([], callOf('late')).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1);
    await held.rollback();
    open();
    expect(await late).toMatchObject({ message: 'its transaction has ended' });
    expect(list.rollbacks).toBe(1);
    await transact(list.database, [workOf('other')]);
    expect(list.committed).toEqual(['put other']);
  });

  test('a transaction that does not begin leaves none open', async () => {
    const list = new Listed(isClosable);
    list.at = (text) => {
      if (text === 'BEGIN') throw new Error('not now');
    };
    await expect(transact(list.database, [workOf('one')])).rejects.toThrow('not now');
    expect(list.rollbacks).toBe(1);
  });
});

test('a call cut off by the staging timeout before its answer can be repeated', async () => {
  const list = new Listed(true);
  const held = new StagedSql(list.database);
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  // Only the savepoint of a statement, and not the work before it.
  list.at = (text) => (/^RELEASE SAVEPOINT assize_[0-9a-f]+$/.test(text) ? gate : undefined);
  const first = held.execute([], callOf('first')).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(list.closed).toEqual([true]);
  open();
  const error = await first;
  expect(error).toBeInstanceOf(DidNothing);
  expect(error).toMatchObject({
    message: 'the writes were staged for longer than the limit',
    isFinal: false,
  });
  await held.execute([], callOf('first'));
  await held.commit([{ ...callOf('first'), reported: null }]);
  expect(list.committed).toEqual(['put first']);
});

test('if a rollback never answers, the connection is closed and waiting ends', async () => {
  const list = new Listed(true);
  const held = new StagedSql(list.database);
  await held.execute([], callOf('first'));
  list.at = (text) => (text === 'ROLLBACK' ? never() : undefined);
  let isOver = false;
  const ended = held.rollback().then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(4_999);
  expect([isOver, list.closed]).toEqual([false, []]);
  await vi.advanceTimersByTimeAsync(1);
  await ended;
  expect(list.closed).toEqual([true]);
  // Asked again, it has ended.
  await held.rollback();
  await transact(list.database, [workOf('other')]);
  expect(list.committed).toEqual(['put other']);
});

test.each(['put first', 'COMMIT'])(
  'a commit that hangs at %s is cut off when its caller stops waiting',
  async (hangs) => {
    const list = new Listed(true);
    const held = new StagedSql(list.database);
    await held.execute([], callOf('first'));
    // Another one has been there, so that the first is done again.
    await held.execute([], callOf('other branch'));
    list.at = (text) => (text === hangs ? never() : undefined);
    const stop = new AbortController();
    const hung = held.commit([{ ...callOf('first', stop.signal), reported: null }]);
    hung.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(1);
    const next = transact(list.database, [workOf('next')]);
    await vi.advanceTimersByTimeAsync(1);
    expect(list.committed).toEqual([]);
    list.at = () => undefined;
    stop.abort(new Error('it took too long'));
    await next;
    expect([list.committed, list.closed[0]]).toEqual([['put next'], true]);
  },
);

test('a call that waits too long for its turn leaves the queue without effect', async () => {
  const list = new Listed(false);
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  list.at = (text) => (text === 'put one' ? gate : undefined);
  const one = transact(list.database, [workOf('one')]);
  const stop = new AbortController();
  const waiting = new StagedSql(list.database);
  const told: unknown[] = [];
  const tell = (error: unknown): void => void told.push(error);
  waiting.execute([], callOf('held', stop.signal)).catch(tell);
  transact(list.database, [part.work('two', callOf('two', stop.signal).call)]).catch(tell);
  const three = transact(list.database, [workOf('three')]);
  await vi.advanceTimersByTimeAsync(1);
  stop.abort(new Error('it took too long'));
  await vi.advanceTimersByTimeAsync(1);
  expect(told).toEqual([expect.any(Error), expect.any(Error)]);
  expect(told.filter((error) => error instanceof DidNothing)).toHaveLength(1);
  open();
  await one;
  await three;
  expect(list.committed).toEqual(['put one', 'put three']);
});

test('a call that leaves a shared connection’s queue closes it after its users', async () => {
  const list = new Listed(false);
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  list.at = (text) => (text === 'put one' ? gate : undefined);
  const whenClosed: string[][] = [];
  const shared = {
    ...(await list.database.connect()),
    close: () => whenClosed.push([...list.committed]),
  };
  const database: SqlDatabase = { ...list.database, writers: 'many', connect: () => shared };
  const one = transact(database, [workOf('one')]);
  const stop = new AbortController();
  const late = transact(database, [part.work('two', callOf('two', stop.signal).call)]);
  await vi.advanceTimersByTimeAsync(1);
  stop.abort(new Error('it took too long'));
  await expect(late).rejects.toThrow(DidNothing);
  open();
  await one;
  await transact(database, [workOf('three')]);
  expect(whenClosed).toEqual([['put one'], ['put one'], ['put one', 'put three']]);
});

test('a hung call after its ruling is cut off on abort, and the next one runs', async () => {
  const list = new Listed(true);
  list.at = (text) => (text === 'put one' ? never() : undefined);
  const stop = new AbortController();
  const one = transact(list.database, [
    { ...workOf('one'), call: callOf('one', stop.signal).call },
  ]);
  one.catch(() => undefined);
  const next = transact(list.database, [workOf('next')]);
  await vi.advanceTimersByTimeAsync(1);
  expect(list.committed).toEqual([]);
  stop.abort(new Error('it took too long'));
  await next;
  expect(list.committed).toEqual(['put next']);
});

test.each(['BEGIN', 'SELECT undone'])(
  'a held transaction that never begins, at %s, is cut off',
  async (hangs) => {
    for (const isTold of [true, false]) {
      const list = new Listed(true);
      list.at = (text) => (text.startsWith(hangs) ? never() : undefined);
      const stop = new AbortController();
      const held = new StagedSql({ ...list.database, stagedTimeoutMs: 50 });
      held.execute([], callOf('first', stop.signal)).catch(() => undefined);
      await vi.advanceTimersByTimeAsync(1);
      list.at = () => undefined;
      if (isTold) stop.abort(new Error('it took too long'));
      // Without an abort, the staging timeout ends it.
      else
        await new Promise((resolve) =>
          setImmediate(() => AbortSignal.timeout(80).addEventListener('abort', resolve)),
        );
      await held.rollback();
      expect(list.closed).toEqual([true]);
    }
  },
);

/** Connections of a pool of one. Its first request is never answered. */
function hanging(what: 'connect' | 'close' | 'rollback') {
  const list = new Listed(true);
  let isFirst = true;
  const connect = async (): Promise<SqlConnection> => {
    const hangs = isFirst;
    isFirst = false;
    if (hangs && what === 'connect') return never();
    const connection = await list.database.connect();
    if (!hangs) return connection;
    const close = (isBroken: boolean): unknown => {
      connection.close!(isBroken);
      return what === 'close' ? never() : undefined;
    };
    return { ...connection, close, ...(what === 'rollback' && { rollback: never }) };
  };
  return { list, database: { ...list.database, connect } };
}

test.each(['connect', 'close', 'rollback'] as const)(
  'a %s that never answers keeps no turn',
  async (what) => {
    const { list, database } = hanging(what);
    list.at = (text) => (text === 'put first' ? never() : undefined);
    const stop = new AbortController();
    const first = transact(database, [
      { ...workOf('first'), call: callOf('first', stop.signal).call },
    ]);
    first.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(1);
    stop.abort(new Error('it took too long'));
    const next = transact(database, [workOf('next')]);
    await vi.advanceTimersByTimeAsync(5_000);
    await next;
    expect(list.committed).toEqual(['put next']);
  },
);

test('a connection that arrives after the abort is closed if ROLLBACK hangs', async () => {
  const list = new Listed(true);
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const stop = new AbortController();
  // Its turn at the database comes late, and not its connection.
  const before = transact(list.database, [{ ...workOf('before'), make: () => gate }]);
  const late = transact(list.database, [
    { ...workOf('late'), call: callOf('late', stop.signal).call },
  ]);
  late.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(1);
  stop.abort(new Error('it took too long'));
  list.at = (text) => (text === 'ROLLBACK' ? never() : undefined);
  open();
  await before;
  await transact(list.database, [workOf('next')]);
  expect(list.committed).toEqual(['put next']);
});

test('a hung read is cut off when its caller stops waiting', async () => {
  vi.useRealTimers();
  const list = new Listed(true);
  list.at = (text) => (text === 'look' ? never() : undefined);
  const { connect } = list.database;
  const reader = sqlReader({
    name: 'list.look',
    input: z.strictObject({}),
    reads: ['list'],
    database: { connect },
    statement: () => ({ text: 'look' }),
  });
  const { error } = await transactTools([reader], (tx) => tx.call('list.look', {}), {
    callTimeoutMs: 50,
    deadlineMs: 2_000,
  });
  expect(error).toMatchObject({ code: 'deadline' });
  expect(list.closed).toEqual([true]);
});
