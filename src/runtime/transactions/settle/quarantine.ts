import type { Json } from '#base';
import { parseCanonical, WORLD_LIMITS } from '#canon';
import { type Claim, claimsOf, type EffectPayload, isNameClaim, type KnownTransaction, unfinished } from '#effects';
import type { BlobRef, Hash } from '#ledger';

/** The text of a blob; undefined where it was erased. */
type Blob = (hash: Hash) => Promise<string | undefined>;

/** What a salted blob of the effect log has; undefined where it was erased. */
export async function readSalted(blob: Blob, { $blob }: BlobRef): Promise<Json | undefined> {
  const text = await blob($blob);
  // As it was written: an input, or an answer, of nearly as much as one may be is more than that with what stands beside it.
  return text === undefined ? undefined : (parseCanonical(text, WORLD_LIMITS) as { readonly value: Json }).value;
}

/** What an effect touches; undefined where that was erased. */
export async function touchedBy(blob: Blob, payload: BlobRef): Promise<readonly Claim[] | undefined> {
  const read = (await readSalted(blob, payload)) as EffectPayload | undefined;
  return read && claimsOf(read);
}

/**
 * What a transaction keeps that waits for a person: its name, and what is touched by those of its effects that are not finished. All
 * else that it did is done or undone for good, and others may go on there. Undefined, which is all, where what one of them touches was
 * erased. Each time that it goes on, less is left.
 *
 * @throws what `blob` throws
 */
export async function keptClaims(
  { body, state, effects }: Pick<KnownTransaction, 'body' | 'state' | 'effects'>,
  blob: Blob,
): Promise<readonly Claim[] | undefined> {
  const touched = await Promise.all(unfinished(state).map((n) => touchedBy(blob, effects[n]!.payload)));
  const kept = claimsOf(body).filter(isNameClaim);
  for (const claims of touched) {
    if (claims === undefined) return undefined;
    kept.push(...claims);
  }
  return kept;
}
