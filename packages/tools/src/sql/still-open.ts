import { randomBytes } from 'node:crypto';
import { EffectError } from 'assize/internal/effects';
import type { SqlConnection } from './port.ts';

/** A statement has ended its transaction: which of the writes were committed is unknown. */
export class TransactionEnded extends EffectError {
  override readonly name = 'TransactionEnded';

  constructor(cause?: unknown) {
    const what = 'A statement ended its own transaction, so its writes may be committed.';
    super('outcome_unknown', what, { cause });
  }
}

/**
 * A savepoint name that no statement can know, so a text that ended a transaction can't set it in
 * the next one.
 */
export function savepointName(): string {
  return `assize_${randomBytes(8).toString('hex')}`;
}

/**
 * A connection in a transaction that every statement must leave open. A procedure may end it, and
 * so may a statement with an implicit commit, such as MySQL's schema changes. A savepoint is set
 * before each statement and released after it: an ended transaction has lost it. The database
 * itself rolls back a failed statement.
 */
export function guardTransaction(connection: SqlConnection): Pick<SqlConnection, 'query'> {
  return {
    query: async (text, values) => {
      const mark = savepointName();
      await connection.query(`SAVEPOINT ${mark}`, []);
      const rows = await connection.query(text, values);
      try {
        await connection.query(`RELEASE SAVEPOINT ${mark}`, []);
      } catch (cause) {
        if (await answers(connection)) throw new TransactionEnded(cause);
        throw cause;
      }
      return rows;
    },
  };
}

/** Whether the statement failed, and not the connection. */
async function answers(connection: SqlConnection): Promise<boolean> {
  try {
    await connection.rollback();
    return true;
  } catch {
    return false;
  }
}
