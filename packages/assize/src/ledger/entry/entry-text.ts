import { arg, checkArgument } from '#base';
import {
  canonicalize,
  hashText,
  parseCanonical,
  plainText,
  readCanonical,
  signText,
  verifyText,
} from '#canon';
import { type FaultCode, LedgerFault } from '../errors.ts';
import type { Entry, EntryRow, EntrySignature, Payload } from './entry.ts';
import type { Hash } from './hash.ts';
import { payloadFault } from './shape.ts';

/**
 * Signs entries: Ed25519 over `assize/entry/v1\n` and the canonical payload without its
 * `signature`.
 */
export interface EntrySigner {
  readonly publicKey: string;
  readonly privateKey: string;
}

/**
 * Builds the row of a payload: its canonical text and the id that is the text's hash. The payload
 * is data made in this process (see `plainText`).
 */
export function entryRow(payload: Payload, signer?: EntrySigner): EntryRow {
  const text = plainText(signed(payload, signer));
  const { trajectory_id, parent, seq, kind } = payload;
  return { id: hashText(text), trajectory_id, parent, seq, kind, payload: text };
}

/** The payload with its signature. Unchanged without a signer. */
export function signed<P extends Payload>(payload: P, signer: EntrySigner | undefined): P {
  return signer === undefined ? payload : { ...payload, signature: sign(payload, signer) };
}

function sign(payload: Payload, signer: EntrySigner): EntrySignature {
  return { key: signer.publicKey, value: signText('entry', plainText(payload), signer.privateKey) };
}

/**
 * Checks a row on its own. The text is canonical, hashes to the row's id and is a complete payload
 * of a known kind. The payload agrees with the row's other columns, and its signature, if present,
 * is valid.
 *
 * @throws LedgerFault; ArgumentError `bad_argument`
 */
export function checkRow(row: EntryRow): Entry {
  checkArgument(arg.object, row, 'row');
  // Any malformed value from a damaged store is a ledger fault.
  if (typeof row.payload !== 'string' || typeof row.id !== 'string')
    throw faultOf(row, 'tampered', 'the payload or the id of the row is not a string');
  requireSeal(row);
  const payload = canonicalPayload(row);
  if (hashText(row.payload) !== row.id)
    throw faultOf(row, 'tampered', 'the payload does not hash to the id');
  const malformed = payloadFault(payload);
  if (malformed !== undefined) throw faultOf(row, 'malformed', malformed);
  const { id, trajectory_id, parent, seq, kind } = row;
  if (
    payload.trajectory_id !== trajectory_id ||
    payload.seq !== seq ||
    payload.parent !== parent ||
    payload.kind !== kind
  ) {
    const column = COLUMNS.find((name) => payload[name] !== row[name]) as (typeof COLUMNS)[number];
    throw faultOf(
      row,
      'column_mismatch',
      `the ${column} of the payload is ${payload[column]}, and that of the row is ${String(row[column])}`,
    );
  }
  if (payload.signature !== undefined && !signatureHolds(payload)) {
    throw faultOf(row, 'bad_signature', 'the signature is not valid');
  }
  return { id, trajectory_id, parent, seq, kind, payload };
}

/** @throws LedgerFault `unsealed` */
function requireSeal(row: EntryRow): void {
  if (row.unsealed !== undefined) throw faultOf(row, 'unsealed', row.unsealed);
}

const ENTRY_ROW = arg.members({
  id: arg.text,
  trajectory_id: arg.text,
  seq: arg.number,
  kind: arg.text,
  payload: arg.text,
});

/** Fields that rows repeat as columns, for lookups. */
const COLUMNS = ['trajectory_id', 'seq', 'parent', 'kind'] as const;

function canonicalPayload(row: EntryRow): Payload {
  try {
    return parseCanonical(row.payload) as unknown as Payload;
  } catch (error) {
    // A changed text is usually no longer canonical. The change itself is the more useful fault.
    if (!hashesTo(row.payload, row.id))
      throw faultOf(row, 'tampered', 'the payload does not hash to the id', error);
    throw faultOf(
      row,
      'not_canonical',
      `the payload is not canonical: ${(error as Error).message}`,
      error,
    );
  }
}

function faultOf(
  { trajectory_id, seq }: EntryRow,
  code: FaultCode,
  detail: string,
  cause?: unknown,
): LedgerFault {
  return new LedgerFault({ trajectory_id, seq, code, detail }, cause);
}

function signatureHolds(payload: Payload): boolean {
  const { signature, ...unsigned } = payload;
  const { key, value } = signature as EntrySignature;
  return verifyText('entry', canonicalize(unsigned), value, key);
}

/** Whether a stored text of any form has this hash. A text that is not well-formed has no hash. */
export function hashesTo(text: string, hash: Hash): boolean {
  return text.isWellFormed() && hashText(text) === hash;
}

/**
 * Parses the entry of a row without checks but for its seal, for rows that were just verified or
 * written.
 *
 * @throws LedgerFault `unsealed`; ArgumentError `bad_argument`
 */
export function readRow(row: EntryRow): Entry {
  checkArgument(ENTRY_ROW, row, 'row');
  requireSeal(row);
  const { id, trajectory_id, parent, seq, kind } = row;
  return {
    id,
    trajectory_id,
    parent,
    seq,
    kind,
    payload: readCanonical(row.payload) as unknown as Payload,
  };
}
