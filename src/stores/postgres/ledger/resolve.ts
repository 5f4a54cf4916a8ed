import type { Hash } from '#ledger';
import type { StoredRow } from '../../entry-seals.ts';
import type { Readers } from '../connection/readers.ts';
import { bytea, entryColumns, entryRow } from '../connection/row.ts';
import type { Statement } from '../connection/session.ts';

/** The entry with that id. */
export function prepareResolve(readers: Readers, schema: string): (id: Hash) => Promise<StoredRow | undefined> {
  const statement: Statement = {
    name: 'assize resolve',
    text: `SELECT ${entryColumns(schema)} FROM "${schema}".entry AS e JOIN "${schema}".trajectory AS t ON t.key = e.trajectory
      WHERE e.id = $1::bytea`,
  };
  return async (id) => (await readers.run(statement, [bytea(id)])).map(entryRow)[0];
}
