import type { SideChange, SidePage, SideRow } from 'assize/internal/ledger';
import { systemRandom } from 'assize/internal/oracle';
import type { Row } from '../connection/driver.ts';
import type { Readers } from '../connection/readers.ts';
import type { Session, Statement } from '../connection/session.ts';

const COLUMNS = 'kind, key, version, body';

/** The hash of the kind that parameter `$1` has. */
const KIND = "sha256(convert_to($1, 'UTF8'))";

export function prepareSideGet(
  readers: Readers,
  schema: string,
): (kind: string, key: string) => Promise<SideRow | undefined> {
  const statement: Statement = {
    name: 'assize side',
    text: `SELECT ${COLUMNS} FROM "${schema}".side WHERE kind_hash = ${KIND} AND key = $2`,
  };
  return async (kind, key) => (await readers.run(statement, [kind, key])).map(sideRow)[0];
}

/** The rows of one kind, by key. */
export function prepareSideList(
  readers: Readers,
  schema: string,
): (kind: string, page: SidePage) => Promise<SideRow[]> {
  const statement: Statement = {
    name: 'assize sides',
    text: `SELECT ${COLUMNS} FROM "${schema}".side WHERE kind_hash = ${KIND} AND key > $2 ORDER BY key LIMIT $3`,
  };
  return async (kind, { after = '', limit }) =>
    (await readers.run(statement, [kind, after, limit])).map(sideRow);
}

/**
 * Writes all changes or none with `put_side`. The step is safe to repeat, because the server finds
 * the receipt of an earlier attempt.
 */
export function prepareSidePut(
  schema: string,
): (changes: readonly SideChange[]) => (session: Session) => Promise<boolean> {
  const statement: Statement = {
    name: 'assize put side',
    text: `SELECT "${schema}".put_side($1, $2, $3, $4, $5)`,
  };
  return (changes) => {
    const values = [
      `\\x${Buffer.from(systemRandom.bytes(RECEIPT_BYTES)).toString('hex')}`,
      changes.map(({ kind }) => kind),
      changes.map(({ key }) => key),
      changes.map(({ expected }) => expected),
      changes.map(({ body }) => body),
    ];
    return async (session) => (await session.run(statement, values))[0]![0] === 't';
  };
}

const RECEIPT_BYTES = 16;

function sideRow(row: Row): SideRow {
  const [kind, key, version, body] = row as [string, string, string, string];
  return { kind, key, version: Number(version), body };
}
