import { sha256 } from '@noble/hashes/sha2.js';
import { canonicalOf } from './canonical.ts';
import { hexOf, utf8 } from './text.ts';

export { sha256 };

/** SHA-256 of the UTF-8 bytes of a text, as hex digits. */
export function hashOf(text: string): string {
  return hexOf(sha256(utf8(text)));
}

/** The hash of the canonical text of a value. */
export function hashOfValue(value: unknown): string {
  return hashOf(canonicalOf(value));
}
