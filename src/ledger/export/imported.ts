import { form, requireForm } from '#base';
import { hashText } from '#canon';
import type { BlobRow } from '../entry/blob-row.ts';
import type { Payload } from '../entry/entry.ts';
import { isErasure } from '../entry/erasure.ts';
import type { Hash } from '../entry/hash.ts';
import { isOfEffects } from '../entry/settlement.ts';
import type { LedgerStore } from '../ports/ledger-store.ts';

// An entry is the same wherever it stands, so that it can't say where it was made. Its effects are in the effect log of that store alone: what
// came by import is marked, by a blob that no entry refers to, written in one transaction with it. No export has marks.

/** No JSON begins so: a value that somebody has written, or an export has, is never taken for a mark. */
const BEGINNING = 'imported ';

/** Whether an entry says that an effect log has something, or is to have it, or may say that something is erased there. */
export function isMarked(payload: Payload): boolean {
  return payload.kind === 'commit' ? payload.delta.effects.length > 0 || isErasure(payload) : isOfEffects(payload);
}

export function importMark(id: Hash): BlobRow {
  const text = `${BEGINNING}${id}`;
  return { hash: hashText(text), text };
}

/**
 * Whether an entry of this store came by `importLines`, where it tells of effects, or erases: what they came to is in the effect log of another store. Of
 * all other entries it is not kept. What was there before an import was not imported.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function wasImported(store: Pick<LedgerStore, 'blob'>, id: Hash): Promise<boolean> {
  requireForm(form.text, id, 'id');
  const { hash, text } = importMark(id);
  return (await store.blob(hash)) === text;
}
