import type { EntryKind, EntryRow } from '#ledger';

// hex() in SQL: reading ids as text takes half the time of reading blobs and converting them here.
const COLUMNS = `lower(hex(e.id)) AS id, t.name AS trajectory_id,
  CASE WHEN e.parent IS NOT NULL THEN lower(hex(e.parent)) END AS parent, e.seq AS seq, e.kind AS kind, e.payload AS payload`;

/** Selects whole entries; goes on with a WHERE on `e` (entry) and `t` (trajectory). */
export const SELECT_ENTRIES: string = `SELECT ${COLUMNS} FROM entry AS e JOIN trajectory AS t ON t.key = e.trajectory`;

/** What the statement gives, as the row it is: the columns of a STRICT table have the types the schema says. */
export function entryRow(row: Record<string, unknown>): EntryRow {
  return {
    id: row['id'] as string,
    trajectory_id: row['trajectory_id'] as string,
    parent: row['parent'] as string | null,
    seq: row['seq'] as number,
    kind: row['kind'] as EntryKind,
    payload: row['payload'] as string,
  };
}
