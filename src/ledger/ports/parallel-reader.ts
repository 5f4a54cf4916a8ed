import type { Run } from '../entry/run.ts';

/** Entries that are read, checked and handed over at a time: so few that their garbage dies young. */
export const PAGE = 250;

/**
 * Somebody who checks the entries of a ledger in another thread, while one goes through them from the front. What they
 * find wrong they keep to themselves: it is in no run, and who comes there finds and names it.
 */
export interface Ahead {
  /** The run that begins at this entry, if there is one by now; otherwise how many entries to read until one may begin. */
  at(trajectoryId: string, seq: number): Run | number;
  /** Says how far the reader is, in entries over all ranges: so far there is nothing left to check. */
  reached(position: number): void;
  /** Ends it. Waits until its thread is gone. */
  close(): Promise<void>;
}

/** All entries of one trajectory, and how many entries the ranges before it have. */
export interface RowRange {
  readonly trajectory_id: string;
  readonly entries: number;
  readonly position: number;
}

/**
 * How many entries the page has that begins at this one. The first entry of a trajectory stands alone, because it is never
 * part of a run.
 */
export function pageAt(seq: number): number {
  return seq === 0 ? 1 : PAGE - ((seq - 1) % PAGE);
}
