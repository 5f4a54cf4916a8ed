import type { Json } from 'assize/internal/base';
import type { Hash } from 'assize/internal/ledger';
import type { Spent } from '#gateway';
import {
  type RecordedTerms,
  type StandingRecord,
  type StandingStatus,
  spentBy,
  standingStatus,
} from './standing-log.ts';

/** The most calls of one standing approval in a document: the newest. */
export const SHOWN_CALLS_MAX = 200;

/** A standing approval as commands and the server show it. */
export interface StandingView {
  readonly id: string;
  readonly status: StandingStatus;
  /** Null after an erasure. */
  readonly terms: RecordedTerms | null;
  readonly used: number;
  readonly spent: Spent;
  readonly asked_by?: string;
  readonly approved_by: string;
  readonly approved_at: string;
  readonly approval_reason?: string;
  readonly entry_id?: Hash;
  readonly ended?: { readonly at: string; readonly by?: string; readonly entry_id: Hash };
  /** The newest, the oldest of them first. */
  readonly calls: readonly StandingUseView[];
}

/** A use of a standing approval in such a document. */
export interface StandingUseView {
  readonly call: string;
  readonly at: string;
  readonly tool?: string;
  readonly args?: Json;
  readonly amounts: Spent;
  readonly outcome?: 'done' | 'failed' | 'unknown';
  readonly closed_at?: string;
  readonly entry_id?: Hash;
  readonly closed_by?: Hash;
}

/** The document at a time. `subjectOf`: the principal of a writ, undefined for an unknown writ. */
export function standingView(
  record: StandingRecord,
  now: string,
  subjectOf: (writ: Hash) => string | undefined,
): StandingView {
  const { id, terms, approvedBy, approvedAt, approvalReason, entryId, writId, ended, calls } =
    record;
  const askedBy = writId && subjectOf(writId);
  const endedBy = ended && subjectOf(ended.writId);
  return {
    id,
    status: standingStatus(record, now),
    terms: terms ?? null,
    used: calls.length,
    spent: spentBy(calls),
    ...(askedBy !== undefined && { asked_by: askedBy }),
    approved_by: approvedBy,
    approved_at: approvedAt,
    ...(approvalReason !== undefined && { approval_reason: approvalReason }),
    ...(entryId !== undefined && { entry_id: entryId }),
    ...(ended && {
      ended: {
        at: ended.at,
        entry_id: ended.entryId,
        ...(endedBy !== undefined && { by: endedBy }),
      },
    }),
    calls: calls
      .slice(-SHOWN_CALLS_MAX)
      .map(({ entryId, closedAt, closedBy, epoch: _, ...call }) => ({
        ...call,
        ...(entryId !== undefined && { entry_id: entryId }),
        ...(closedAt !== undefined && { closed_at: closedAt }),
        ...(closedBy !== undefined && { closed_by: closedBy }),
      })),
  };
}
