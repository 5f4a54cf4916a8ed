import type { EntryRow } from 'assize/internal/ledger';
import type { StoredRow } from 'assize/internal/stores/entry-seals.ts';
import type { Row } from './driver.ts';

/**
 * The columns of an entry on `e` (entry), with its trajectory's name on `t` (trajectory), as
 * `entryRow` reads them.
 */
export function entryColumns(schema: string): string {
  return `encode(e.id, 'hex'), t.name, encode(e.parent, 'hex'), e.seq, e.kind, e.payload,
    CASE WHEN e.seal IS NOT NULL THEN encode(e.seal, 'hex') WHEN EXISTS (SELECT FROM "${schema}".sealed) THEN '' END`;
}

/** The key of the trajectory that parameter `$1` names. */
export function keyOf(schema: string): string {
  return `(SELECT t.key FROM "${schema}".trajectory AS t WHERE t.hash = sha256(convert_to($1, 'UTF8')))`;
}

/** The columns have the types that the schema declares. */
export function entryRow(row: Row): StoredRow {
  const [id, trajectory_id, parent, seq, kind, payload, seal] = row as [
    string,
    string,
    string | null,
    string,
    string,
    string,
    string | null,
  ];
  const read = {
    id,
    trajectory_id,
    parent,
    seq: Number(seq),
    kind: kind as EntryRow['kind'],
    payload,
  };
  return seal === null ? read : { ...read, seal };
}

/** A hash as the server reads it. */
export function bytea(hash: string): string {
  return `\\x${hash}`;
}

/**
 * The text of a composite type needs no quotes for these characters.
 * https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-IO-SYNTAX
 */
const PLAIN = /^[0-9A-Za-z.:+-]+$/;

/** A value of a composite type as the server reads it, from its fields in order. */
export function composite(members: readonly (string | number | boolean | null)[]): string {
  let text = '';
  for (const member of members) {
    if (text !== '') text += ',';
    else text = '(';
    if (typeof member === 'string')
      text += PLAIN.test(member) ? member : `"${member.replace(/["\\]/g, '\\$&')}"`;
    else if (member !== null) text += member;
  }
  return `${text})`;
}
