import type { FactRow } from './fact.ts';
import type { Period } from './period.ts';

/** All that says the same thing at the same time: a duplicate is no contradiction (decisions §6.6). */
export interface Group {
  readonly object: string;
  readonly items: readonly Item[];
  /** Whose identity the group has: what is believed already, the oldest in valid time; else the assertion that is preferred. */
  readonly head: Item;
  /** Of the preferred item. */
  readonly confidence: number;
}

/** What takes part: an open row, or an assertion as the row that it would be. */
export interface Item {
  readonly row: FactRow;
  readonly isNew: boolean;
  /** Where it takes part: all of its valid time, or what was not taken from it. */
  readonly parts: readonly Period[];
}
