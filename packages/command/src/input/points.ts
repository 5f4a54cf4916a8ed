import { type Instant, parseInstant } from 'assize/internal/canon';
import { checkRow, type EntryRow, type LedgerStore } from 'assize/internal/ledger';
import { shortId } from 'assize/internal/views';
import { CliError } from '../errors.ts';
import { entryAt, findEntry, headOf, isPrefix } from '../store/entries.ts';

/** For the help of commands that accept a point. */
export const POINT_HELP =
  'A point is TRAJECTORY (its last entry), TRAJECTORY@PLACE, or the id of an entry.\n' +
  'A place is a seq, an id or its first 8 digits, or an instant such as 2026-03-26T16:00:00Z (the last entry until then).\n' +
  'A day such as 2026-03-26 means its start in UTC.';

/** For the argument of commands that accept an entry. */
export const ENTRY_HELP =
  'id of the entry, or its first 8 digits; or TRAJECTORY@PLACE (a seq, an id, an instant)';

/** Fewer digits than an id prefix needs. */
const SEQ = /^\d{1,7}$/;
/**
 * A seq with enough digits to be an id prefix. It counts as a seq if the trajectory is that long.
 */
const LONG_SEQ = /^[1-9]\d{7,15}$/;

/**
 * The entry that a point names: the last entry of a trajectory, the entry at `TRAJECTORY@PLACE`, or
 * the entry with that id. A trajectory of exactly that name takes precedence.
 *
 * @throws CliError
 */
export async function pointOf(store: LedgerStore, text: string): Promise<EntryRow> {
  const head = await store.head(text);
  if (head !== undefined) return head;
  const at = text.lastIndexOf('@');
  if (at > 0) return placeIn(store, text.slice(0, at), text.slice(at + 1));
  return isPrefix(text) ? findEntry(store, text) : headOf(store, text);
}

/**
 * The entry with that id or id prefix, or the entry at `TRAJECTORY@PLACE`. Never the last entry of
 * a trajectory: that changes.
 *
 * @throws CliError
 */
export async function entryNamed(store: LedgerStore, text: string): Promise<EntryRow> {
  const at = text.lastIndexOf('@');
  return at > 0 ? placeIn(store, text.slice(0, at), text.slice(at + 1)) : findEntry(store, text);
}

/**
 * The entry at a position of a trajectory: a seq, an id or its first digits, or an instant.
 *
 * @throws CliError, CanonError `bad_instant`; LedgerFault for an entry that was read for its time
 * and fails verification
 */
export async function placeIn(
  store: LedgerStore,
  trajectoryId: string,
  place: string,
): Promise<EntryRow> {
  const head = await headOf(store, trajectoryId);
  if (SEQ.test(place) || (LONG_SEQ.test(place) && Number(place) <= head.seq))
    return entryAt(store, trajectoryId, Number(place));
  if (/^\d{4}-/.test(place)) return entryBy(store, head, parseInstant(place));
  if (!isPrefix(place)) {
    throw new CliError(
      'usage',
      `'${place}' is not a place in ${trajectoryId}. Pass a seq, 8 to 64 hex digits of an id, or an instant such as 2026-03-26T16:00:00Z.`,
    );
  }
  const row = await findEntry(store, place);
  if (row.trajectory_id === trajectoryId) return row;
  throw new CliError(
    'not_found',
    `The entry ${shortId(row.id)} belongs to ${row.trajectory_id}, not to ${trajectoryId}.`,
  );
}

/**
 * The last entry that is not younger than the instant. Time never goes back along a chain, so a
 * binary search finds it.
 */
async function entryBy(store: LedgerStore, head: EntryRow, instant: Instant): Promise<EntryRow> {
  const { trajectory_id } = head;
  let found = await entryAt(store, trajectory_id, 0);
  if (timeOf(found) > instant) {
    throw new CliError(
      'not_found',
      `The trajectory ${trajectory_id} starts at ${timeOf(found)}, after ${instant}. Pass a later instant.`,
    );
  }
  for (let last = head.seq; found.seq < last; ) {
    const middle = await entryAt(store, trajectory_id, Math.ceil((found.seq + last) / 2));
    if (timeOf(middle) <= instant) found = middle;
    else last = middle.seq - 1;
  }
  return found;
}

function timeOf(row: EntryRow): Instant {
  return checkRow(row).payload.at;
}
