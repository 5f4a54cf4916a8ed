import { isAssizeError, isInstance } from '#base';
import { CanonError } from '#canon';
import { type Domain, failureIntent } from '#kernel';
import { type CommitPayload, type Hash, LedgerFault, readRow } from '#ledger';
import { RuntimeError } from '../../errors.ts';
import { badIntent, FAILURE_KEY, type ProposalInput } from '../../records/intent.ts';
import type { Proposer } from '../../records/proposer.ts';
import type { Ruling } from '../../records/ruling.ts';
import { readValue } from '../../records/stored-values.ts';
import type { Writer } from '../../writer/writer.ts';

/** A committed transaction that is compensated, because one of its effects failed permanently. */
export interface FailedCommit {
  readonly trajectoryId: string;
  readonly commit: Hash;
  /** The principal of the proposal. If it is unknown, the subject of the writ. */
  readonly principal: string | undefined;
  readonly writId: Hash;
  /** Number of earlier refusals of its `onFailure` proposal. */
  readonly refusals: number;
  /** The outcome of each effect, including those that the commit does not name. */
  readonly effects: readonly {
    readonly id: Hash;
    readonly tool: string;
    readonly outcome: 'failed' | 'dropped' | 'undone' | 'accepted';
  }[];
}

/**
 * The result of the `onFailure` proposal. `made`: it is in the ledger, possibly as pending.
 * `refused`: it cannot be committed as it stands; `why` is a code. `deferred`: another decision
 * must come first, or the trajectory is halted. Undefined if this process cannot propose it.
 */
export type OnFailureOutcome =
  | { readonly is: 'proposed'; readonly ruling: Ruling }
  | { readonly is: 'refused'; readonly why: string; readonly ruling?: Ruling }
  | { readonly is: 'deferred'; readonly ruling?: Ruling };

/**
 * The observation of such a proposal: the commit that failed, and the outcome of each effect that
 * it named.
 */
const FAILURE = 'assize.failure';

/**
 * Errors that mean the proposal cannot be committed by any process. After any other error it is
 * retried.
 */
const REFUSALS: ReadonlySet<string> = new Set([
  'bad_intent',
  'unknown_writ',
  'idempotency_conflict',
  'observation_missing',
  'erased',
  'concluded',
]);

/** Errors of this process or of the ledger, and not of the proposal. */
const NOT_HERE: ReadonlySet<string> = new Set(['bad_writ', 'not_found']);

/** Rejections of a pending proposal: by a human, a conflict, expiry or an upgrade. */
const DECIDED: ReadonlySet<string> = new Set([
  'counselor_rejected',
  'conflict',
  'expired',
  'upgraded',
]);

/**
 * Proposes the action that a process declares for failed effects, as the original principal and
 * under the same writ. Repetitions are the same proposal.
 *
 * @throws RuntimeError `conflict`, `commit_unknown`, `clock_ahead`; StoreError from the store
 */
export async function proposeOnFailure(
  writer: Writer,
  proposals: Proposer,
  failure: FailedCommit,
): Promise<OnFailureOutcome | undefined> {
  let ruling: Ruling;
  try {
    ruling = await proposals.propose(await proposalFor(writer, failure));
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    if (isInstance(error, LedgerFault) || NOT_HERE.has(error.code)) return undefined;
    if (error.code === 'halted') return { is: 'deferred' };
    if (isInstance(error, CanonError)) return { is: 'refused', why: 'bad_intent' };
    if (REFUSALS.has(error.code)) return { is: 'refused', why: error.code };
    throw error;
  }
  if (ruling.ruling === 'frozen') return { is: 'deferred', ruling };
  if (ruling.ruling !== 'rejected' || DECIDED.has(ruling.reason)) return { is: 'proposed', ruling };
  return { is: 'refused', why: ruling.reason, ruling };
}

/**
 * The last proposal for the failure of a commit, if there is one. `refusals`: the number of
 * refusals. An attempt that could not propose, such as an `onFailure` that throws, left no ruling;
 * earlier and later attempts may have.
 */
export async function previousOnFailureRuling(
  proposals: Proposer,
  commit: Hash,
  refusals: number,
  principal: string,
): Promise<Ruling | undefined> {
  for (let before = refusals; before >= 0; before--) {
    const ruling = await proposals.rulingFor(keyOf(commit, before), principal);
    if (ruling !== undefined) return ruling;
  }
  return undefined;
}

/** @throws RuntimeError `bad_intent`, `erased` */
async function proposalFor(writer: Writer, failure: FailedCommit): Promise<ProposalInput> {
  const { commit, principal, writId, refusals, effects } = failure;
  const { action, delta, ...place } = await committed(writer, commit);
  const args = await readValue(place, action.args, writer.context.replayer);
  const intent = failureIntent(writer.parts.domain.actions[action.name], args, action.role.params);
  if ('fault' in intent) throw badIntent(intent.fault);
  const named = new Set(delta.effects.map(({ id }) => id));
  return {
    role: action.role,
    ...intent,
    writ: writId,
    ...(principal === undefined ? {} : { principal }),
    observations: [
      { name: FAILURE, value: { commit, effects: effects.filter(({ id }) => named.has(id)) } },
    ],
    idempotencyKey: keyOf(commit, refusals),
  };
}

async function committed(writer: Writer, commit: Hash): Promise<CommitPayload> {
  const row = await writer.context.store.resolve(commit);
  if (row === undefined)
    throw new RuntimeError(
      'not_found',
      `The store has no entry ${commit}, whose effects have failed.`,
    );
  return readRow(row).payload as CommitPayload;
}

/** A retry that an operator decided is a new proposal. */
function keyOf(commit: Hash, refusals: number): string {
  return refusals === 0 ? `${FAILURE_KEY}${commit}` : `${FAILURE_KEY}${commit}:${refusals}`;
}

/** The proposal itself rejects a value that is not an action name. */
export function hasOnFailure(domain: Domain, action: unknown): boolean {
  return typeof action === 'string' && domain.actions[action]?.onFailure !== undefined;
}
