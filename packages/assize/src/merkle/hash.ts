import { hashBytes } from '#canon';
import { MerkleError } from './errors.ts';

/** Bytes of a SHA-256. */
export const HASH_BYTES = 32;

/** RFC 6962 section 2.1: no leaf has the preimage of a node. */
const LEAF_PREFIX = '\0';
const NODE_PREFIX = 0x01;
const EMPTY = new Uint8Array(0);

/**
 * The one shared preimage buffer. This code is synchronous, so no other call uses it at the same
 * time.
 */
const preimage = Buffer.alloc(1 + 2 * HASH_BYTES);
preimage[0] = NODE_PREFIX;

/**
 * The hash of a leaf: SHA-256(0x00 ‖ data). The data of an entry is the canonical text of its
 * payload, as text or as its UTF-8 bytes.
 *
 * @throws MerkleError `bad_argument` for a text with a lone surrogate (it has no UTF-8 bytes), and
 * for any other value.
 */
export function leafHash(data: Uint8Array | string): Uint8Array {
  if (typeof data === 'string' && data.isWellFormed())
    return hashBytes(Buffer.from(LEAF_PREFIX + data));
  if (!(data instanceof Uint8Array)) {
    throw new MerkleError(
      'bad_argument',
      'The data of a leaf is bytes, or text without a lone surrogate.',
    );
  }
  const prefixed = Buffer.allocUnsafe(1 + data.length);
  prefixed[0] = 0;
  prefixed.set(data, 1);
  return hashBytes(prefixed);
}

/**
 * The hash of a node: SHA-256(0x01 ‖ left ‖ right).
 * @throws MerkleError `bad_argument`
 */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  requireHash(left, 'the left child');
  requireHash(right, 'the right child');
  preimage.set(left, 1);
  preimage.set(right, 1 + HASH_BYTES);
  return hashBytes(preimage);
}

/** The root of the tree without leaves: SHA-256 of the empty string. */
export function emptyRoot(): Uint8Array {
  return hashBytes(EMPTY);
}

/**
 * The root over adjacent full subtrees, the largest first. Without subtrees it is the empty root.
 */
export function joined(hashes: readonly Uint8Array[]): Uint8Array {
  return hashes.length === 0
    ? emptyRoot()
    : hashes.reduceRight((right, left) => nodeHash(left, right));
}

/** True for 32 bytes. */
export function isHashBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.length === HASH_BYTES;
}

/** @throws MerkleError `bad_argument` */
export function requireHash(value: unknown, what: string): asserts value is Uint8Array {
  if (isHashBytes(value)) return;
  throw new MerkleError('bad_argument', `A hash is ${HASH_BYTES} bytes; ${what} is not.`, {
    evidence: { what },
  });
}

export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
