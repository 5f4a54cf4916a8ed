import type { VerifiedRun } from '../entry/run.ts';

/**
 * Number of entries read, checked and transferred at a time. Small pages keep the garbage young.
 */
export const PAGE = 250;

/**
 * A checker in a worker thread that runs ahead of a reader of the ledger. The checker does not
 * report faults. It leaves a faulty entry out of every run, so the reader finds and names the
 * fault.
 */
export interface ParallelReader {
  /**
   * The run that starts at this entry, if one is ready. Otherwise the number of entries to read
   * before a run can start.
   */
  at(trajectoryId: string, seq: number): VerifiedRun | number;
  /**
   * Reports the reader's progress, in entries over all ranges. The checker skips entries before
   * that.
   */
  reached(position: number): void;
  /** Stops the checker. Resolves when its thread has ended. */
  close(): Promise<void>;
}

/** All entries of one trajectory, and the number of entries in the ranges before it. */
export interface RowRange {
  readonly trajectory_id: string;
  readonly entries: number;
  readonly position: number;
}

/**
 * The number of entries of the page that starts at this entry. A trajectory's first entry is a page
 * alone, because no run contains it.
 */
export function pageAt(seq: number): number {
  return seq === 0 ? 1 : PAGE - ((seq - 1) % PAGE);
}
