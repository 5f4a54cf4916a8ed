import { thrownText } from '#base';
import {
  approvalsOf,
  type CounselorRecord,
  type EntryRow,
  type Hash,
  type PendingPayload,
  readRow,
} from '#ledger';
import { RuntimeError } from '../../errors.ts';
import { reportFailure } from '../../records/report-failure.ts';
import { type FinalRuling, rulingFrom } from '../../records/ruling.ts';

/**
 * A pending proposal as its entry has it, to be shown to approvers. The listener gets its own copy.
 */
export interface PendingNotification
  extends Pick<
    PendingPayload,
    | ('at' | 'channel' | 'deputies' | 'detail' | 'digest' | 'expires' | 'freezes')
    | ('proposal' | 'reason')
  > {
  /** The id under which the proposal is approved or rejected. */
  readonly id: Hash;
  readonly trajectoryId: string;
  readonly invariantId?: string;
  /** How many different counselors must approve, and the counselors that have approved. */
  readonly approvals: number;
  readonly approvedBy: readonly CounselorRecord[];
  /** The previous pending id, before the latest approval. That id is no longer valid. */
  readonly resolves?: Hash;
}

/** A final decision: the proposal was committed, rejected or expired. */
export interface ResolvedNotification {
  /** The id of the pending proposal. */
  readonly id: Hash;
  readonly trajectoryId: string;
  readonly ruling: FinalRuling;
}

/** Listeners for the counselor queue. Their errors do not affect the requester. */
export interface ApprovalListeners {
  /**
   * Notified of every pending proposal once its entry is durable, once per entry, by the process
   * that wrote it. A process that ends before the notification never sends it; `Assize.pending`
   * finds such proposals.
   */
  readonly onPending?: (notice: PendingNotification) => unknown;
  /** Notified likewise of every final decision. */
  readonly onResolved?: (notice: ResolvedNotification) => unknown;
}

/** Notifies the listeners of one runtime. */
export class Notifications {
  readonly #listeners: ApprovalListeners;
  readonly #onFailed: ((error: RuntimeError) => void) | undefined;

  /**
   * `onFailed`: notified if a listener throws or rejects; nothing else fails then. Default: a
   * process warning.
   */
  constructor(listeners: ApprovalListeners = {}, onFailed?: (error: RuntimeError) => void) {
    this.#listeners = listeners;
    this.#onFailed = onFailed;
  }

  /** For a durable entry that is pending, or that resolved a pending proposal. */
  notify(row: EntryRow, resolves: Hash | undefined): void {
    const { onPending, onResolved } = this.#listeners;
    if (row.kind === 'pending_approval') {
      if (onPending !== undefined) this.#call(row, () => onPending(pendingNotification(row)));
    } else if (resolves !== undefined && onResolved !== undefined) {
      this.#call(row, () => onResolved(resolvedNotice(row, resolves)));
    }
  }

  #call(row: EntryRow, listener: () => unknown): void {
    queueMicrotask(async () => {
      try {
        await listener();
      } catch (error) {
        this.failed(row, error);
      }
    });
  }

  /** Reports that a listener failed. `id`: the entry of the notification, if one was notified. */
  failed(
    { id, trajectory_id }: Pick<EntryRow, 'trajectory_id'> & Partial<EntryRow>,
    cause: unknown,
  ): void {
    const of = id === undefined ? trajectory_id : `entry ${id} of ${trajectory_id}`;
    const evidence = { ...(id === undefined ? {} : { id }), trajectory_id };
    const message = `The listener failed on ${of}: ${thrownText(cause)}`;
    reportFailure(
      this.#onFailed,
      new RuntimeError('background_failed', message, { evidence, cause }),
    );
  }
}

/** The notification for a pending entry. */
export function pendingNotification(row: EntryRow): PendingNotification {
  const payload = readRow(row).payload as PendingPayload;
  const {
    at,
    channel,
    detail,
    digest,
    expires,
    deputies,
    freezes,
    proposal,
    reason,
    invariant_id,
    resolves,
  } = payload;
  const { needed, given } = approvalsOf(payload);
  return {
    id: row.id,
    trajectoryId: row.trajectory_id,
    at,
    channel,
    reason,
    detail,
    ...(invariant_id === undefined ? {} : { invariantId: invariant_id }),
    approvals: needed,
    approvedBy: given,
    freezes,
    proposal,
    digest,
    ...(expires === undefined ? {} : { expires }),
    ...(deputies === undefined ? {} : { deputies }),
    ...(resolves === undefined ? {} : { resolves }),
  };
}

function resolvedNotice(row: EntryRow, id: Hash): ResolvedNotification {
  const ruling = rulingFrom(row, readRow(row).payload) as FinalRuling;
  return { id, trajectoryId: row.trajectory_id, ruling };
}
