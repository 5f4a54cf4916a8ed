import { holdersOf, readSeenProposal, requestersOf } from 'assize/host';
import { isAssizeError } from 'assize/internal/base';
import { counselorKind, hasErased } from 'assize/internal/kernel';
import type { CounselorRecord, Entry, PendingPayload } from 'assize/internal/ledger';
import { placeOf, type RerunContext } from './rerun-context.ts';

/**
 * Checks that the deciding counselor is allowed by the current domain, regardless of the decision.
 */
export async function compareCounselor(
  { world, findings, authority, replayer }: RerunContext,
  entry: Entry,
  pending: PendingPayload,
  counselor: CounselorRecord,
): Promise<void> {
  const { channel, deputies, proposal } = pending;
  const recorded = { as: counselor.as };
  const named = { deputies, at: entry.payload.at };
  const seen = await readSeenProposal(pending, replayer);
  try {
    const requesters = requestersOf(proposal, holdersOf(await authority.writ(proposal.writ_id)));
    const { principal } = counselor;
    const as = counselorKind(world.domain, channel, principal, requesters, seen, named);
    findings.compare(placeOf(entry), 'counselor', recorded, { as });
  } catch (error) {
    if (!isAssizeError(error, 'unauthorised_counselor')) throw error;
    // The predicate may have decided by a value that was erased since.
    if (hasErased(seen)) findings.takeAsRecorded('erased');
    else findings.differs(placeOf(entry), 'counselor', recorded, error.message);
  }
}
