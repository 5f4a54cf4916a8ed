import type { BlobRow, EffectWrite, EntryRow, FactWrite, Hash } from '#ledger';
import type { Erasing } from '../records/entry-payloads.ts';
import type { Asked } from '../records/questions.ts';
import type { Ruling } from '../records/ruling.ts';
import type { News } from './subscriptions.ts';

/** An entry that was accepted in memory, and what it says. */
export interface Recorded {
  readonly row: EntryRow;
  readonly ruling: Ruling;
}

/** Entries that the chain in memory accepted, and what to answer when the disk has them. */
export interface Prepared<Answer> {
  /** The first is this trajectory's; others go with it, or nothing does. */
  readonly rows: readonly [EntryRow, ...EntryRow[]];
  readonly blobs: readonly BlobRow[];
  /** What the entries erase. */
  readonly erasing?: Erasing | undefined;
  /** What goes into the effect log with them. */
  readonly effects?: EffectWrite | undefined;
  /** What of beliefs changes with them. */
  readonly facts?: readonly FactWrite[] | undefined;
  /** What of beliefs they ask about. */
  readonly asked?: Asked | undefined;
  readonly answer: Answer;
  /** For subscribers, when the entries are durable. */
  readonly news: News;
  /** What was pending and is resolved by the first of the entries. */
  readonly resolves?: Hash;
}

/**
 * How often what lost to another writer is prepared again before it is given up. Many, because a writer that never lost does
 * not know that there are others, and asks for no turn until one of them has won once.
 */
export const TRIES_MAX = 32;
