import { isAssizeError } from '#base';
import { counselorKind } from '#kernel';
import type { CounselorRecord, Entry, PendingPayload } from '#ledger';
import { holdersOf } from './holders.ts';
import { placeOf, type RerunContext } from './rerun-context.ts';

/**
 * Checks that the deciding counselor is allowed by the current domain, regardless of the decision.
 */
export async function compareCounselor(
  { world, findings, authority }: RerunContext,
  entry: Entry,
  { channel, proposal }: PendingPayload,
  counselor: CounselorRecord,
): Promise<void> {
  const recorded = { as: counselor.as };
  try {
    const holders = holdersOf(await authority.writ(proposal.writ_id));
    const as = counselorKind(world.domain, channel, counselor.principal, holders);
    findings.compare(placeOf(entry), 'counselor', recorded, { as });
  } catch (error) {
    if (!isAssizeError(error, 'unauthorised_counselor')) throw error;
    findings.differs(placeOf(entry), 'counselor', recorded, error.message);
  }
}
