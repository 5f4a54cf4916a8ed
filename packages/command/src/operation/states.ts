import type { Json } from 'assize/internal/base';
import { parsePointer } from 'assize/internal/canon';
import { difference, type EntryRow } from 'assize/internal/ledger';
import type { Divergence } from 'assize/internal/views';

/** The place of an entry, as a document. */
export function placeView({ trajectory_id, seq, id }: EntryRow) {
  return { trajectory_id, seq, entry_id: id };
}

/** The state after an entry, or its part at a JSON pointer, as a document. */
export function stateView(entry: EntryRow, pointer: string, state: Json) {
  return { ...placeView(entry), pointer, state };
}

/** Two points, the earlier side first. */
export type Both<T> = readonly [T, T];

/** The difference of the states after two entries (RFC 6902), as a document. */
export function diffView(
  [from, to]: Both<EntryRow>,
  [before, after]: Both<Json>,
  divergence: Divergence,
) {
  const patch = difference(before, after);
  return {
    from: placeView(from),
    to: placeView(to),
    equal: patch.length === 0,
    after: divergence.after && placeView(divergence.after),
    patch,
  };
}

/**
 * The value at a JSON pointer. Undefined if the value does not exist.
 *
 * @throws CanonError for an invalid pointer
 */
export function valueAt(value: Json, pointer: string): Json | undefined {
  let here: Json | undefined = value;
  for (const key of parsePointer(pointer)) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    // A list also has members that JSON does not know, such as its length.
    if (Array.isArray(here) && !/^(0|[1-9]\d*)$/.test(key)) return undefined;
    here = (here as { readonly [key: string]: Json })[key];
  }
  return here;
}
