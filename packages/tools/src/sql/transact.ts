import { errorMessage, isInstance } from 'assize/internal/base';
import { type CallContext, DidNothing, NoAnswer } from 'assize/internal/effects';
import {
  type BorrowedConnection,
  borrowConnection,
  cutOffWith,
  rollBack,
} from './borrowed-connection.ts';
import { EFFECTS_TABLE, type EffectRow, type EffectRows } from './effect-rows.ts';
import type { SqlConnection, SqlDatabase } from './port.ts';
import { refusal } from './refusal.ts';
import { TransactionEnded } from './still-open.ts';

/** Work under a key. It runs once. */
export interface SqlWork {
  readonly call: CallContext;
  /** Runs before the key is read, so one of two concurrent attempts waits there. */
  readonly lock?: (rows: EffectRows) => Promise<void>;
  /** Whether the work is already done. */
  isDone(row: EffectRow | undefined): boolean;
  make(connection: SqlConnection, rows: EffectRows): Promise<void>;
  /** Whether a retry may succeed after the error. */
  isTransient(error: unknown): boolean;
}

/**
 * Runs all works in one database transaction, or none. Works that are already done are skipped.
 * Returns their rows, in order.
 *
 * @throws DidNothing if nothing was committed, with the key of the failed work if known; another
 * error if the outcome is unknown
 */
export async function transact(
  database: SqlDatabase,
  works: readonly SqlWork[],
): Promise<readonly (EffectRow | undefined)[]> {
  const { signal, epoch } = works[0]!.call;
  const use = await unless(works, () => borrowConnection(database, 'ruled', signal, { epoch }));
  const isHeard = cutOffWith(signal, use);
  try {
    await unless(works, () => begun(database, use, signal));
    return await done(use, works);
  } catch (error) {
    forgetTable(database);
    throw error;
  } finally {
    isHeard();
    // The outcome is known, regardless of later errors of the connection.
    await use.over().catch(() => undefined);
  }
}

/** Databases that have the table of effects, without a failure since the check. */
const withTable = new WeakSet<SqlDatabase>();

/**
 * Starts a transaction, after ensuring the table of effects.
 * @throws the signal's reason; the errors of the database
 */
export async function begin(
  database: SqlDatabase,
  { connection }: BorrowedConnection,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  if (!withTable.has(database)) await prepareTable(connection);
  withTable.add(database);
  await connection.begin();
}

/** Checks the table again after a failure, because the table may have been removed. */
export function forgetTable(database: SqlDatabase): void {
  withTable.delete(database);
}

/**
 * An existing table needs no right to create one, and of concurrent creations all but one may be
 * refused.
 */
async function prepareTable(connection: SqlConnection): Promise<void> {
  if (await hasTable(connection)) return;
  try {
    await connection.query(EFFECTS_TABLE, []);
  } catch (error) {
    if (!(await hasTable(connection))) throw error;
  }
}

async function hasTable(connection: SqlConnection): Promise<boolean> {
  try {
    await connection.query('SELECT undone FROM assize_effects WHERE 1 = 0', []);
    return true;
  } catch {
    return false;
  }
}

/** A transaction that fails to start is not left open. */
async function begun(
  database: SqlDatabase,
  use: BorrowedConnection,
  signal: AbortSignal,
): Promise<void> {
  try {
    await begin(database, use, signal);
  } catch (error) {
    await rollBack(use);
    throw error;
  }
}

async function done(
  use: BorrowedConnection,
  works: readonly SqlWork[],
): Promise<readonly (EffectRow | undefined)[]> {
  const { connection, rows } = use;
  let found: readonly (EffectRow | undefined)[];
  let at: SqlWork | undefined;
  try {
    for (const work of works) {
      at = work;
      await work.lock?.(rows);
      if (!work.isDone(await rows.of(work.call.key))) await work.make(connection, rows);
    }
    at = undefined;
    found = await rowsOf(works, rows);
    // A call that timed out while waiting reports that nothing was done, and not an unknown
    // outcome.
    for (const { call } of works) call.signal.throwIfAborted();
  } catch (error) {
    // If the rollback fails too, the connection is dropped with its transaction, and nothing was
    // committed.
    await rollBack(use);
    if (isInstance(error, TransactionEnded)) throw error;
    throw nothing(at === undefined ? works : [at], error);
  }
  try {
    await connection.commit();
    return found;
  } catch (error) {
    // The error may follow the commit. A usable connection can query the outcome.
    if (!(await rollBack(use)))
      throw new NoAnswer('the outcome of the commit is unknown', {
        cause: error,
        why: 'commit_unknown',
      });
    const known = await rowsOf(works, rows);
    if (works.every((work, i) => work.isDone(known[i]))) return known;
    throw nothing(works, error);
  }
}

async function rowsOf(
  works: readonly SqlWork[],
  rows: EffectRows,
): Promise<readonly (EffectRow | undefined)[]> {
  const found: (EffectRow | undefined)[] = [];
  for (const { call } of works) found.push(await rows.of(call.key));
  return found;
}

/**
 * A failure to start a transaction may be temporary, because no statement of the tool has failed.
 */
async function unless<T>(works: readonly SqlWork[], make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    throw nothing(works, error, false);
  }
}

/**
 * For one of several works, the error names its key. `isFinal`: by default, as the tools classify
 * the error.
 */
function nothing(works: readonly SqlWork[], error: unknown, isFinal?: boolean): DidNothing {
  const [work, ...others] = works as [SqlWork, ...SqlWork[]];
  const key = others.length === 0 ? work.call.key : undefined;
  const what = errorMessage(error) ?? 'the database refused it';
  const why = refusal(error);
  if (isInstance(error, DidNothing))
    return new DidNothing(what, {
      final: error.isFinal,
      key,
      answer: error.answer,
      cause: error,
      why,
    });
  const final = isFinal ?? works.every(({ isTransient }) => !isTransient(error));
  return new DidNothing(what, { final, key, cause: error, why });
}
