import { EffectRows } from './effect-rows.ts';
import type { SqlConnection, SqlDatabase } from './port.ts';
import { turnAt } from './turns.ts';

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
 * @throws what `connect` throws
 */
export async function used(database: SqlDatabase, to: 'held' | 'ruled' | 'read'): Promise<Use> {
  const isUrgent = to === 'ruled';
  const last = to !== 'read' && database.writers === 'one' ? await turnAt(database, isUrgent) : () => undefined;
  try {
    const connection = await database.connect();
    const next = await turnAt(connection, isUrgent);
    let isOver = false;
    const use = {
      connection,
      rows: new EffectRows(connection, database.placeholders ?? '?'),
      isBroken: false,
      over: async () => {
        if (isOver) return;
        isOver = true;
        try {
          await connection.close?.(use.isBroken);
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

/** False where it can't be, so that the connection goes, and its transaction with it. */
export async function rollBack(use: Use): Promise<boolean> {
  try {
    await use.connection.rollback();
  } catch {
    use.isBroken = true;
  }
  return !use.isBroken;
}
