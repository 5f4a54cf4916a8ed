import { isAssizeError, type Json } from '#base';
import { hashText, parseCanonical, WORLD_LIMITS } from '#canon';
import {
  type Claim,
  claimsOf,
  EffectError,
  type EffectPayload,
  isNameClaim,
  type KnownTransaction,
  unfinished,
} from '#effects';
import type { BlobRef, Hash } from '#ledger';

/** The text of a blob. Undefined if it was erased. */
type Blob = (hash: Hash) => Promise<string | undefined>;

/**
 * The value of a salted blob of the effect log. Undefined if it was erased.
 *
 * @throws EffectError `log_damaged` if the text does not match its hash, because a tool would be
 * called with another input
 */
export async function readSalted(blob: Blob, { $blob }: BlobRef): Promise<Json | undefined> {
  const text = await blob($blob);
  if (text === undefined) return undefined;
  if (hashText(text) !== $blob) throw textDamaged($blob);
  // Parsed with the larger limits: an input or answer of almost maximum size exceeds the normal
  // limit together with its other fields.
  return (parseCanonical(text, WORLD_LIMITS) as { readonly value: Json }).value;
}

/** The claims of an effect. Undefined if they were erased or do not match their hash. */
export async function touchedBy(
  blob: Blob,
  payload: BlobRef,
): Promise<readonly Claim[] | undefined> {
  try {
    const read = (await readSalted(blob, payload)) as EffectPayload | undefined;
    return read && claimsOf(read);
  } catch (error) {
    if (isAssizeError(error, 'log_damaged')) return undefined;
    throw error;
  }
}

function textDamaged(hash: Hash): EffectError {
  return new EffectError(
    'log_damaged',
    `The effect log is damaged: the text ${hash} does not match its hash. Restore the store from a backup.`,
    { evidence: { hash } },
  );
}

/**
 * The claims that an unresolved transaction keeps: its name, and the scopes of its unfinished
 * effects. All other effects are final, and their scopes are free. Undefined (all claims are kept)
 * if the claims of an unfinished effect were erased. Each step of the transaction keeps fewer
 * claims.
 *
 * @throws the errors of `blob`
 */
export async function quarantinedClaims(
  { body, state, effects }: Pick<KnownTransaction, 'body' | 'state' | 'effects'>,
  blob: Blob,
): Promise<readonly Claim[] | undefined> {
  const touched = await Promise.all(
    unfinished(state).map((n) => touchedBy(blob, effects[n]!.payload)),
  );
  const kept = claimsOf(body).filter(isNameClaim);
  for (const claims of touched) {
    if (claims === undefined) return undefined;
    kept.push(...claims);
  }
  return kept;
}
