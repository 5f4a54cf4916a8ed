import { EffectRows } from './effect-rows.ts';
import type { SqlConnection, SqlDatabase } from './port.ts';
import { exclusiveAccess, type QueueEntry } from './wait-queue.ts';

/** A connection in its own transaction. */
export interface BorrowedConnection {
  readonly connection: SqlConnection;
  readonly rows: EffectRows;
  isBroken: boolean;
  /** Returns the connection, once. */
  over(): Promise<void>;
}

/**
 * A connection for exclusive use, in order of requests. `held`: for staged writes of a body. These
 * may take long. `ruled`: for adjudicated work. It precedes staged writes. `read`: waits for no
 * writer, except on the same connection.
 *
 * @throws the errors of `connect`; the signal's reason if it aborts before the connection is
 * available
 */
export async function borrowConnection(
  database: SqlDatabase,
  to: 'held' | 'ruled' | 'read',
  signal: AbortSignal,
  turn?: QueueEntry,
): Promise<BorrowedConnection> {
  const isUrgent = to === 'ruled';
  const isAlone = to !== 'read' && database.writers === 'one';
  const last = isAlone ? await exclusiveAccess(database, isUrgent, signal, turn) : () => undefined;
  try {
    const connection = await connected(database, signal);
    const next = await exclusiveAccess(connection, isUrgent, signal, turn).catch(
      (error: unknown) => {
        unused(connection).catch(() => undefined);
        throw error;
      },
    );
    let isOver = false;
    const use = {
      connection,
      rows: new EffectRows(connection, database.placeholders ?? '?'),
      isBroken: false,
      over: async () => {
        if (isOver) return;
        isOver = true;
        try {
          if (connection.close !== undefined)
            await inTime(Promise.resolve(connection.close(use.isBroken)));
        } finally {
          next();
          last();
        }
      },
    };
    return use;
  } catch (error) {
    last();
    throw error;
  }
}

async function connected(database: SqlDatabase, signal: AbortSignal): Promise<SqlConnection> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const connecting = Promise.resolve(database.connect());
  try {
    return await Promise.race([connecting, aborted]);
  } catch (error) {
    // A connection that arrives later is returned unused.
    connecting.then(unused).catch(() => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Returns an unused connection when no other request uses it: `connect` may have returned the same
 * one to others.
 */
async function unused(connection: SqlConnection): Promise<void> {
  if (connection.close === undefined) return;
  const next = await exclusiveAccess(connection, true, new AbortController().signal);
  try {
    await inTime(Promise.resolve(connection.close(false)));
  } finally {
    next();
  }
}

/**
 * Time limit of a rollback before the connection is cut off, if that is possible, and of the wait
 * for its return.
 */
const END_MS = 5_000;

/**
 * Rolls back uncommitted work, and returns the connection. A connection that does not respond is
 * cut off. If that is impossible, no other request gets it before it responds.
 */
export async function releaseConnection(use: BorrowedConnection): Promise<void> {
  const rolledBack = rollBack(use);
  if (use.connection.close === undefined) await rolledBack;
  else if (!(await inTime(rolledBack))) use.isBroken = true;
  await use.over().catch(() => undefined);
}

/** Whether the promise settles in time. */
export async function inTime(made: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), END_MS);
  try {
    return await Promise.race([made.then(() => true as const), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Cuts the connection off on abort, if that is possible. The returned function cancels this. */
export function cutOffWith(signal: AbortSignal, use: BorrowedConnection): () => void {
  if (use.connection.close === undefined) return () => undefined;
  const cut = (): void => {
    use.isBroken = true;
    use.over().catch(() => undefined);
  };
  if (signal.aborted) cut();
  signal.addEventListener('abort', cut, { once: true });
  return () => signal.removeEventListener('abort', cut);
}

/** Returns false if the rollback fails, so the connection is dropped with its transaction. */
export async function rollBack(use: BorrowedConnection): Promise<boolean> {
  try {
    await use.connection.rollback();
  } catch {
    use.isBroken = true;
  }
  return !use.isBroken;
}
