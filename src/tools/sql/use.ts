import { EffectRows } from './effect-rows.ts';
import type { SqlConnection, SqlDatabase } from './port.ts';
import { type Turn, turnAt } from './turns.ts';

/** A connection in a transaction of its own. */
export interface Use {
  readonly connection: SqlConnection;
  readonly rows: EffectRows;
  isBroken: boolean;
  /** Gives it back; once. */
  over(): Promise<void>;
}

/**
 * A connection that nobody else uses, when it is its turn. `held`: it is to write for a body, which may take its time; `ruled`: what was
 * ruled on, so that it comes before those; `read`: nobody who writes is waited for, but on the same connection.
 *
 * @throws what `connect` throws; the signal's reason where it is not its turn by then, or that has not answered
 */
export async function used(
  database: SqlDatabase,
  to: 'held' | 'ruled' | 'read',
  signal: AbortSignal,
  turn?: Turn,
): Promise<Use> {
  const isUrgent = to === 'ruled';
  const isAlone = to !== 'read' && database.writers === 'one';
  const last = isAlone ? await turnAt(database, isUrgent, signal, turn) : () => undefined;
  try {
    const connection = await connected(database, signal);
    const next = await turnAt(connection, isUrgent, signal, turn).catch((error: unknown) => {
      unused(connection).catch(() => undefined);
      throw error;
    });
    let isOver = false;
    const use = {
      connection,
      rows: new EffectRows(connection, database.placeholders ?? '?'),
      isBroken: false,
      over: async () => {
        if (isOver) return;
        isOver = true;
        try {
          if (connection.close !== undefined) await inTime(Promise.resolve(connection.close(use.isBroken)));
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
    // One that comes yet is nobody's.
    connecting.then(unused).catch(() => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Gives back what was not used, when nobody else uses it: it may be the same that others were given. */
async function unused(connection: SqlConnection): Promise<void> {
  if (connection.close === undefined) return;
  const next = await turnAt(connection, true, new AbortController().signal);
  try {
    await inTime(Promise.resolve(connection.close(false)));
  } finally {
    next();
  }
}

/** How long a connection may take to roll back before it is cut off, where it can be; and to be given back before nobody waits for that. */
const END_MS = 5_000;

/**
 * Takes back what was not committed, and gives the connection back: where it does not answer, it is cut off, and where nothing can do that, it is
 * nobody else's before it has answered.
 */
export async function giveBack(use: Use): Promise<void> {
  const rolledBack = rollBack(use);
  if (use.connection.close === undefined) await rolledBack;
  else if (!(await inTime(rolledBack))) use.isBroken = true;
  await use.over().catch(() => undefined);
}

/** Whether it has come to something by then. */
export async function inTime(made: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), END_MS);
  try {
    return await Promise.race([made.then(() => true as const), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Has it cut off when nobody waits for it any more, where it can be; until that is called off. */
export function cutOffWith(signal: AbortSignal, use: Use): () => void {
  if (use.connection.close === undefined) return () => undefined;
  const cut = (): void => {
    use.isBroken = true;
    use.over().catch(() => undefined);
  };
  if (signal.aborted) cut();
  signal.addEventListener('abort', cut, { once: true });
  return () => signal.removeEventListener('abort', cut);
}

/** False where it can't be, so that the connection goes, and its transaction with it. */
export async function rollBack(use: Use): Promise<boolean> {
  try {
    await use.connection.rollback();
  } catch {
    use.isBroken = true;
  }
  return !use.isBroken;
}
