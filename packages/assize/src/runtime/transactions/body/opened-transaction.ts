import { writId } from '#authority';
import { type Claim, claimTexts, type TransactionBody } from '#effects';
import type { Authority, Domain } from '#kernel';
import type { BlobRow, Hash } from '#ledger';
import type { ProposalInput } from '../../records/intent.ts';
import type { Writer } from '../../writer/writer.ts';
import type { StartedTransaction, TransactionEngine } from '../engine/engine.ts';
import { isPromise, type TimeLimit } from '../limits/time-limit.ts';
import { stoppedError } from './abort-reasons.ts';

/** A transaction before its epoch: the engine, the claims, and the settings of every call. */
export interface OpenedTransaction {
  readonly engine: TransactionEngine;
  /** The claimed scopes by canonical name, and the claim of the caller's name. */
  readonly claims: readonly Claim[];
  /** The claim of the caller's name. Undefined without a name. */
  readonly named: Claim | undefined;
  readonly trajectoryId: string;
  /** The first entry of the trajectory. */
  readonly root: Hash;
  /** The caller's name of the transaction, or a generated one. */
  readonly name: string;
  /** Whether earlier attempts may have used the name, because the caller chose it. */
  readonly isRepeated: boolean;
  /**
   * Whether earlier attempts may have used the keys of buffered calls. Mostly they have not, and
   * the commit would report a collision.
   */
  readonly checksDuplicates: boolean;
  /** Whether reads do not wait for older writers and are validated at the gate. */
  readonly isOptimistic: boolean;
  /** All scopes claimed so far, for a restart. */
  readonly claimed: Claim[];
  readonly principal: string;
  /** The id of the writ that authorises the calls. */
  readonly writId: string;
  readonly authority: () => Authority;
  /** The blobs of the writ that no ledger entry has stored yet. */
  readonly unstored: () => readonly BlobRow[];
  /** An entry that was durable before the transaction began. */
  readonly after: NonNullable<TransactionBody['after']>;
  readonly domain: Domain;
  readonly signal: AbortSignal;
  /** The limit that owns the signal. It is notified of each activity of the body. */
  readonly limit: TimeLimit;
}

/** The parts of an attempt that differ between attempts and kinds of transactions. */
export type AttemptTerms = Pick<
  OpenedTransaction,
  | 'claims'
  | 'named'
  | 'name'
  | 'isRepeated'
  | 'checksDuplicates'
  | 'isOptimistic'
  | 'claimed'
  | 'limit'
>;

/** A transaction under a writ, before its epoch. @throws RuntimeError `unknown_writ` */
export function openTransaction(
  writer: Writer,
  engine: TransactionEngine,
  given: Pick<ProposalInput, 'writ' | 'principal'>,
  terms: AttemptTerms,
): OpenedTransaction {
  const { id, parts } = writer;
  const writ = parts.writs.present(given.writ);
  const principal = given.principal ?? writ.writ.subject;
  return {
    ...terms,
    engine,
    trajectoryId: id,
    root: parts.chain.root,
    after: writer.lastDurable,
    principal,
    writId: writId(writ.writ),
    authority: () => {
      writer.refuseIfHalted();
      writer.refuseIfOtherKey();
      return writer.authority(writ, principal, writer.now());
    },
    unstored: () => writer.parts.writs.unstored(writ),
    domain: parts.domain,
    signal: terms.limit.signal,
  };
}

/**
 * Assigns the epoch and registers the claims. If the caller has stopped waiting by then, the epoch
 * and its claims are released immediately.
 */
export function startTransaction(
  { engine, trajectoryId, principal, name, writId, isRepeated, limit, after }: OpenedTransaction,
  claims: readonly Claim[],
): Promise<StartedTransaction> | StartedTransaction {
  let given: Promise<StartedTransaction> | StartedTransaction | undefined;
  const made = limit.run(() => {
    // Members in canonical order: it serialises fastest.
    const body = {
      after,
      claims: claimTexts(claims),
      principal,
      transaction: name,
      writ_id: writId,
    };
    given = engine.begin(trajectoryId, claims, body, isRepeated);
    return given;
  }, stoppedError);
  if (!isPromise(made)) return made;
  return made.catch((error: unknown) => {
    if (given !== undefined)
      Promise.resolve(given).then(
        ({ work }) => engine.discard(work),
        () => undefined,
      );
    throw error;
  });
}
