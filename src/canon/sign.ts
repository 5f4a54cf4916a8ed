import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign, verify } from 'node:crypto';
import { BoundedCache } from './bounded-cache.ts';
import { CanonError } from './canon-error.ts';
import { isLowOrder, isReduced, isScalar } from './ed25519.ts';
import { AssizeError } from './errors.ts';

/** What a signature is for. A signature for one purpose says nothing for another. */
export type Purpose = 'entry' | 'writ' | 'checkpoint' | 'approval';

export interface KeyPair {
  /** 64 lower-case hex digits: the encoded point (RFC 8032 section 5.1.5). */
  readonly publicKey: string;
  /** 64 lower-case hex digits: the seed. A secret: never in an entry, a log or an error. */
  readonly privateKey: string;
}

export type KeyErrorCode = 'bad_public_key' | 'low_order_key' | 'bad_private_key' | 'bad_seed' | 'bad_purpose';

/** A key that cannot be used, or a purpose that there is not. The evidence holds what is public only. */
export class KeyError extends AssizeError<KeyErrorCode> {
  override readonly name = 'KeyError';
}

const PREFIXES: ReadonlyMap<string, string> = new Map<Purpose, string>([
  ['entry', 'assize/entry/v1\n'],
  ['writ', 'assize/writ/v1\n'],
  ['checkpoint', 'assize/checkpoint/v1\n'],
  ['approval', 'assize/approval/v1\n'],
]);

const KEY_HEX = /^[0-9a-f]{64}$/;
const SIGNATURE_HEX = /^[0-9a-f]{128}$/;
const SEED_BYTES = 32;

/** What stands before the 32 bytes in DER: SubjectPublicKeyInfo and PKCS #8 for Ed25519 (RFC 8410 sections 4 and 7). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Making a key object costs about as much as a signature; a process meets few keys. */
const KEYS_KEPT_MAX = 256;
const publicKeys = new BoundedCache<KeyObject>(KEYS_KEPT_MAX);
const privateKeys = new BoundedCache<KeyObject>(KEYS_KEPT_MAX);

/**
 * A key pair from 32 bytes of seed, or from the system's random numbers.
 * @throws KeyError `bad_seed` when the seed is not 32 bytes.
 */
export function generateKeys(seed: Uint8Array = randomBytes(SEED_BYTES)): KeyPair {
  if (!(seed instanceof Uint8Array) || seed.length !== SEED_BYTES) {
    throw new KeyError('bad_seed', `A seed is ${SEED_BYTES} bytes.`);
  }
  const privateKey = Buffer.from(seed).toString('hex');
  const spki = createPublicKey(privateKeyOf(privateKey)).export({ format: 'der', type: 'spki' });
  return { publicKey: spki.subarray(SPKI_HEAD.length).toString('hex'), privateKey };
}

/**
 * The Ed25519 signature over `assize/<purpose>/v1\n` and the text, 128 lower-case hex digits. Deterministic.
 * @throws KeyError `bad_private_key`, `bad_purpose`; CanonError `lone_surrogate` for a text that has no UTF-8.
 */
export function signText(purpose: Purpose, text: string, privateKey: string): string {
  if (!text.isWellFormed()) {
    throw new CanonError('lone_surrogate', '', 'A text with a lone surrogate has no UTF-8 bytes and cannot be signed.');
  }
  return sign(null, signedBytes(purpose, text), privateKeyOf(privateKey)).toString('hex');
}

/**
 * True when the signature over that text, for that purpose, was made with that key. Key and signature may come from
 * anywhere: whatever is wrong with them, the answer is false and never an error. The rule is in `ed25519.ts`.
 * @throws KeyError `bad_purpose`, which is a fault of the caller.
 */
export function verifyText(purpose: Purpose, text: string, signature: string, publicKey: string): boolean {
  const bytes = signedBytes(purpose, text);
  if (!text.isWellFormed() || typeof signature !== 'string' || !SIGNATURE_HEX.test(signature)) return false;
  if (publicKeyFault(publicKey) !== undefined) return false;
  const value = Buffer.from(signature, 'hex');
  const point = value.subarray(0, 32);
  if (!isReduced(point) || isLowOrder(point) || !isScalar(value.subarray(32))) return false;
  return verify(null, bytes, publicKeyOf(publicKey), value);
}

/**
 * To be asked of every key before it is registered or trusted.
 * @throws KeyError `bad_public_key` when it is not 64 lower-case hex digits or not the canonical encoding of a number
 * below the field's order; `low_order_key` for the keys under which everybody can sign.
 */
export function assertPublicKey(publicKey: unknown): asserts publicKey is string {
  const fault = publicKeyFault(publicKey);
  if (fault !== undefined) throw fault;
}

function publicKeyFault(publicKey: unknown): KeyError | undefined {
  if (typeof publicKey !== 'string' || !KEY_HEX.test(publicKey)) {
    return new KeyError('bad_public_key', 'A public key is 64 lower-case hex digits.');
  }
  const point = Buffer.from(publicKey, 'hex');
  const evidence = { key: publicKey };
  if (!isReduced(point)) {
    return new KeyError('bad_public_key', 'The public key is not encoded canonically.', { evidence });
  }
  if (isLowOrder(point)) {
    return new KeyError('low_order_key', 'The public key is of low order: everybody can sign under it.', { evidence });
  }
  return undefined;
}

function signedBytes(purpose: Purpose, text: string): Buffer {
  const prefix = PREFIXES.get(purpose);
  if (prefix === undefined) {
    throw new KeyError('bad_purpose', `A signature is for one of: ${[...PREFIXES.keys()].join(', ')}.`);
  }
  return Buffer.from(prefix + text);
}

function publicKeyOf(publicKey: string): KeyObject {
  return publicKeys.get(publicKey, () =>
    createPublicKey({ key: Buffer.concat([SPKI_HEAD, Buffer.from(publicKey, 'hex')]), format: 'der', type: 'spki' }),
  );
}

function privateKeyOf(privateKey: string): KeyObject {
  if (typeof privateKey !== 'string' || !KEY_HEX.test(privateKey)) {
    throw new KeyError('bad_private_key', 'A private key is 64 lower-case hex digits, the seed.');
  }
  return privateKeys.get(privateKey, () =>
    createPrivateKey({
      key: Buffer.concat([PKCS8_HEAD, Buffer.from(privateKey, 'hex')]),
      format: 'der',
      type: 'pkcs8',
    }),
  );
}
