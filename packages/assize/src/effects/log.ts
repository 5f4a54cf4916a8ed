import type { Json } from '#base';
import { parseCanonical, plainText } from '#canon';
import type { Amounts, BlobRef, Hash, LoggedTransaction } from '#ledger';
import { EffectError } from './errors.ts';
import {
  BEGUN,
  type Decision,
  type EffectClass,
  type EffectPhase,
  type EffectRecord,
  recorded,
  type TransactionState,
} from './protocol.ts';
import { type Access, type Claim, readClaim } from './scopes.ts';

/** The description of a transaction in its effect-log row. */
export interface TransactionBody {
  /** The caller's name of the transaction, or a generated one. */
  readonly transaction: string;
  readonly principal: string;
  readonly writ_id: Hash;
  readonly claims: readonly { readonly access: Access; readonly scope: string }[];
  /**
   * For an approved transaction (named after its proposal's id): the caller's name of the submitted
   * transaction.
   */
  readonly name?: string;
  /**
   * An entry of the trajectory that was durable before the transaction began. It binds the log to
   * this ledger, and the end of the transaction follows it. Absent in logs of earlier versions.
   */
  readonly after?: { readonly id: Hash; readonly seq: number };
}

/** A past or future call, as the log and the commit name it. */
export interface LoggedEffect {
  /**
   * The branch of the call: `0.1` is the second branch at the first branching, and `0.1/2.0` is
   * nested in it. Absent for calls outside branches, for calls repeated after an approval, and in
   * records of earlier versions.
   */
  readonly branch?: string;
  readonly key: Hash;
  readonly tool: string;
  readonly class: EffectClass;
  /** A reference to the salted text of an `EffectPayload`. */
  readonly payload: BlobRef;
  /** The cost of compensation, by unit of the writ's budget, if there is a cost. */
  readonly undo_cost?: Amounts;
}

/** A record with the fields that the protocol does not use. */
export type LogRecord =
  | ({ readonly is: 'intended' } & LoggedEffect)
  | {
      readonly is: 'committed';
      readonly entry: Hash;
      /** The action declares a commit for the permanent failure of an effect. */
      readonly on_failure?: true;
      readonly planned: readonly LoggedEffect[];
    }
  /** `why`: an error code. */
  | { readonly is: 'refused'; readonly n: number; readonly why: string }
  /**
   * `entry`: the entry that rejected or submitted the proposal, if that caused the abort. Absent in
   * records of earlier versions.
   */
  | { readonly is: 'aborting'; readonly cause: string; readonly entry?: Hash }
  /**
   * The transaction claims more. As the first record of the transaction: claimed before any effect.
   */
  | { readonly is: 'expanded'; readonly claims: TransactionBody['claims'] }
  /**
   * `too_long`: the result exceeded the storage limit. `unreadable`: the result was not JSON.
   * Neither is stored.
   */
  | {
      readonly is: 'executed' | 'applied';
      readonly n: number;
      readonly result?: BlobRef;
      readonly too_long?: true;
      readonly unreadable?: true;
    }
  | { readonly is: 'undone'; readonly n: number; readonly residue?: BlobRef }
  /**
   * `differs`: the answer given to the body and the different answer now, if that is the reason.
   */
  | { readonly is: 'failed'; readonly n: number; readonly final?: true; readonly differs?: BlobRef }
  | {
      readonly is: 'applying' | 'undoing' | 'absent' | 'discarded' | 'failing';
      readonly n: number;
    }
  /** `why`: an error code. Absent in records of earlier versions, or if the tool gave no code. */
  | { readonly is: 'in_doubt' | 'unresolved'; readonly n: number; readonly why?: string }
  | {
      readonly is: 'resolved';
      readonly n: number;
      readonly as: Decision;
      /** The deciding operator. */
      readonly by: string;
      /** The salted text of the operator's finding or action. */
      readonly evidence: BlobRef;
    }
  | { readonly is: 'settled' | 'aborted' };

/** A salted text that the log names, with its kind and its effect's index among the calls. */
export interface LoggedText {
  readonly n: number;
  readonly hash: Hash;
  readonly is: 'payload' | 'result' | 'residue' | 'differs' | 'evidence';
}

/** The payload of an effect: the tool and its input. */
export interface EffectPayload {
  readonly tool: string;
  /**
   * The tool's class at the time of the call, shown to the approver. Absent in payloads of earlier
   * versions.
   */
  readonly class?: EffectClass;
  /**
   * The caller's name of the transaction, if it has one. The approved transaction runs under
   * another name.
   */
  readonly transaction?: string;
  readonly input: Json;
  /** Set if the action of the proposal declares the call. */
  readonly declared?: true;
  /** The name of the observation with the answer, for a call that was made before the ruling. */
  readonly observed?: string;
  readonly claims: TransactionBody['claims'];
  /** By unit of the writ's budget. */
  readonly cost: Amounts;
  /**
   * The answer of an effect that was executed immediately and compensated when its proposal became
   * pending. After the approval the call is repeated and must return the same answer.
   */
  readonly answer?: Json;
  /** The answer that the body received for a staged call (`Together.hold`). */
  readonly told?: Json;
}

