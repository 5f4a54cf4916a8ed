import { approvalsOf, type CounselorRecord, type EntryRow, type Hash, type PendingPayload, readRow } from '#ledger';
import { RuntimeError } from '../errors.ts';
import { type FinalRuling, rulingFrom } from '../records/ruling.ts';
import { tellFailure } from '../records/tell-failure.ts';

/** What waits for a person, as its entry has it: to be shown to whoever may decide. Nothing of it is shared. */
export interface PendingNotice
  extends Pick<PendingPayload, 'at' | 'channel' | 'detail' | 'digest' | 'expires' | 'freezes' | 'proposal' | 'reason'> {
  /** Under which it is approved or rejected. */
  readonly id: Hash;
  readonly trajectoryId: string;
  readonly invariantId?: string;
  /** How many different people must approve it, and who has. */
  readonly approvals: number;
  readonly approvedBy: readonly CounselorRecord[];
  /** What was pending before the last of them approved: that id is of no use any more. */
  readonly resolves?: Hash;
}

/** What was decided, for good: somebody committed or rejected it, or it expired. */
export interface ResolvedNotice {
  /** What was pending. */
  readonly id: Hash;
  readonly trajectoryId: string;
  readonly ruling: FinalRuling;
}

/** Who is told of the counselor queue. What they do, and whether they can, is no business of who proposes. */
export interface NoticeListeners {
  /**
   * Told of everything that waits for a person, once its entry is durable, and once for each entry, by the process that
   * wrote it. Not told of what was written by a process that ended before it could tell: `Assize.pending` finds that.
   */
  readonly onPending?: (notice: PendingNotice) => unknown;
  /** Told likewise of every decision that is final. */
  readonly onResolved?: (notice: ResolvedNotice) => unknown;
  /** Told when one of these has thrown or rejected, which nothing else fails for. Default: a warning of the process. */
  readonly onNotifyFailed?: (error: RuntimeError) => void;
}

/** Tells the listeners of one runtime. */
export class Notices {
  readonly #listeners: NoticeListeners;

  constructor(listeners: NoticeListeners) {
    this.#listeners = listeners;
  }

  /** Of an entry that is durable: it waits, or it has resolved what did. */
  tell(row: EntryRow, resolves: Hash | undefined): void {
    const { onPending, onResolved } = this.#listeners;
    if (row.kind === 'pending_approval') {
      if (onPending !== undefined) this.#call(row, () => onPending(pendingNotice(row)));
    } else if (resolves !== undefined && onResolved !== undefined) {
      this.#call(row, () => onResolved(resolvedNotice(row, resolves)));
    }
  }

  #call(row: EntryRow, listener: () => unknown): void {
    queueMicrotask(async () => {
      try {
        await listener();
      } catch (error) {
        tellFailure(this.#listeners.onNotifyFailed, failed(row, error));
      }
    });
  }
}

/** What is said of a pending entry. */
export function pendingNotice(row: EntryRow): PendingNotice {
  const payload = readRow(row).payload as PendingPayload;
  const { at, channel, detail, digest, expires, freezes, proposal, reason, invariant_id, resolves } = payload;
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
    ...(resolves === undefined ? {} : { resolves }),
  };
}

function resolvedNotice(row: EntryRow, id: Hash): ResolvedNotice {
  const ruling = rulingFrom(row, readRow(row).payload) as FinalRuling;
  return { id, trajectoryId: row.trajectory_id, ruling };
}

function failed({ id, trajectory_id }: EntryRow, cause: unknown): RuntimeError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new RuntimeError('notice_failed', `Who was to be told of entry ${id} of ${trajectory_id} failed: ${why}`, {
    evidence: { id, trajectory_id },
    cause,
  });
}
