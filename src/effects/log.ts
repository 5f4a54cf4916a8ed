import { type Json, parseCanonical, plainText } from '#canon';
import type { BlobRef, Hash, LoggedTransaction } from '#ledger';
import { BEGUN, type EffectClass, type EffectRecord, recorded, type TransactionState } from './protocol.ts';
import { type Access, type Claim, readClaim } from './scopes.ts';

/** What a transaction is, as its row in the effect log has it. */
export interface TransactionBody {
  /** The caller's name of it, or one that was made up. */
  readonly transaction: string;
  readonly principal: string;
  readonly writ_id: Hash;
  readonly claims: readonly { readonly access: Access; readonly scope: string }[];
}

/** What is called, or will be: as the log and the commit name it. */
export interface LoggedEffect {
  readonly key: Hash;
  readonly tool: string;
  readonly class: EffectClass;
  /** The salted text of tool, input and scopes. */
  readonly payload: BlobRef;
}

/** What a record has beside what the protocol knows of it. */
export type LogRecord =
  | ({ readonly is: 'intended' } & LoggedEffect)
  | { readonly is: 'committed'; readonly entry: Hash; readonly planned: readonly LoggedEffect[] }
  | { readonly is: 'aborting'; readonly cause: string }
  | { readonly is: 'executed' | 'applied'; readonly n: number; readonly result?: BlobRef }
  | { readonly is: 'undone'; readonly n: number; readonly residue?: BlobRef }
  | { readonly is: 'failed'; readonly n: number; readonly final?: true }
  | { readonly is: 'applying' | 'undoing' | 'absent' | 'in_doubt' | 'unresolved'; readonly n: number }
  | {
      readonly is: 'resolved';
      readonly n: number;
      readonly as: 'applied' | 'undone';
      readonly by: string;
      readonly evidence: BlobRef;
    }
  | { readonly is: 'settled' | 'aborted' };

/** The payload of an effect: what would be called, and where. */
export interface EffectPayload {
  readonly tool: string;
  readonly input: Json;
  readonly claims: TransactionBody['claims'];
  /** By unit of the writ's budget. */
  readonly cost: { readonly [unit: string]: number };
}

/** An effect as far as the log tells. */
export interface KnownEffect extends LoggedEffect {
  readonly result?: BlobRef;
}

/** A transaction read back: what it is, how far it has come, and what its effects are. */
export interface KnownTransaction {
  readonly epoch: number;
  readonly trajectoryId: string;
  readonly body: TransactionBody;
  readonly state: TransactionState;
  readonly effects: readonly KnownEffect[];
  /** Rows of records that there are. */
  readonly length: number;
}

export function bodyText(body: TransactionBody): string {
  return plainText(body);
}

/** What was recorded at once, in one row. */
export function recordsText(records: readonly LogRecord[]): string {
  return plainText(records);
}

export function claimsOf({ claims }: Pick<TransactionBody, 'claims'>): Claim[] {
  return claims.map(({ access, scope }) => readClaim(access, scope));
}

export function claimTexts(claims: readonly Claim[]): TransactionBody['claims'] {
  return claims.map(({ access, scope }) => ({ access, scope: scope.text }));
}

/** Reads a transaction back. @throws CanonError for a text that is not its own canonical text */
export function readTransaction({ epoch, trajectory_id, body, records }: LoggedTransaction): KnownTransaction {
  let state = BEGUN;
  const effects: KnownEffect[] = [];
  for (const record of records.flatMap((text) => parseCanonical(text) as unknown as LogRecord[])) {
    state = recorded(state, protocolOf(record));
    if (record.is === 'intended') effects.push(record);
    else if (record.is === 'committed') effects.push(...record.planned);
    else if ((record.is === 'executed' || record.is === 'applied') && record.result !== undefined)
      effects[record.n] = { ...(effects[record.n] as KnownEffect), result: record.result };
  }
  return {
    epoch,
    trajectoryId: trajectory_id,
    body: parseCanonical(body) as unknown as TransactionBody,
    state,
    effects,
    length: records.length,
  };
}

/** The same without what the protocol does not look at. */
export function protocolOf(record: LogRecord): EffectRecord {
  switch (record.is) {
    case 'intended':
      return { is: 'intended', class: record.class };
    case 'committed':
      return { is: 'committed', planned: record.planned.map((effect) => effect.class) };
    case 'failed':
      return record.final === true ? { is: 'failed', n: record.n, final: true } : { is: 'failed', n: record.n };
    case 'resolved':
      return { is: record.as, n: record.n };
    case 'aborting':
    case 'settled':
    case 'aborted':
      return { is: record.is };
    default:
      return { is: record.is, n: record.n };
  }
}
