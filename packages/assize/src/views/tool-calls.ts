import type { Json } from '#base';
import type { EffectClass, EffectPayload } from '#effects';
import { type Delta, type Hash, isBlobRef, type LedgerStore } from '#ledger';
import { blobValue } from './blobs.ts';

/** A planned or executed tool call. Parts that the store lacks are absent. */
export type ToolCall =
  | {
      readonly id: Hash;
      readonly tool: string;
      /** The class at the time of the call. Missing in entries of earlier versions. */
      readonly class?: EffectClass;
      readonly scopes: EffectPayload['claims'];
      readonly input: Json;
      /**
       * The call executed immediately and was compensated. After an approval it runs again, and
       * must return this answer.
       */
      readonly answer?: Json;
    }
  | { readonly id: Hash; readonly erased_by: string }
  /** The store has no such value under that hash, so the entry was written by hand. */
  | { readonly id: Hash; readonly missing: true };

/**
 * The calls of a commit or of a pending proposal, in order. Tool, scopes and input are in blobs.
 * Some may be erased.
 */
export function toolCalls(
  store: LedgerStore,
  { effects }: Pick<Delta, 'effects'>,
): Promise<ToolCall[]> {
  return Promise.all(
    effects.map(async ({ id, effect }): Promise<ToolCall> => {
      if (!isBlobRef(effect) || effect.$blob === undefined) return { id, missing: true };
      const { $blob: hash, bytes } = effect;
      const erasedBy = await store.erasedBy(hash);
      if (erasedBy !== undefined) return { id, erased_by: erasedBy };
      const made = await blobValue(store, { pointer: '', hash, bytes, salted: true });
      if (!isCall(made)) return { id, missing: true };
      const { tool, class: sort, claims: scopes, input, answer } = made;
      const more = {
        ...(sort !== undefined && { class: sort }),
        ...(answer !== undefined && { answer }),
      };
      return { id, tool, ...more, scopes, input };
    }),
  );
}

/** The entry does not describe the blob's content, so a handwritten entry may contain anything. */
function isCall(value: unknown): value is EffectPayload {
  const { tool, claims, input } = (value ?? {}) as Partial<EffectPayload>;
  return typeof tool === 'string' && Array.isArray(claims) && input !== undefined;
}
