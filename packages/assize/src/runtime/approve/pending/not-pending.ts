import {
  type EffectPendingPayload,
  type Hash,
  isHash,
  isSettlement,
  type Payload,
  pendingEffectOf,
  readRow,
} from '#ledger';
import { MemoryError } from '#memory';
import { RuntimeError } from '../../errors.ts';
import type { Writer } from '../../writer/writer.ts';

// The errors for an id that cannot be decided, because no proposal is pending under it.

/**
 * `isAnswering`: the approval came with answers to questions. Reads one entry, and one more for
 * each approval that was not the last.
 */
export async function notPending(
  writer: Writer,
  given: Hash,
  isAnswering: boolean,
): Promise<RuntimeError | MemoryError> {
  const end = await outcomeOf(writer, given);
  const id = typeof given === 'string' ? given : `a value of type ${typeof given}`;
  const evidence =
    end === undefined ? { id } : 'now' in end ? { id, now: end.now } : { id, by: end.by };
  if (isAnswering && end !== undefined && 'by' in end)
    return new MemoryError(
      'stale_callback',
      `${approvalProgress(id, end)}, so the answer has no effect. Assert the fact again to repeat the question.`,
      { evidence },
    );
  const advice = typeof given === 'object' ? ' Pass ruling.pending, not the ruling.' : '';
  return new RuntimeError('not_pending', `${approvalProgress(id, end)}.${advice}`, { evidence });
}

export function effectUnresolvedError(id: Hash, pending: EffectPendingPayload): RuntimeError {
  const { epoch, n, tool } = pendingEffectOf(pending);
  return new RuntimeError(
    'effect_unresolved',
    `${id} is an unresolved effect (${tool}, effect ${n} of transaction ${epoch}), not a proposal. Resolve it with resolveEffect (assize effects resolve ${epoch} ${n}).`,
    { evidence: { id, epoch, n } },
  );
}

/**
 * The outcome of an id that is no longer pending, or the id of the proposal's current pending
 * entry.
 */
type PendingOutcome =
  | { readonly now: Hash; readonly approvals: number }
  | { readonly by: Hash; readonly payload: Extract<Payload, { kind: 'commit' | 'rejection' }> };

/**
 * The outcome of a pending proposal, followed through all its approvals. Undefined if it was never
 * pending, or if the store cannot tell yet.
 */
async function outcomeOf(writer: Writer, pendingId: Hash): Promise<PendingOutcome | undefined> {
  if (!isHash(pendingId)) return undefined;
  const { id: trajectoryId, context } = writer;
  for (let id = pendingId; ; ) {
    const { chain, requests } = writer.parts;
    const next = chain.open.inPlaceOf(id);
    if (next !== undefined) return { now: next[0], approvals: next[1].approvals ?? 1 };
    const seq = requests.seqOf(id);
    const [row] =
      seq === undefined ? [] : await context.store.entries(trajectoryId, { from: seq, limit: 1 });
    const payload = row === undefined ? undefined : readRow(row).payload;
    if (
      row === undefined ||
      payload === undefined ||
      !('resolves' in payload) ||
      payload.resolves !== id
    )
      return undefined;
    if (payload.kind !== 'pending_approval') return { by: row.id, payload };
    id = row.id;
  }
}

function approvalProgress(id: string, end: PendingOutcome | undefined): string {
  if (end === undefined)
    return `No proposal ${id} is pending: it was resolved earlier, or never submitted. Pass the id that a ruling returned as \`pending\``;
  if ('now' in end)
    return `Another approver has approved ${id}. It needs ${end.approvals} approvals and is now pending as ${end.now}`;
  const { kind, counselor } = end.payload;
  if (isSettlement(end.payload))
    return `The effect ${id} is no longer pending: it was resolved in ${end.by}`;
  const what = kind === 'commit' ? 'was approved' : REJECTED_AS[end.payload.reason];
  const by = counselor === undefined ? '' : ` by ${counselor.principal}`;
  return `The proposal ${id} is no longer pending: it ${what}${by}, at ${end.payload.at}, in ${end.by}`;
}

/** How a pending proposal ends without a commit, before the words `by` and the counselor. */
const REJECTED_AS: { readonly [reason: string]: string } = {
  counselor_rejected: 'was rejected',
  conflict: 'had a conflict when it was approved',
  expired: 'has expired',
  upgraded: 'was closed by an upgrade',
};
