import { counselorKind } from '#kernel';
import type { Hash } from '#ledger';
import { holdersOf } from '../authority/holders.ts';
import { readSeenProposal, requestersOf } from '../records/pending-proposal.ts';
import { checkedResolution, REJECTION, type RejectionInput, type Ruling } from '../records/ruling.ts';
import type { Writer } from '../writer/writer.ts';
import { decidedBy } from './decide/counselor-record.ts';
import { expirePending } from './pending/expire.ts';
import { rejectPending } from './pending/resolution-entries.ts';
import { type ResolutionCall, untilResolved } from './pending/resolve.ts';

/** Rejects a pending proposal as a counselor. Neither a halt nor a clock delays it. */
export async function reject(writer: Writer, pendingId: Hash, given: RejectionInput): Promise<Ruling> {
  const input = checkedResolution(given, REJECTION, ['principal', 'method', 'reason']);
  const { principal, reason: detail } = input;
  const call: ResolutionCall = {
    pendingId,
    input,
    expired: (due) => expirePending(writer, due, { undelayed: true }),
    undelayed: true,
  };
  return untilResolved(writer, call, async (pending) => {
    const holders = holdersOf(writer.parts.writs.present(pending.proposal.writ_id));
    const requesters = requestersOf(pending.proposal, holders);
    const seen = await writer.readValues(() => readSeenProposal(pending, writer.context.replayer));
    return (at) => {
      const as = counselorKind(writer.parts.domain, pending.channel, principal, requesters, seen);
      const resolution = { reason: 'counselor_rejected', detail, counselor: decidedBy(input, as) } as const;
      return rejectPending(writer, { id: pendingId, pending, at }, resolution, { undelayed: true });
    };
  });
}
