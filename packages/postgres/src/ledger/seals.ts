import type { EntrySeals } from 'assize/internal/stores/entry-seals.ts';
import type { SealedPage } from 'assize/internal/stores/native-port.ts';
import type { Readers } from '../connection/readers.ts';
import { bytea } from '../connection/row.ts';
import type { Session } from '../connection/session.ts';

/** The number of entries in one statement. */
const PAGE = 1_000;

/** Whether every entry has a seal, and must have one. */
export function prepareIsSealed(readers: Readers, schema: string): () => Promise<boolean> {
  const statement = { name: 'assize sealed', text: `SELECT 1 FROM "${schema}".sealed` };
  return async () => (await readers.run(statement)).length > 0;
}

/** Marks a store without entries as sealed. */
export async function sealEmpty(session: Session, schema: string): Promise<void> {
  const isDue = `NOT EXISTS (SELECT FROM "${schema}".sealed) AND NOT EXISTS (SELECT FROM "${schema}".entry)`;
  const [row] = await session.run({ text: `SELECT 1 WHERE ${isDue}` });
  if (row !== undefined) await session.run({ text: `SELECT "${schema}".end_sealing()` });
}

/** Seals a page of entries. The last call marks the store as sealed. */
export function prepareSealSome(
  schema: string,
): (seals: EntrySeals, after: number) => (session: Session) => Promise<SealedPage> {
  const page = `SELECT position, encode(id, 'hex') FROM "${schema}".entry
    WHERE position > $1 AND seal IS NULL ORDER BY position LIMIT ${PAGE}`;
  return (seals, after) => async (session) => {
    const rows = (await session.run({ text: page }, [after])) as [string, string][];
    const last = rows.at(-1);
    if (last !== undefined) {
      const given = [
        rows.map(([, id]) => bytea(id)),
        rows.map(([, id]) => bytea(seals.of({ id }))),
      ];
      await session.run({ text: `SELECT "${schema}".seal_entries($1, $2)` }, given);
      return { sealed: rows.length, after: Number(last[0]) };
    }
    const [row] = await session.run({ text: `SELECT "${schema}".end_sealing()` });
    // A lower position can commit after the page that would have had it.
    return { sealed: 0, after: row?.[0] === 't' ? undefined : Number.MIN_SAFE_INTEGER };
  };
}
