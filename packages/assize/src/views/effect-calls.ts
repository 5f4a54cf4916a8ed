import type { Json } from '#base';
import { type EffectPayload, readTransaction } from '#effects';
import type { BlobRef, EffectStore, Hash, LedgerStore } from '#ledger';
import { keptAt, type StoredText } from './effects.ts';

/** The texts of a call in the effect log. Absent: the log has none yet. */
export interface CallTexts {
  readonly input?: StoredText;
  readonly answer?: StoredText;
  readonly claims?: EffectPayload['claims'];
}

/**
 * The inputs and the answers of a transaction's calls, in order, and the entry that ruled on an
 * aborted transaction.
 */
export async function callTextsOf(
  store: LedgerStore & EffectStore,
  epoch: number,
): Promise<{ readonly calls: readonly CallTexts[]; readonly undoneBy?: Hash }> {
  const logged = await store.effectsOf(epoch);
  if (logged === undefined) return { calls: [] };
  const { effects, undoneBy } = readTransaction(logged);
  const calls: CallTexts[] = [];
  for (const { payload, result } of effects) {
    const answer = result === undefined ? {} : { answer: await keptAt(store, result) };
    calls.push({ ...(await madeWith(store, payload)), ...answer });
  }
  return { calls, ...(undoneBy !== undefined && { undoneBy }) };
}

async function madeWith(store: LedgerStore, payload: BlobRef): Promise<CallTexts> {
  const kept = await keptAt(store, payload);
  if (!('value' in kept)) return { input: kept };
  const { input, claims } = kept.value as unknown as { readonly input: Json } & Pick<
    EffectPayload,
    'claims'
  >;
  return { input: { value: input }, claims };
}
