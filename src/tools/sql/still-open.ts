import { EffectError } from '#effects';
import type { SqlConnection } from './port.ts';

/** A statement has ended the transaction that it stood in: nobody knows how much of what was written there stands. */
export class TransactionEnded extends EffectError {
  override readonly name = 'TransactionEnded';

  constructor(cause?: unknown) {
    const what = 'A statement has ended the transaction that it stood in: what was written there may stand.';
    super('outcome_unknown', what, { cause });
  }
}

/** Set before each statement, and looked for after it: an ended transaction has none. */
const MARK = 'assize_open';

/**
 * A connection in a transaction, each of whose statements has to leave it open: a procedure may end it, or a statement that a database
 * commits by itself, as MySQL does with each that changes a schema. What a statement refuses is the database's to take back.
 */
export function stillOpen(connection: SqlConnection): Pick<SqlConnection, 'query'> {
  return {
    query: async (text, values) => {
      await connection.query(`SAVEPOINT ${MARK}`, []);
      const rows = await connection.query(text, values);
      try {
        await connection.query(`RELEASE SAVEPOINT ${MARK}`, []);
      } catch (cause) {
        throw new TransactionEnded(cause);
      }
      return rows;
    },
  };
}
