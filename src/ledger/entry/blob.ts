import { form, type Json, requireForm } from '#base';
import { canonicalize, hashText, WORLD_LIMITS } from '#canon';
import type { BlobRow } from './blob-row.ts';
import type { BlobRef, Erased, Hash, Stored } from './hash.ts';
import { isHash } from './is-hash.ts';

/** Values whose canonical text is longer than this many UTF-16 units are stored as blobs. */
export const INLINE_MAX = 16_384;

/**
 * The value in place, or, when it is large, a reference to a blob that is added to `blobs`. A value that could be
 * mistaken for a reference, or for an erased one, is stored as a blob too, so that a reference is never forged.
 *
 * @throws CanonError for a large value that is not JSON; ArgumentError `bad_argument`
 */
export function store<T extends Json>(value: T, blobs: BlobRow[], inlineMax: number = INLINE_MAX): Stored<T> {
  requireForm(form.whole, inlineMax, 'inlineMax');
  const reference = looksLikeReference(value);
  if (!reference && roomAfter(value, inlineMax) >= 0) return value;
  const text = canonicalize(value, WORLD_LIMITS);
  if (text.length <= inlineMax && !reference) return value;
  const hash = hashText(text);
  blobs.push({ hash, text });
  return { $blob: hash, bytes: Buffer.byteLength(text) };
}

/**
 * A reference to a blob that holds the value beside a salt of 32 hex digits, so that who has the hash can't try out values.
 * Only what is stored so can be erased. `write`: `plainText` for what was made here.
 */
export function storeSalted(
  value: Json,
  salt: string,
  blobs: BlobRow[],
  write: typeof canonicalize = canonicalize,
): BlobRef {
  const text = write({ salt, value }, WORLD_LIMITS);
  const hash = hashText(text);
  blobs.push({ hash, text });
  return { $blob: hash, bytes: Buffer.byteLength(text), salted: true };
}

/** Also what only looks like one: where a reference may stand, nothing else may look so. */
export function isBlobRef(value: unknown): value is BlobRef {
  return looksLikeReference(value);
}

/** Exactly what stands in a state where a value was erased. */
export function isErased(value: unknown): value is Erased {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.hasOwn(value, '$erased') &&
    Object.keys(value).length === 1 &&
    isHash((value as Erased).$erased)
  );
}

/** The blob that stands for a value, if one does. */
export function blobOf(value: Stored): Hash | undefined {
  return isBlobRef(value) ? value.$blob : undefined;
}

function looksLikeReference(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    (Object.hasOwn(value, '$blob') || Object.hasOwn(value, '$erased'))
  );
}

/** What a UTF-16 unit can become at most: `\u001f`. */
const ESCAPED_MAX = 6;
/** The longest number is `-1.2345678901234567e-308`. */
const NUMBER_MAX = 24;

/**
 * Saves the canonicalisation of what is surely short: the room that is left when the value has its longest possible
 * text; negative, and given up, as soon as that might not fit.
 */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length * ESCAPED_MAX - 2;
  if (typeof value !== 'object' || value === null) return room - NUMBER_MAX;
  let left = room - 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left >= 0; i++) left = roomAfter(value[i], left - 1);
    return left;
  }
  for (const key of Object.keys(value)) {
    left = roomAfter((value as Record<string, unknown>)[key], left - key.length * ESCAPED_MAX - 4);
    if (left < 0) break;
  }
  return left;
}
