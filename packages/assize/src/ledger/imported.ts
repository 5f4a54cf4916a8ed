import { arg, checkArgument } from '#base';
import { hashText } from '#canon';
import type { BlobRow } from './entry/blob-row.ts';
import type { Payload } from './entry/entry.ts';
import { isErasure } from './entry/erasure.ts';
import type { Hash } from './entry/hash.ts';
import { observationsOf } from './entry/observations.ts';
import { isEffectEntry } from './entry/settlement.ts';
import type { LedgerStore } from './ports/ledger-store.ts';

// An entry is identical in every store, so it cannot record its origin. Only the original store's
// effect log has its effects, and only the original store's oracle log has its answers. The import
// therefore marks imported entries with a blob that no entry refers to, in the same store
// transaction. No export contains marks.

/** JSON never starts with this text, so no stored or exported value is taken for a mark. */
const BEGINNING = 'imported ';

/** Whether an entry refers to an effect log, or may erase values of an effect log. */
export function refersToEffects(payload: Payload): boolean {
  return payload.kind === 'commit'
    ? payload.delta.effects.length > 0 || isErasure(payload)
    : isEffectEntry(payload);
}

/**
 * Whether an import marks the entry: its effects or answers can be in another store, or it begins a
 * trajectory, whose tools the other store may call.
 */
export function isMarked(payload: Payload): boolean {
  return (
    payload.seq === 0 ||
    refersToEffects(payload) ||
    observationsOf(payload).some(({ oracle_key }) => oracle_key !== undefined)
  );
}

export function importMark(id: Hash): BlobRow {
  const text = `${BEGINNING}${id}`;
  return { hash: hashText(text), text };
}

/**
 * Whether `importLines` wrote this entry, if the entry begins a trajectory, records effects, erases
 * or pins answers of the oracle log. Outcomes and answers are then in another store. Other entries
 * are not marked.
 * Entries that the store had before an import do not count as imported.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function wasImported(store: Pick<LedgerStore, 'blob'>, id: Hash): Promise<boolean> {
  checkArgument(arg.text, id, 'id');
  const { hash, text } = importMark(id);
  return (await store.blob(hash)) === text;
}
