import { canonicalize, hashText, type Json, WORLD_LIMITS } from '#canon';
import type { BlobRef, Hash, Stored } from './entry.ts';
import type { BlobRow } from './store.ts';

/** Values whose canonical text is longer than this many UTF-16 units are stored as blobs. */
export const INLINE_MAX = 16_384;

/**
 * The value in place, or, when it is large, a reference to a blob that is added to `blobs`. A value that could be
 * mistaken for a reference, or for an erased one, is stored as a blob too, so that a reference is never forged.
 */
export function store<T extends Json>(value: T, blobs: BlobRow[], inlineMax: number = INLINE_MAX): Stored<T> {
  if (isSmall(value)) return value;
  const text = canonicalize(value, WORLD_LIMITS);
  if (text.length <= inlineMax && !looksLikeReference(value)) return value;
  const hash = hashText(text);
  blobs.push({ hash, text });
  return { $blob: hash, bytes: Buffer.byteLength(text) };
}

export function isBlobRef(value: unknown): value is BlobRef {
  return looksLikeReference(value);
}

/** Hashes of the blobs that a payload refers to, in the positions that may hold a reference. */
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

/** Saves the canonicalisation of what is surely short: a few flat members. */
function isSmall(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'string' || value.length < 1_000;
  const members = Object.values(value);
  if (members.length > 32 || looksLikeReference(value)) return false;
  return members.every((member) => isFlatAndShort(member));
}

function isFlatAndShort(value: Json): boolean {
  if (typeof value === 'string') return value.length < 200;
  if (typeof value !== 'object' || value === null) return true;
  const members = Object.values(value);
  return (
    members.length <= 16 &&
    members.every((member) =>
      typeof member === 'string' ? member.length < 100 : typeof member !== 'object' || member === null,
    )
  );
}
