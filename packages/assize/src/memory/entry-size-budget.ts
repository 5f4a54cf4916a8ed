import { MemoryError } from './errors.ts';
import type { Group } from './group.ts';

/**
 * Space for the audit rows of one partition in an entry, in characters. An entry has 1,048,576
 * bytes, and the facts need space too.
 */
const ENTRY_ROOM = 1_000_000;

/**
 * Approximate characters of an audit row in an entry without its provenance, and of a row in a
 * witness without object and provenance.
 */
const AUDIT_ROW = 600;
const WITNESSED_ROW = 600;
/** Maximum size of all witnesses of one partition. */
const WITNESSES_MAX = 32 * 1024 * 1024;

/**
 * Maximum characters of a row in an entry without its provenance, of a closed key, and of a change
 * without its rows.
 */
const ROW_MOST = 1_000;
const KEY_MOST = 200;
const CHANGE_MOST = 400;

/**
 * Counts the output of one partition, segment by segment, before any of it is built. Each loser has
 * a row for each segment, with the provenance of all members and a witness with all their rows.
 * Many different assertions of one period need quadratic space, and with staggered periods cubic
 * space.
 */
export class EntrySizeBudget {
  #auditRows = 0;
  #witnesses = 0;
  #most = CHANGE_MOST;

  /** Maximum number of characters of an entry for the result, for any winners. */
  get most(): number {
    return this.#most;
  }

  /** Adds the groups of one segment. @throws MemoryError `too_much_at_once` */
  reserve(groups: readonly Group[]): void {
    const losers = groups.length - 1;
    let [rows, provenance, objects] = [0, 0, 0];
    for (const { items } of groups) {
      rows += items.length;
      for (const { row } of items) {
        provenance += row.provenance_id.length + ' + '.length;
        objects += row.object.length;
      }
    }
    this.#auditRows += losers * (AUDIT_ROW + provenance);
    this.#witnesses += losers * (rows * WITNESSED_ROW + provenance + objects);
    // The winner has a row there, too.
    this.#most += groups.length * (ROW_MOST + provenance) + rows * KEY_MOST;
    if (this.#auditRows > ENTRY_ROOM || this.#witnesses > WITNESSES_MAX)
      throw new MemoryError(
        'too_much_at_once',
        'The contradictions do not fit into one entry. Assert fewer facts, or shorter periods, at a time.',
      );
  }
}
