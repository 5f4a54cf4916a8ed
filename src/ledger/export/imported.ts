import { arg, checkArgument } from '#base';
import { hashText } from '#canon';
import type { BlobRow } from '../entry/blob-row.ts';
import type { Payload } from '../entry/entry.ts';
import { isErasure } from '../entry/erasure.ts';
import type { Hash } from '../entry/hash.ts';
import { isEffectEntry } from '../entry/settlement.ts';
import type { LedgerStore } from '../ports/ledger-store.ts';

// An entry is identical in every store, so it cannot record its origin. Only the original store's
// effect log has its effects. The import therefore marks imported entries with a blob that no entry
// refers to, in the same store transaction. No export contains marks.

/** JSON never starts with this text, so no stored or exported value is taken for a mark. */
const BEGINNING = 'imported ';

/** Whether an entry refers to an effect log, or may erase values of an effect log. */
export function isMarked(payload: Payload): boolean {
  return payload.kind === 'commit' ? payload.delta.effects.length > 0 || isErasure(payload) : isEffectEntry(payload);
}

export function importMark(id: Hash): BlobRow {
  const text = `${BEGINNING}${id}`;
  return { hash: hashText(text), text };
}

/**
 * Whether `importLines` wrote this entry, if the entry records effects or erases. The outcomes are
 * then in another store's effect log. Other entries are not marked. Entries that the store had
 * before an import do not count as imported.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function wasImported(store: Pick<LedgerStore, 'blob'>, id: Hash): Promise<boolean> {
  checkArgument(arg.text, id, 'id');
  const { hash, text } = importMark(id);
  return (await store.blob(hash)) === text;
}
