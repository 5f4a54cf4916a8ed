import type { StoredRow } from '../../entry-seals.ts';
import type { Readers } from '../connection/readers.ts';
import { entryColumns, entryRow, keyOf } from '../connection/row.ts';
import type { Statement } from '../connection/session.ts';

/** A page of one trajectory, in order of seq. */
export function prepareEntries(
  readers: Readers,
  schema: string,
): (trajectoryId: string, from: number, limit: number) => Promise<StoredRow[]> {
  // The statement looks up the key first and separately. Only then does the primary key return the
  // rows in order, page by page.
  const statement: Statement = {
    name: 'assize entries',
    text: `SELECT ${entryColumns(schema)} FROM "${schema}".entry AS e, (SELECT $1::text AS name) AS t
      WHERE e.trajectory = ${keyOf(schema)} AND e.seq >= $2 ORDER BY e.seq LIMIT $3`,
  };
  return async (...values) => (await readers.run(statement, values)).map(entryRow);
}
