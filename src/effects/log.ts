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

/** What a transaction is, as its row in the effect log has it. */
export interface TransactionBody {
  /** The caller's name of it, or one that was made up. */
  readonly transaction: string;
  readonly principal: string;
  readonly writ_id: Hash;
  readonly claims: readonly { readonly access: Access; readonly scope: string }[];
  /** Of one that was approved, whose own name is its proposal's id: the caller's name of what was put up. */
  readonly name?: string;
}

/** What is called, or will be: as the log and the commit name it. */
export interface LoggedEffect {
  /**
   * The branch that it was called in, or the part: `0.1` is the second of those that were tried at the first call, and `0.1/2.0` one of its
   * own. Not of what no branch has called, nor of what is called again for an approval; nor in records of earlier versions.
   */
  readonly branch?: string;
  readonly key: Hash;
  readonly tool: string;
  readonly class: EffectClass;
  /** The salted text of an `EffectPayload`. */
  readonly payload: BlobRef;
  /** What undoing it costs, by unit of the writ's budget; where it costs something. */
  readonly undo_cost?: Amounts;
}

/** What a record has beside what the protocol knows of it. */
export type LogRecord =
  | ({ readonly is: 'intended' } & LoggedEffect)
  | {
      readonly is: 'committed';
      readonly entry: Hash;
      /** The action says what is to be committed where an effect fails for good. */
      readonly on_failure?: true;
      readonly planned: readonly LoggedEffect[];
    }
  /** `why`: a code. */
  | { readonly is: 'refused'; readonly n: number; readonly why: string }
  /** `entry`: the one that rejected its proposal, or put it up, where that is why; not in records of earlier versions. */
  | { readonly is: 'aborting'; readonly cause: string; readonly entry?: Hash }
  /** More is claimed. Where that is the transaction's first record, it was claimed before anything was done there. */
  | { readonly is: 'expanded'; readonly claims: TransactionBody['claims'] }
  /** `too_long`: it has answered more than is kept, so that there is no result, though there was one. */
  | { readonly is: 'executed' | 'applied'; readonly n: number; readonly result?: BlobRef; readonly too_long?: true }
  | { readonly is: 'undone'; readonly n: number; readonly residue?: BlobRef }
  /** `differs`: what the body was told that it answers, and what it would have answered, where that is why. */
  | { readonly is: 'failed'; readonly n: number; readonly final?: true; readonly differs?: BlobRef }
  | {
      readonly is: 'applying' | 'undoing' | 'absent' | 'discarded' | 'failing';
      readonly n: number;
    }
  /** `why`: a code; not in records of earlier versions, nor where its tool has said none. */
  | { readonly is: 'in_doubt' | 'unresolved'; readonly n: number; readonly why?: string }
  | {
      readonly is: 'resolved';
      readonly n: number;
      readonly as: Decision;
      /** Who decided. */
      readonly by: string;
      /** The salted text of what they found, or did. */
      readonly evidence: BlobRef;
    }
  | { readonly is: 'settled' | 'aborted' };

/** A salted text that the log names: what of which effect it is, by the effect's place among the calls. */
export interface LoggedText {
  readonly n: number;
  readonly hash: Hash;
  readonly is: 'payload' | 'result' | 'residue' | 'differs' | 'evidence';
}

/** The payload of an effect: what would be called, and where. */
export interface EffectPayload {
  readonly tool: string;
  /** As the tool was declared where it was called: who approves it is shown that. Not in payloads of earlier versions. */
  readonly class?: EffectClass;
  /** The caller's name of the transaction, where it has one: who approves it works under another name. */
  readonly transaction?: string;
  readonly input: Json;
  readonly claims: TransactionBody['claims'];
  /** By unit of the writ's budget. */
  readonly cost: Amounts;
  /**
   * Of what had acted at once when its proposal came to wait for a person, and is undone: what it had answered. It is called again once
   * that is approved, and has to answer the same.
   */
  readonly answer?: Json;
  /** Of what was done while the body ran, where nobody else sees it (`Together.hold`): what the body was told that it answers. */
  readonly told?: Json;
}

/** An effect as far as the log tells. */
export interface KnownEffect extends LoggedEffect {
  readonly result?: BlobRef;
  /** It has answered more than is kept. */
  readonly isTooLong?: boolean;
  /** What its compensation could not take back. */
  readonly residue?: BlobRef;
  /** The salted text of what its body was told and of what it would have answered since, as `told` and `answer`; nothing was done then. */
  readonly differs?: BlobRef;
  /** Why what was to be committed for its failure was refused last, as a code. */
  readonly refused?: string;
  /** Why it was left to a person last, as a code (`NoAnswer`); undefined where its tool has said none. */
  readonly why?: string | undefined;
  /** What a person decided last. */
  readonly resolved?: { readonly as: Decision; readonly by: string; readonly evidence: BlobRef };
}

