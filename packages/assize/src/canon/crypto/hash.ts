import { hash } from 'node:crypto';
import { CanonError } from '../json/canon-error.ts';
import { canonicalize } from '../json/canonicalize.ts';
import type { CanonLimits } from '../json/limits.ts';

/**
 * SHA-256 of the text's UTF-8 bytes, in lower-case hex.
 *
 * @throws CanonError `not_json`: such a text has no UTF-8 bytes, and two of them would share
 * one hash.
 */
export function hashText(text: string): string {
  if (!text.isWellFormed()) {
    throw new CanonError(
      'not_json',
      '',
      'A text with a lone surrogate has no UTF-8 bytes and cannot be hashed.',
    );
  }
  return hash('sha256', text, 'hex');
}

/**
 * HMAC-SHA-256 of the text's UTF-8 bytes under a secret key, in lower-case hex. Without the key, a
 * reader cannot test guessed texts.
 *
 * @throws CanonError `not_json`
 */
export function keyedHash(key: Uint8Array, text: string): string {
  if (!text.isWellFormed()) {
    throw new CanonError(
      'not_json',
      '',
      'A text with a lone surrogate has no UTF-8 bytes and cannot be hashed.',
    );
  }
  // RFC 2104 by one-shot hashes. They take a fifth of the time of `createHmac`, a third of that
  // without new buffers (measured on Node 24).
  const secret = key.length > BLOCK ? hashBytes(key) : key;
  const end = BLOCK + Buffer.byteLength(text);
  const inner = end <= INNER.length ? INNER : Buffer.alloc(end);
  for (let i = 0; i < BLOCK; i++) {
    const byte = i < secret.length ? secret[i]! : 0;
    inner[i] = byte ^ INNER_PAD;
    OUTER[i] = byte ^ OUTER_PAD;
  }
  inner.write(text, BLOCK);
  OUTER.write(hash('sha256', inner.subarray(0, end), 'binary'), BLOCK, 'latin1');
  const hashed = hash('sha256', OUTER, 'hex');
  // Otherwise the key and the end of a long text would stay in memory until the process ends, even
  // after the text is erased.
  inner.fill(0, 0, end);
  OUTER.fill(0);
  return hashed;
}

/** Bytes of a SHA-256 block and of a SHA-256 hash. */
const BLOCK = 64;
const DIGEST = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

/** The hash input, all zeros between calls. A longer text has its own buffer. */
const INNER = Buffer.alloc(4_096);
const OUTER = Buffer.alloc(BLOCK + DIGEST);

/**
 * SHA-256 of the bytes: 32 bytes.
 */
export function hashBytes(bytes: Uint8Array): Uint8Array {
  // Through a string, because the one-shot hash returns a string three times as fast as a buffer
  // (measured on Node 24).
  return Buffer.from(hash('sha256', bytes, 'binary'), 'latin1');
}

/**
 * The hash of a value: SHA-256 of its canonical text.
 *
 * @throws CanonError the errors of `canonicalize`.
 */
export function contentHash(value: unknown, limits?: Partial<CanonLimits>): string {
  return hash('sha256', canonicalize(value, limits), 'hex');
}
