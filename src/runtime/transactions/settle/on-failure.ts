import { isAssizeError } from '#base';
import { CanonError } from '#canon';
import { type Domain, failureIntent } from '#kernel';
import { type CommitPayload, type Hash, LedgerFault, readRow } from '#ledger';
import { RuntimeError } from '../../errors.ts';
import { badIntent, FAILURE_KEY, type ProposalInput } from '../../records/intent.ts';
import { readValue } from '../../records/pending-proposal.ts';
import type { Proposer } from '../../records/proposer.ts';
import type { Ruling } from '../../records/ruling.ts';
import type { Writer } from '../../writer/writer.ts';

/** A transaction that was committed and is undone, because an effect of it has failed for good. */
export interface Failure {
  readonly trajectoryId: string;
  readonly commit: Hash;
  /** Who has proposed it; where that is not known, the subject of its writ. */
  readonly principal: string | undefined;
  readonly writId: Hash;
  /** How often what its action does then was refused before. */
  readonly refusals: number;
  /** What became of each, also of those that the commit did not name. */
  readonly effects: readonly {
    readonly id: Hash;
    readonly tool: string;
    readonly outcome: 'failed' | 'dropped' | 'undone' | 'accepted';
  }[];
}

/**
 * What came of proposing what the action does where an effect fails. `made`: it is in the ledger, also where it waits there for its
 * counselor. `refused`: it is not to be had, as it stands; `why` is a code. `later`: something else has to be decided first.
 * Undefined where it can't be proposed in this process.
 */
export type FailureAnswer =
  | { readonly is: 'made'; readonly ruling: Ruling }
  | { readonly is: 'refused'; readonly why: string; readonly ruling?: Ruling }
  | { readonly is: 'later'; readonly ruling: Ruling };

/** The observation that such a proposal has: the commit that it answers, and what became of each effect that it had named. */
const FAILURE = 'assize.failure';

/** What says that it can't be committed as it stands, whoever tries it. With any other error it is tried again. */
const REFUSALS: ReadonlySet<string> = new Set([
  'bad_intent',
  'unknown_writ',
  'idempotency_conflict',
  'observation_missing',
  'erased',
  'concluded',
]);

/** What is wrong with this process, or with the ledger, and not with the proposal. */
const NOT_HERE: ReadonlySet<string> = new Set(['bad_writ', 'not_found']);

/** Rejections with which a person has decided, or let it be: there it was put up. */
const DECIDED: ReadonlySet<string> = new Set(['counselor_rejected', 'expired']);

/**
 * Proposes what an action says that is to be committed where its effects fail: by who has proposed it, under the same writ. However
 * often that is repeated, it is one proposal.
 *
 * @throws RuntimeError `conflict`, `commit_unknown`, `clock_behind`; what the store throws
 */
export async function answerFailure(
  writer: Writer,
  proposals: Proposer,
  failure: Failure,
): Promise<FailureAnswer | undefined> {
  let ruling: Ruling;
  try {
    ruling = await proposals.propose(await proposalFor(writer, failure));
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    if (error instanceof LedgerFault || NOT_HERE.has(error.code)) return undefined;
    if (error instanceof CanonError) return { is: 'refused', why: 'bad_intent' };
    if (REFUSALS.has(error.code)) return { is: 'refused', why: error.code };
    throw error;
  }
  if (ruling.ruling === 'frozen') return { is: 'later', ruling };
  if (ruling.ruling !== 'rejected' || DECIDED.has(ruling.reason)) return { is: 'made', ruling };
  return { is: 'refused', why: ruling.reason, ruling };
}

/**
 * What was proposed for the failure of a commit last, if anything was. `refusals`: how often that was refused. What could not even be
 * proposed, as an `onFailure` that throws, has left no ruling, and whatever was before that or came after it may have.
 */
export async function failureBefore(
  proposals: Proposer,
  commit: Hash,
  refusals: number,
  principal: string,
): Promise<Ruling | undefined> {
  for (let before = refusals; before >= 0; before--) {
    const ruling = await proposals.ruledUnder(keyOf(commit, before), principal);
    if (ruling !== undefined) return ruling;
  }
  return undefined;
}

/** @throws RuntimeError `bad_intent`, `erased` */
async function proposalFor(writer: Writer, failure: Failure): Promise<ProposalInput> {
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
    observations: [{ name: FAILURE, value: { commit, effects: effects.filter(({ id }) => named.has(id)) } }],
    idempotencyKey: keyOf(commit, refusals),
  };
}

async function committed(writer: Writer, commit: Hash): Promise<CommitPayload> {
  const row = await writer.context.store.resolve(commit);
  if (row === undefined)
    throw new RuntimeError('not_found', `There is no entry ${commit}, of which effects have failed.`);
  return readRow(row).payload as CommitPayload;
}

/** What a person had tried again is another proposal. */
function keyOf(commit: Hash, refusals: number): string {
  return refusals === 0 ? `${FAILURE_KEY}${commit}` : `${FAILURE_KEY}${commit}:${refusals}`;
}

/** What is no name of an action is for the proposal to refuse. */
export function hasOnFailure(domain: Domain, action: unknown): boolean {
  return typeof action === 'string' && domain.actions[action]?.onFailure !== undefined;
}
