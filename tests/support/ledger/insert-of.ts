import type { EntryRow } from '#ledger';

/** One INSERT of an entry, as a user of the database writes it who may only append. */
export function insertOf(row: EntryRow, kind: 'sqlite' | 'postgres', seal?: string): string {
  const bytes = (hex: string): string => (kind === 'sqlite' ? `x'${hex}'` : `'\\x${hex}'`);
  const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;
  const key = `(SELECT key FROM trajectory WHERE name = ${text(row.trajectory_id)})`;
  const parent = row.parent === null ? 'NULL' : bytes(row.parent);
  const values = [key, row.seq, bytes(row.id), parent, text(row.kind), text(row.payload)];
  const columns = ['trajectory', 'seq', 'id', 'parent', 'kind', 'payload'];
  if (seal !== undefined) {
    columns.push('seal');
    values.push(bytes(seal));
  }
  return `INSERT INTO entry (${columns.join(', ')}) VALUES (${values.join(', ')})`;
}
