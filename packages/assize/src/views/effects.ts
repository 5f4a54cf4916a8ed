import type { Json } from '#base';
import { isUnresolved } from '#effects';
import type { BlobRef, LedgerStore } from '#ledger';
import type { EffectTransaction, ListedEffect } from '#runtime';
import { blobValue } from './blobs.ts';

/** The stored values of the effect log's hashed fields. Some may be erased. */
export type StoredText =
  | { readonly value: Json }
  | { readonly erased_by: string }
  | { readonly missing: true };

/**
 * The details of an effect. `residue`: the residue of a partial compensation, with its mitigation
 * if the tool mitigates. `differs`: the answer that the body received, and the later answer.
 */
interface KeptOf {
  readonly residue?: StoredText;
  readonly differs?: StoredText;
}
export type StoredEffectTexts = ReadonlyMap<ListedEffect, KeptOf>;

const KEPT = ['residue', 'differs'] as const;

export async function storedTextsOf(
  store: LedgerStore,
  listed: readonly EffectTransaction[],
): Promise<StoredEffectTexts> {
  const kept = new Map<ListedEffect, KeptOf>();
  for (const effect of listed.flatMap(({ effects }) => effects)) {
    const found: { -readonly [what in keyof KeptOf]: KeptOf[what] } = {};
    for (const what of KEPT) {
      const ref = effect[what];
      if (ref !== undefined) found[what] = await keptAt(store, ref);
    }
    kept.set(effect, found);
  }
  return kept;
}

export async function keptAt(
  store: LedgerStore,
  { $blob: hash, bytes }: BlobRef,
): Promise<StoredText> {
  const erasedBy = await store.erasedBy(hash);
  if (erasedBy !== undefined) return { erased_by: erasedBy };
  const value = await blobValue(store, { pointer: '', hash, bytes, salted: true });
  return value === undefined ? { missing: true } : { value };
}

/** A tool transaction as a document. */
export function effectTransactionView(
  {
    epoch,
    version,
    trajectoryId,
    name,
    principal,
    writId,
    phase,
    entry,
    cause,
    ...rest
  }: EffectTransaction,
  kept: StoredEffectTexts,
) {
  return {
    epoch,
    version,
    trajectory_id: trajectoryId,
    name,
    ...(rest.submittedAs === undefined ? {} : { submitted_as: rest.submittedAs }),
    principal,
    writ: writId,
    phase,
    ...(entry === undefined ? {} : { entry_id: entry }),
    ...(cause === undefined ? {} : { cause }),
    ...(rest.failing === undefined ? {} : { failing: rest.failing }),
    ...(rest.needs === undefined ? {} : { needs: rest.needs }),
    claims: rest.claims.map(({ access, scope }) => ({ access, scope: scope.text })),
    effects: rest.effects.map((listed) => {
      const { undoCost, residue, differs, ...effect } = listed;
      const found = kept.get(listed);
      return {
        ...effect,
        ...(residue === undefined ? {} : { residue: { ...residue, ...found?.residue } }),
        ...(differs === undefined ? {} : { differs: { ...differs, ...found?.differs } }),
        ...(undoCost === undefined ? {} : { undo_cost: undoCost }),
        needs_human: isUnresolved(effect.phase),
      };
    }),
  };
}
