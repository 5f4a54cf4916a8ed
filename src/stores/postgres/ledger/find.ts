import type { StoredRow } from '../../entry-seals.ts';
import type { Readers } from '../connection/readers.ts';
import { bytea, entryColumns, entryRow } from '../connection/row.ts';
import type { Statement } from '../connection/session.ts';

/**
 * At most two entries with ids that start with the prefix. A second entry shows that the prefix is
 * ambiguous.
 */
export function prepareFind(readers: Readers, schema: string): (prefix: string) => Promise<StoredRow[]> {
  const statement: Statement = {
    name: 'assize find',
    text: `SELECT ${entryColumns(schema)} FROM "${schema}".entry AS e JOIN "${schema}".trajectory AS t ON t.key = e.trajectory
      WHERE e.id BETWEEN $1::bytea AND $2::bytea ORDER BY e.id LIMIT 2`,
  };
  return async (prefix) => {
    const bounds = [bytea(prefix.padEnd(64, '0')), bytea(prefix.padEnd(64, 'f'))];
    return (await readers.run(statement, bounds)).map(entryRow);
  };
}
