import type { CommitResult, EntryRow } from 'assize/internal/ledger';

export const COMMITTED: CommitResult = Object.freeze({ status: 'committed' });

/** The answer to a batch with this row as its conflict. */
export function conflictAt({ trajectory_id, seq }: EntryRow): CommitResult {
  return { status: 'conflict', trajectory_id, seq };
}

export function countOf(results: readonly CommitResult[], status: CommitResult['status']): number {
  return results.filter((result) => result.status === status).length;
}