/** A transaction read back: what it is, how far it has come, and what its effects are. */
export interface KnownTransaction {
  readonly epoch: number;
  readonly trajectoryId: string;
  readonly body: TransactionBody;
  /** Those of the body, and those that came later. */
  readonly claims: TransactionBody['claims'];
  readonly state: TransactionState;
  readonly effects: readonly KnownEffect[];
  /** The commit entry, where it was committed. */
  readonly entry?: Hash;
  /** Why it is undone, where it is. */
  readonly cause?: string;
  /** The entry by which it is undone, where it was ruled on; not of earlier versions. */
  readonly undoneBy?: Hash;
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

/** As members tell each other of claims. */
export function claimsText(claims: readonly Claim[]): string {
  return plainText(claimTexts(claims));
}

/** @throws CanonError, AuthorityError for a text that `claimsText` did not make */
export function readClaims(text: string): Claim[] {
  return claimsOf({ claims: parseCanonical(text) as unknown as TransactionBody['claims'] });
}

export function claimTexts(claims: readonly Claim[]): TransactionBody['claims'] {
  return claims.map(({ access, scope }) => ({ access, scope: scope.text }));
}

/**
 * Reads a transaction back.
 * @throws EffectError `log_damaged` where there is no record of it, or one that can't be one of its
 */
export function readTransaction(logged: LoggedTransaction): KnownTransaction {
  return readNaming(logged).known;
}

/**
 * The same, with what its commit has named, where it was committed: the keys of what had happened by then and was to stay, and of what
 * was planned. @throws as `readTransaction`
 */
export function readNaming({ epoch, trajectory_id, body, records }: LoggedTransaction): {
  readonly known: KnownTransaction;
  readonly named: readonly Hash[];
} {
  // What begins is written with its first record.
  if (records.length === 0) throw damaged(epoch, 'has no record');
  let named: readonly Hash[] = [];
  let state = BEGUN;
  const effects: KnownEffect[] = [];
  const known = bodyOf(epoch, body);
  if (!Array.isArray(known?.claims)) throw damaged(epoch, 'has a text that can be none of its');
  const claims = [...known.claims];
  let ruled: Pick<KnownTransaction, 'entry' | 'cause' | 'undoneBy'> = {};
  for (const record of recordsOf(epoch, records)) {
    if (!isOf(record, effects.length)) throw damaged(epoch, 'has a record that can be none of its');
    if (record.is === 'expanded') {
      claims.push(...record.claims);
      continue;
    }
    state = recorded(state, protocolOf(record));
    if (record.is === 'intended') effects.push(effectOf(record));
    else if (record.is === 'committed') effects.push(...record.planned);
    else if ('n' in record) effects[record.n] = { ...(effects[record.n] as KnownEffect), ...learnt(record) };
    if (record.is === 'committed') {
      ruled = { entry: record.entry };
      const { effects: states } = state;
      named = effects.flatMap(({ key }, n) => (STANDS.has(states[n]!.phase) ? [key] : []));
    } else if (record.is === 'aborting')
      ruled = { cause: record.cause, ...(record.entry === undefined ? {} : { undoneBy: record.entry }) };
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
  return { known: read, named };
}

/**
 * All texts that the records of a transaction name, in the order in which they were written: also those in place of which others have come.
 *
 * @throws CanonError for a text that is not its own canonical text
 */
export function textsOf({ records }: LoggedTransaction): LoggedText[] {
  const texts: LoggedText[] = [];
  let calls = 0;
  for (const record of records.flatMap((text) => parseCanonical(text) as unknown as LogRecord[])) {
    if (record.is === 'intended' || record.is === 'committed')
      for (const { payload } of record.is === 'intended' ? [record] : record.planned)
        texts.push({ n: calls++, hash: payload.$blob, is: 'payload' });
    for (const is of LEARNT) {
      const { [is]: text, n } = record as { readonly [text in typeof is]?: BlobRef } & { readonly n?: number };
      if (text !== undefined && n !== undefined) texts.push({ n, hash: text.$blob, is });
    }
  }
  return texts;
}

function bodyOf(epoch: number, body: string): TransactionBody {
  try {
    return parseCanonical(body) as unknown as TransactionBody;
  } catch (cause) {
    throw damaged(epoch, 'has a text that can’t be read', cause);
  }
}

function recordsOf(epoch: number, records: readonly string[]): LogRecord[] {
  try {
    return records.flatMap((text) => parseCanonical(text) as unknown as LogRecord[]);
  } catch (cause) {
    throw damaged(epoch, 'has a text that can’t be read', cause);
  }
}

/** Whether it is of the whole, with what that takes, or of an effect that there is. */
function isOf(record: LogRecord, effects: number): boolean {
  if (record?.is === 'expanded') return Array.isArray(record.claims);
  if (record?.is === 'committed') return Array.isArray(record.planned);
  if (OF_ALL.has(record?.is)) return true;
  const n = (record as { readonly n?: unknown } | null)?.n as number;
  return Number.isSafeInteger(n) && n >= 0 && n < effects;
}

const OF_ALL: ReadonlySet<LogRecord['is']> = new Set(['intended', 'aborting', 'settled', 'aborted'] as const);

/** What records name beside payloads, by the names of their members. */
const LEARNT = ['result', 'residue', 'differs', 'evidence'] as const;

/** Of what a commit names, as soon as it is recorded. */
const STANDS: ReadonlySet<EffectPhase> = new Set(['applied', 'due']);

function effectOf({ key, tool, class: kind, payload, undo_cost, branch }: LoggedEffect): KnownEffect {
  const rest = { ...(undo_cost === undefined ? {} : { undo_cost }), ...(branch === undefined ? {} : { branch }) };
  return { key, tool, class: kind, payload, ...rest };
}

/** What a record says of an effect beside its phase. */
function learnt(record: LogRecord & { readonly n: number }): Partial<KnownEffect> {
  switch (record.is) {
    case 'executed':
    case 'applied':
      if (record.too_long === true) return { isTooLong: true };
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

function damaged(epoch: number, how: string, cause?: unknown): EffectError {
  return new EffectError(
    'log_damaged',
    `Transaction ${epoch} ${how} in the effect log, which is damaged: what was done of it nobody can tell. Put the store back from a backup (assize verify names its trajectory).`,
    { evidence: { epoch }, cause },
  );
}

/** The same without what the protocol does not look at. */
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
      return record.final === true ? { is: 'failed', n: record.n, final: true } : { is: 'failed', n: record.n };
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
