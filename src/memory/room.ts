import { MemoryError } from './errors.ts';
import type { Group } from './group.ts';

/** What the audit rows of one partition may take of an entry, in characters: it has 1,048,576 bytes, and room for what is believed. */
const ENTRY_ROOM = 1_000_000;

/** Characters of an audit row in an entry, beside its provenance; and of a row in a witness, beside its object and provenance; about. */
const AUDIT_ROW = 600;
const WITNESSED_ROW = 600;
/** What all witnesses of one partition may take. */
const WITNESSES_MAX = 32 * 1024 * 1024;

/** Characters of a row in an entry beside its provenance, of a key that is closed, and of a change beside its rows: at most. */
const ROW_MOST = 1_000;
const KEY_MOST = 200;
const CHANGE_MOST = 400;

/**
 * Counts what is written of one partition, segment by segment, before any of it is made. Each loser has a row for each segment, with the
 * provenance of all members, and a witness with all of their rows. Of what many say at once of one period, each otherwise, that is the square of
 * them, and where their periods are staggered the cube.
 */
export class Room {
  #auditRows = 0;
  #witnesses = 0;
  #most = CHANGE_MOST;

  /** Characters that an entry takes for all of it, at most, whoever wins. */
  get most(): number {
    return this.#most;
  }

  /** What meets in one segment. @throws MemoryError `too_much_at_once` */
  take(groups: readonly Group[]): void {
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
    // Who wins has a row there, too.
    this.#most += groups.length * (ROW_MOST + provenance) + rows * KEY_MOST;
    if (this.#auditRows > ENTRY_ROOM || this.#witnesses > WITNESSES_MAX)
      throw new MemoryError(
        'too_much_at_once',
        'So much contradicts each other there that no entry holds all that loses; say it in smaller groups, or of shorter periods.',
      );
  }
}