/** An effect as the log describes it. */
export interface KnownEffect extends LoggedEffect {
  readonly result?: BlobRef;
  /** The result exceeded the storage limit. */
  readonly isTooLong?: boolean;
  /** The result was not JSON. */
  readonly isUnreadable?: boolean;
  /** The residue of its compensation. */
  readonly residue?: BlobRef;
  /**
   * The salted text of the answer given to the body and the later, different answer, as `told` and
   * `answer`. Nothing was executed in that case.
   */
  readonly differs?: BlobRef;
  /** The last code with which the commit for its failure was refused. */
  readonly refused?: string;
  /**
   * The last code with which the effect became unresolved (`NoAnswer`). Undefined if its tool gave
   * no code.
   */
  readonly why?: string | undefined;
  /** The last decision of an operator. */
  readonly resolved?: { readonly as: Decision; readonly by: string; readonly evidence: BlobRef };
}

/** A transaction read from the log: its description, its progress and its effects. */
export interface KnownTransaction {
  readonly epoch: number;
  readonly trajectoryId: string;
  readonly body: TransactionBody;
  /** The claims of the body, and later claims. */
  readonly claims: TransactionBody['claims'];
  readonly state: TransactionState;
  readonly effects: readonly KnownEffect[];
  /** The commit entry, if the transaction was committed. */
  readonly entry?: Hash;
  /** The abort reason, if the transaction is compensated. */
  readonly cause?: string;
  /**
   * The entry that ruled on the proposal and caused the abort, if any. Absent in records of earlier
   * versions.
   */
  readonly undoneBy?: Hash;
  /** Number of record rows. */
  readonly length: number;
}

export function bodyText(body: TransactionBody): string {
  return plainText(body);
}

/** The text of one row, for records written together. */
export function recordsText(records: readonly LogRecord[]): string {
  return plainText(records);
}

export function claimsOf({ claims }: Pick<TransactionBody, 'claims'>): Claim[] {
  return claims.map(({ access, scope }) => readClaim(access, scope));
}

/** The last item of a row: the MAC of the row and of all rows before it (`RowAuthentication`). */
export interface RowMac {
  readonly is: 'mac';
  readonly mac: string;
}

/** The records of a parsed row, without its MAC. */
export function recordsIn(row: Json): readonly LogRecord[] {
  const items = (Array.isArray(row) ? row : [row]) as unknown as readonly (LogRecord | RowMac)[];
  return (items.at(-1)?.is === 'mac' ? items.slice(0, -1) : items) as readonly LogRecord[];
}

/** The text of claims in published events. */
export function claimsText(claims: readonly Claim[]): string {
  return plainText(claimTexts(claims));
}

/** @throws CanonError, AuthorityError for a text that `claimsText` did not write */
export function readClaims(text: string): Claim[] {
  return claimsOf({ claims: parseCanonical(text) as unknown as TransactionBody['claims'] });
}

export function claimTexts(claims: readonly Claim[]): TransactionBody['claims'] {
  return claims.map(({ access, scope }) => ({ access, scope: scope.text }));
}

/**
 * Reads a transaction from its rows.
 * @throws EffectError `log_damaged` if it has no record, or an impossible one
 */
export function readTransaction(logged: LoggedTransaction): KnownTransaction {
  return readWithCommittedKeys(logged).known;
}

/**
 * Same as `readTransaction`, with the keys that the commit named, if the transaction was committed.
 * The commit names effects that were executed and kept, and effects that were planned. @throws the
 * errors of `readTransaction`
 */
export function readWithCommittedKeys({ epoch, trajectory_id, body, records }: LoggedTransaction): {
  readonly known: KnownTransaction;
  readonly committedKeys: readonly Hash[];
} {
  // The store writes a transaction with its first record.
  if (records.length === 0) throw logDamaged(epoch, 'has no record');
  let named: readonly Hash[] = [];
  let state = BEGUN;
  const effects: KnownEffect[] = [];
  const known = bodyOf(epoch, body);
  if (!Array.isArray(known?.claims)) throw logDamaged(epoch, 'has a body that is not valid');
  const claims = [...known.claims];
  let ruled: Pick<KnownTransaction, 'entry' | 'cause' | 'undoneBy'> = {};
  for (const record of recordsOf(epoch, records)) {
    if (!isOf(record, effects.length)) throw logDamaged(epoch, 'has a record that is not valid');
    if (record.is === 'expanded') {
      claims.push(...record.claims);
      continue;
    }
    state = recorded(state, protocolOf(record));
    if (record.is === 'intended') effects.push(effectOf(record));
    else if (record.is === 'committed') effects.push(...record.planned);
    else if ('n' in record)
      effects[record.n] = { ...(effects[record.n] as KnownEffect), ...recordedFields(record) };
    if (record.is === 'committed') {
      ruled = { entry: record.entry };
      const { effects: states } = state;
      named = effects.flatMap(({ key }, n) => (STANDS.has(states[n]!.phase) ? [key] : []));
    } else if (record.is === 'aborting')
      ruled = {
        cause: record.cause,
        ...(record.entry === undefined ? {} : { undoneBy: record.entry }),
      };
  }
  const read = {
    epoch,
    trajectoryId: trajectory_id,
    body: known,
    claims,
    state,
    effects,
    ...ruled,
    length: records.length,
  };
  return { known: read, committedKeys: named };
}

