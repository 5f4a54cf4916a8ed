import type { Json } from '#base';
import { hashText, plainText, WORLD_LIMITS } from '#canon';
import type { BlobRow } from './blob-row.ts';
import type { BlobRef, Erased, Hash, Stored } from './hash.ts';
import { isHash } from './is-hash.ts';

/** Values with a canonical text longer than this many UTF-16 units are stored as blobs. */
export const INLINE_MAX = 16_384;

/**
 * Returns a small value unchanged. For a large value, adds a blob to `blobs` and returns a
 * reference to the blob. A value that looks like a reference or an erased value is also stored as a
 * blob, so no value can forge a reference.
 *
 * @throws CanonError for a large value that is not JSON
 */
export function store<T extends Json>(
  value: T,
  blobs: BlobRow[],
  inlineMax: number = INLINE_MAX,
): Stored<T> {
  const reference = looksLikeReference(value);
  if (!reference && roomAfter(value, inlineMax) >= 0) return value;
  const text = plainText(value, WORLD_LIMITS);
  if (text.length <= inlineMax && !reference) return value;
  const hash = hashText(text);
  blobs.push({ hash, text });
  return { $blob: hash, bytes: Buffer.byteLength(text) };
}

/**
 * Returns a reference to a blob that holds the value next to a salt of 32 hex digits. The salt
 * stops a reader of the hash from testing candidate values. Only values stored in this way can be
 * erased.
 */
export function storeSalted(value: Json, salt: string, blobs: BlobRow[]): BlobRef {
  const text = plainText({ salt, value }, WORLD_LIMITS);
  const hash = hashText(text);
  blobs.push({ hash, text });
  return { $blob: hash, bytes: Buffer.byteLength(text), salted: true };
}

/**
 * Returns true also for a value that only looks like a reference. No other value may look like one
 * in a position that can hold references.
 */
export function isBlobRef(value: unknown): value is BlobRef {
  return looksLikeReference(value);
}

/** Whether the value is exactly the marker that a state holds in place of an erased value. */
export function isErased(value: unknown): value is Erased {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.hasOwn(value, '$erased') &&
    Object.keys(value).length === 1 &&
    isHash((value as Erased).$erased)
  );
}

/** The hash of the blob that the value refers to, if the value is a reference. */
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

/** Maximum length of one escaped UTF-16 unit: `\u001f`. */
const ESCAPED_MAX = 6;
/** The longest number is `-1.2345678901234567e-308`. */
const NUMBER_MAX = 24;

/**
 * The units left over if the value has its longest possible text. The function stops at the first
 * negative result. The estimate avoids the canonicalisation of values that are certainly short.
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
