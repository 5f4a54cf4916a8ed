import { randomBytes } from 'node:crypto';
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

/** A savepoint that no statement knows: a text that has ended a transaction can't put it into the next one. */
export function savepointName(): string {
  return `assize_${randomBytes(8).toString('hex')}`;
}

/**
 * A connection in a transaction, each of whose statements has to leave it open: a procedure may end it, or a statement that a database
 * commits by itself, as MySQL does with each that changes a schema. A savepoint is set before each, and looked for after it: an ended
 * transaction has none. What a statement refuses is the database's to take back.
 */
export function stillOpen(connection: SqlConnection): Pick<SqlConnection, 'query'> {
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

/** Whether it was the statement, and not the connection that was lost. */
async function answers(connection: SqlConnection): Promise<boolean> {
  try {
    await connection.rollback();
    return true;
  } catch {
    return false;
  }
}
