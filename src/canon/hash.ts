import { hash } from 'node:crypto';
import { form, requireForm } from './argument.ts';
import { CanonError } from './canon-error.ts';
import { canonicalize } from './canonicalize.ts';
import type { CanonLimits } from './limits.ts';

/**
 * SHA-256 of the text's UTF-8 bytes, in lower-case hex.
 * @throws CanonError `lone_surrogate`: such a text has no UTF-8 bytes, and two of them would share one hash; ArgumentError `bad_argument`.
 */
export function hashText(text: string): string {
  if (typeof text !== 'string') requireForm(form.text, text, 'text');
  if (!text.isWellFormed()) {
    throw new CanonError('lone_surrogate', '', 'A text with a lone surrogate has no UTF-8 bytes and cannot be hashed.');
  }
  return hash('sha256', text, 'hex');
}

/**
 * HMAC-SHA-256 of the text's UTF-8 bytes under a secret key, in lower-case hex: who does not have the key can't try out texts.
 * @throws CanonError `lone_surrogate`; ArgumentError `bad_argument`, also for a key of less than 16 bytes
 */
export function keyedHash(key: Uint8Array, text: string): string {
  requireForm(SECRET, key, 'key');
  requireForm(form.text, text, 'text');
  if (!text.isWellFormed()) {
    throw new CanonError('lone_surrogate', '', 'A text with a lone surrogate has no UTF-8 bytes and cannot be hashed.');
  }
  // RFC 2104 by one-shot hashes, which take a fifth of the time of `createHmac` (measured on Node 24).
  const secret = key.length > BLOCK ? hashBytes(key) : key;
  const message = Buffer.from(text);
  const inner = Buffer.alloc(BLOCK + message.length, INNER_PAD, 'latin1');
  inner.set(message, BLOCK);
  const outer = Buffer.alloc(BLOCK + DIGEST, OUTER_PAD, 'latin1');
  for (let i = 0; i < secret.length; i++) {
    inner[i] = inner[i]! ^ secret[i]!;
    outer[i] = outer[i]! ^ secret[i]!;
  }
  outer.set(hash('sha256', inner, 'buffer'), BLOCK);
  return hash('sha256', outer, 'hex');
}

/** Bytes of a block of SHA-256, and of what it gives. */
const BLOCK = 64;
const DIGEST = 32;
const INNER_PAD = '\x36';
const OUTER_PAD = '\x5c';

const SECRET = form.of('16 bytes or more (Uint8Array)', (key) => key instanceof Uint8Array && key.length >= 16);

/**
 * SHA-256 of the bytes: 32 bytes.
 * @throws ArgumentError `bad_argument`
 */
export function hashBytes(bytes: Uint8Array): Uint8Array {
  if (!(bytes instanceof Uint8Array)) requireForm(form.bytes, bytes, 'bytes');
  // By way of a string, as the one-shot hash makes a string three times as fast as a buffer (measured on Node 24).
  return Buffer.from(hash('sha256', bytes, 'binary'), 'latin1');
}

/**
 * The hash of a value: SHA-256 of its canonical text.
 * @throws CanonError as `canonicalize` does.
 */
export function contentHash(value: unknown, limits?: Partial<CanonLimits>): string {
  return hash('sha256', canonicalize(value, limits), 'hex');
}
