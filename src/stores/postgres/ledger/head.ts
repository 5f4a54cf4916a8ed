import type { StoredRow } from '../../entry-seals.ts';
import type { Readers } from '../connection/readers.ts';
import { entryColumns, entryRow, keyOf } from '../connection/row.ts';
import type { Statement } from '../connection/session.ts';

/** The last entry of one trajectory. */
export function prepareHead(
  readers: Readers,
  schema: string,
): (trajectoryId: string) => Promise<StoredRow | undefined> {
  const statement: Statement = {
    name: 'assize head',
    text: `SELECT ${entryColumns(schema)} FROM "${schema}".entry AS e, (SELECT $1::text AS name) AS t
      WHERE e.trajectory = ${keyOf(schema)} ORDER BY e.seq DESC LIMIT 1`,
  };
  return async (trajectoryId) => (await readers.run(statement, [trajectoryId])).map(entryRow)[0];
}
