import type { EntryRow, Hash } from '#ledger';
import type { Readers } from '../connection/readers.ts';
import { bytea, ENTRY_COLUMNS, entryRow } from '../connection/row.ts';
import type { Statement } from '../connection/session.ts';

/** The entry with that id. */
export function prepareResolve(readers: Readers, schema: string): (id: Hash) => Promise<EntryRow | undefined> {
  const statement: Statement = {
    name: 'assize resolve',
    text: `SELECT ${ENTRY_COLUMNS} FROM "${schema}".entry AS e JOIN "${schema}".trajectory AS t ON t.key = e.trajectory
      WHERE e.id = $1::bytea`,
  };
  return async (id) => (await readers.run(statement, [bytea(id)])).map(entryRow)[0];
}
