import type { FactRow } from './fact.ts';
import type { Period } from './period.ts';

/**
 * All items with the same content at the same time. A duplicate is not a contradiction
 * (docs/decisions/017-memory.md).
 */
export interface Group {
  readonly object: string;
  readonly items: readonly Item[];
  /**
   * The item that gives the group its identity: the current fact with the oldest valid time,
   * otherwise the preferred assertion.
   */
  readonly head: Item;
  /** The confidence of the preferred item. */
  readonly confidence: number;
}

/** A participant: an open row, or an assertion as the row that it would become. */
export interface Item {
  readonly row: FactRow;
  readonly isNew: boolean;
  /** Whether it is the part of an earlier fact that a withdrawal leaves. */
  readonly isLeft?: boolean;
  /** Whether it states that the object no longer holds in its periods. */
  readonly isEnd?: boolean;
  /** The periods in which it participates: all of its valid time, or the rest of it. */
  readonly parts: readonly Period[];
}
