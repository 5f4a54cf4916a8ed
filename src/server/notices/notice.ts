import { hashText } from '#canon';
import { type EntryRow, type Hash, type Instant, type PendingPayload, readRow } from '#ledger';

/** A message about a pending proposal. It has no arguments of the action. */
export type Notice = ApprovalRequested | ApprovalResolved;

/** The proposal waits for a decision. */
export interface ApprovalRequested {
  readonly type: 'approval.requested';
  readonly entryId: Hash;
  readonly trajectoryId: string;
  readonly pendingId: Hash;
  readonly channel: string;
  readonly reason: PendingPayload['reason'];
  readonly detail: string;
  readonly action: string;
  readonly expires: Instant | undefined;
}

/** A proposal was decided or has expired. */
export interface ApprovalResolved {
  readonly type: 'approval.resolved';
  readonly entryId: Hash;
  readonly trajectoryId: string;
  readonly pendingId: Hash;
  readonly outcome: 'committed' | 'rejected';
  /** The reason of a rejection. */
  readonly reason: string | undefined;
}

/** Whether an entry can have a notice. Most entries have none, and are not parsed. */
export function mayHaveNotice({ kind, payload }: EntryRow): boolean {
  if (kind === 'pending_approval') return true;
  return (kind === 'commit' || kind === 'rejection') && payload.includes('"resolves":"');
}

/** The notice of an entry. @throws LedgerFault for an entry that is not valid */
export function noticeOf(row: EntryRow): Notice | undefined {
  if (!mayHaveNotice(row)) return undefined;
  const { payload } = readRow(row);
  const { id: entryId, trajectory_id: trajectoryId } = row;
  if (payload.kind === 'pending_approval') {
    const { channel, reason, detail, proposal, expires } = payload;
    const action = proposal.action.name;
    const pendingId = entryId;
    return { type: 'approval.requested', entryId, trajectoryId, pendingId, channel, reason, detail, action, expires };
  }
  if (payload.kind !== 'commit' && payload.kind !== 'rejection') return undefined;
  const { resolves: pendingId } = payload;
  if (pendingId === undefined) return undefined;
  const outcome = payload.kind === 'commit' ? 'committed' : 'rejected';
  const reason = payload.kind === 'rejection' ? payload.reason : undefined;
  return { type: 'approval.resolved', entryId, trajectoryId, pendingId, outcome, reason };
}

/** The pending proposal that an entry resolves, also by one approval of several. */
export function resolvedBy(row: EntryRow): Hash | undefined {
  if (!mayHaveNotice(row)) return undefined;
  const { payload } = readRow(row);
  return 'resolves' in payload ? payload.resolves : undefined;
}

/** The id of a notice to one receiver, which is the same for each attempt. */
export function noticeId(entryId: Hash, receiverId: string): string {
  return `msg_${hashText(`assize/notice/v1\n${entryId}\n${receiverId}`).slice(0, 32)}`;
}

/** The body of a webhook. */
export function webhookBody(notice: Notice, id: string, url: string): string {
  const { type, trajectoryId: trajectory_id, pendingId: pending_id } = notice;
  const common = { type, id, trajectory_id, pending_id };
  if (notice.type === 'approval.requested') {
    const { channel, reason, detail, action, expires = null } = notice;
    return JSON.stringify({ ...common, channel, reason, detail, action, expires, url });
  }
  const { outcome, reason = null, entryId: entry_id } = notice;
  return JSON.stringify({ ...common, outcome, reason, entry_id, url });
}