/**
 * All texts that the records of a transaction name, in write order, including replaced ones.
 *
 * @throws CanonError for a text that is not canonical
 */
export function textsOf({ records }: LoggedTransaction): LoggedText[] {
  const texts: LoggedText[] = [];
  let calls = 0;
  for (const record of records.flatMap((text) => recordsIn(parseCanonical(text)))) {
    if (record.is === 'intended' || record.is === 'committed')
      for (const { payload } of record.is === 'intended' ? [record] : record.planned)
        texts.push({ n: calls++, hash: payload.$blob, is: 'payload' });
    for (const is of RECORDED_FIELDS) {
      const { [is]: text, n } = record as { readonly [text in typeof is]?: BlobRef } & {
        readonly n?: number;
      };
      if (text !== undefined && n !== undefined) texts.push({ n, hash: text.$blob, is });
    }
  }
  return texts;
}

function bodyOf(epoch: number, body: string): TransactionBody {
  try {
    return parseCanonical(body) as unknown as TransactionBody;
  } catch (cause) {
    throw logDamaged(epoch, 'has a text that cannot be parsed', cause);
  }
}

function recordsOf(epoch: number, records: readonly string[]): LogRecord[] {
  try {
    return records.flatMap((text) => recordsIn(parseCanonical(text)));
  } catch (cause) {
    throw logDamaged(epoch, 'has a text that cannot be parsed', cause);
  }
}

/** Whether the record concerns the whole transaction with valid fields, or an existing effect. */
function isOf(record: LogRecord, effects: number): boolean {
  if (record?.is === 'expanded') return Array.isArray(record.claims);
  if (record?.is === 'committed') return Array.isArray(record.planned);
  if (OF_ALL.has(record?.is)) return true;
  const n = (record as { readonly n?: unknown } | null)?.n as number;
  return Number.isSafeInteger(n) && n >= 0 && n < effects;
}

const OF_ALL: ReadonlySet<LogRecord['is']> = new Set([
  'intended',
  'aborting',
  'settled',
  'aborted',
] as const);

/** The fields of records that refer to texts, except payloads. */
const RECORDED_FIELDS = ['result', 'residue', 'differs', 'evidence'] as const;

/** The phases of effects that a commit names. */
const STANDS: ReadonlySet<EffectPhase> = new Set(['applied', 'due']);

function effectOf({
  key,
  tool,
  class: kind,
  payload,
  undo_cost,
  branch,
}: LoggedEffect): KnownEffect {
  const rest = {
    ...(undo_cost === undefined ? {} : { undo_cost }),
    ...(branch === undefined ? {} : { branch }),
  };
  return { key, tool, class: kind, payload, ...rest };
}

/** The fields of a record about an effect, except its phase. */
function recordedFields(record: LogRecord & { readonly n: number }): Partial<KnownEffect> {
  switch (record.is) {
    case 'executed':
    case 'applied':
      if (record.too_long === true) return { isTooLong: true };
      if (record.unreadable === true) return { isUnreadable: true };
      return record.result === undefined ? {} : { result: record.result };
    case 'undone':
      return record.residue === undefined ? {} : { residue: record.residue };
    case 'failed':
      return record.differs === undefined ? {} : { differs: record.differs };
    case 'refused':
      return { refused: record.why };
    case 'in_doubt':
    case 'unresolved':
      return { why: record.why };
    case 'resolved':
      return { resolved: { as: record.as, by: record.by, evidence: record.evidence } };
    default:
      return {};
  }
}

/** The error for a log whose content cannot be true. */
export function logDamaged(epoch: number, how: string, cause?: unknown): EffectError {
  return new EffectError(
    'log_damaged',
    `The effect log is damaged: transaction ${epoch} ${how}, and its outcome is unknown. Restore the store from a backup (assize verify names the trajectory).`,
    { evidence: { epoch }, cause },
  );
}

/** The record without the fields that the protocol does not use. */
export function protocolOf(record: Exclude<LogRecord, { readonly is: 'expanded' }>): EffectRecord {
  switch (record.is) {
    case 'intended':
      return { is: 'intended', class: record.class };
    case 'committed':
      return {
        is: 'committed',
        planned: record.planned.map((effect) => effect.class),
        ...(record.on_failure === true ? { hasOnFailure: true } : {}),
      };
    case 'failed':
      return record.final === true
        ? { is: 'failed', n: record.n, final: true }
        : { is: 'failed', n: record.n };
    case 'resolved':
      return { is: 'resolved', n: record.n, as: record.as };
    case 'aborting':
    case 'settled':
    case 'aborted':
      return { is: record.is };
    default:
      return { is: record.is, n: record.n };
  }
}
