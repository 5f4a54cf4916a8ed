import { hashText } from 'assize/internal/canon';
import {
  approvalsOf,
  type DeputyRecord,
  type EntryRow,
  type Hash,
  type Instant,
  type PendingPayload,
  pendingEffectIn,
  readRow,
  type SettlementArgs,
  settlementArgs,
} from 'assize/internal/ledger';
import type { RulingDocument } from 'assize/internal/views';
import type { Card } from '../card/card.ts';

/** A message about a pending proposal. */
export type Notice = ApprovalRequested | ApprovalResolved;

interface OfPending {
  readonly row: EntryRow;
  readonly entryId: Hash;
  readonly trajectoryId: string;
  readonly pendingId: Hash;
  /** The transaction of the call that a person must settle. Undefined for a proposal. */
  readonly epoch: number | undefined;
}

/** A proposal waits for a decision, or a call needs a person. */
export interface ApprovalRequested extends OfPending {
  readonly type: 'approval.requested' | 'approval.reminder';
  readonly approvals: number;
  readonly approvedBy: readonly string[];
  readonly channel: string;
  readonly reason: PendingPayload['reason'];
  readonly detail: string;
  readonly action: string;
  readonly expires: Instant | undefined;
  /** Those of the request, or those that may decide since the reminder was due. */
  readonly deputies: readonly DeputyRecord[];
  /** For a reminder: whether the request ends soon. */
  readonly isEnding?: boolean;
}

/** A proposal was decided or has expired. */
export interface ApprovalResolved extends OfPending {
  readonly type: 'approval.resolved';
  readonly outcome: 'committed' | 'rejected';
  /** The reason of a rejection. */
  readonly reason: string | undefined;
  /** The finding of a person about a call. Undefined for a proposal. */
  readonly decided: SettlementArgs['decided'];
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
    const { channel, deputies = [], reason, detail, proposal, expires } = payload;
    const { needed: approvals, given } = approvalsOf(payload);
    const epoch = pendingEffectIn(payload)?.epoch;
    return {
      ...{ type: 'approval.requested', row, entryId, trajectoryId, pendingId: entryId, epoch },
      ...{ channel, reason, detail, action: proposal.action.name, expires, approvals },
      deputies,
      approvedBy: given.map(({ principal }) => principal),
    };
  }
  if (payload.kind !== 'commit' && payload.kind !== 'rejection') return undefined;
  const { resolves: pendingId } = payload;
  if (pendingId === undefined) return undefined;
  const outcome = payload.kind === 'commit' ? 'committed' : 'rejected';
  const reason = payload.kind === 'rejection' ? payload.reason : undefined;
  const decided = settlementArgs(payload)?.decided;
  const place = { row, entryId, trajectoryId, pendingId, epoch: undefined };
  return { type: 'approval.resolved', ...place, outcome, reason, decided };
}

/** The pending proposal that an entry resolves, also by one approval of several. */
export function resolvedBy(row: EntryRow): Hash | undefined {
  if (!mayHaveNotice(row)) return undefined;
  const { payload } = readRow(row);
  return 'resolves' in payload ? payload.resolves : undefined;
}

/** The id of a notice to one receiver. Each attempt has the same id. */
export function noticeId(
  entryId: Hash,
  receiverId: string,
  type: Notice['type'],
  from: Instant = '',
): string {
  const reminder = type === 'approval.reminder' ? `\n${type}${from}` : '';
  return `msg_${hashText(`assize/notice/v1\n${entryId}\n${receiverId}${reminder}`).slice(0, 32)}`;
}

interface BodyParts {
  readonly id: string;
  readonly url: string;
  readonly ruling: RulingDocument;
  /** For a request. */
  readonly card: Card | undefined;
}

/** The body of a webhook. Its card alone has arguments of the action. */
export function webhookBody(notice: Notice, { id, url, ruling, card }: BodyParts): string {
  const { type, trajectoryId: trajectory_id, pendingId: pending_id } = notice;
  const request_id = (ruling.ruling !== 'frozen' && ruling.request_id) || pending_id;
  const common = { type, id, trajectory_id, pending_id, request_id };
  if (notice.type !== 'approval.resolved') {
    const { channel, reason, detail, action, expires = null, approvals, epoch } = notice;
    const { deputies } = notice;
    const { digest, title, fields, effect, undo, is_gated, requester, rule } = card ?? {};
    return JSON.stringify({
      ...{ ...common, of: epoch === undefined ? 'proposal' : 'effect' },
      ...{ channel, reason, detail, action, digest, title, fields, effect, undo, is_gated },
      ...{ requester, rule, expires, approvals, approved_by: notice.approvedBy, url },
      ...(deputies.length > 0 && { deputies }),
    });
  }
  const { outcome, reason = null, entryId: entry_id, decided } = notice;
  const of =
    decided === undefined ? { of: 'proposal' } : { of: 'effect', as: decided.as, by: decided.by };
  return JSON.stringify({ ...common, ...of, outcome, reason, entry_id, ruling, url });
}
