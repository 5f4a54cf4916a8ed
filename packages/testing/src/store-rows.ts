import { hash } from 'node:crypto';
import { arg, checkArgument } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import type { Batch, BlobRow, EntryRow, Hash } from 'assize/internal/ledger';

// Rows for tests of stores. A store does not read payloads, so these contain only data that makes
// each id unique.

/**
 * An entry that follows `parent` in its trajectory, or starts one. `note` distinguishes two entries
 * at the same position.
 *
 * @throws ArgumentError `bad_argument`; CanonError for a note that is not JSON
 */
export function entryAfter(
  parent: EntryRow | undefined,
  trajectoryId: string,
  note: unknown = null,
): EntryRow {
  checkArgument(arg.optional(arg.members({ id: arg.text, seq: arg.whole })), parent, 'parent');
  const seq = parent === undefined ? 0 : parent.seq + 1;
  return entryAt(trajectoryId, seq, parent?.id ?? null, note);
}

/**
 * An entry at any position, right or wrong.
 *
 * @throws ArgumentError `bad_argument`; CanonError for a note that is not JSON
 */
export function entryAt(
  trajectoryId: string,
  seq: number,
  parent: Hash | null,
  note: unknown = null,
): EntryRow {
  checkArgument(arg.text, trajectoryId, 'trajectoryId');
  checkArgument(arg.whole, seq, 'seq');
  if (parent !== null) checkArgument(arg.text, parent, 'parent');
  canonicalize(note);
  const kind = seq === 0 ? 'root' : 'commit';
  const payload = JSON.stringify({ kind, note, parent, seq, trajectory_id: trajectoryId });
  return { id: hash('sha256', payload), trajectory_id: trajectoryId, parent, seq, kind, payload };
}

/**
 * `count` entries, each with the previous one as its parent.
 *
 * @throws ArgumentError `bad_argument`; CanonError for a note that is not JSON
 */
export function chainOf(trajectoryId: string, count: number, note: unknown = null): EntryRow[] {
  checkArgument(arg.whole, count, 'count');
  const rows: EntryRow[] = [];
  for (let seq = 0; seq < count; seq += 1) rows.push(entryAfter(rows.at(-1), trajectoryId, note));
  return rows;
}

/** @throws ArgumentError `bad_argument`; CanonError for a note that is not JSON */
export function blobOf(text: string): BlobRow {
  checkArgument(arg.text, text, 'text');
  return { hash: hash('sha256', text), text };
}

export function batchOf(
  entries: EntryRow | readonly EntryRow[],
  blobs: readonly BlobRow[] = [],
): Batch {
  return { entries: [entries].flat(), blobs };
}
