import {
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { AssizeError, arg, checkArgument, LruCache } from '#base';
import { isLowOrder, isReduced, isScalar, isUsablePoint } from './ed25519-rule.ts';

export interface KeyPair {
  /** 64 lower-case hex digits: the encoded point (RFC 8032 section 5.1.5). */
  readonly publicKey: string;
  /** 64 lower-case hex digits: the seed. A secret: never in an entry, a log or an error. */
  readonly privateKey: string;
}

/** A key or a purpose that can't be used. The evidence holds public parts only. */
export class KeyError extends AssizeError<never> {
  override readonly name = 'KeyError';
}

const SEED_BYTES = 32;
const POINT_BYTES = 32;
const KEY_HEX = /^[0-9a-f]{64}$/;
/** Lower case only: a signature is part of the hashed text, and must not have a second spelling. */
const SIGNATURE_HEX = /^[0-9a-f]{128}$/;

/**
 * The DER bytes before the 32 key bytes: SubjectPublicKeyInfo and PKCS #8 of Ed25519 (RFC 8410
 * sections 4 and 7).
 */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Creating a key object costs as much as a signature, and a process uses few keys. */
const KEYS_KEPT_MAX = 256;
const publicKeys = new LruCache<KeyObject>(KEYS_KEPT_MAX);
const privateKeys = new LruCache<KeyObject>(KEYS_KEPT_MAX);

/**
 * A key pair from 32 bytes of seed, or from the system's random numbers.
 *
 * @throws KeyError `bad_key` when the seed is not 32 bytes.
 */
export function generateKeys(seed: Uint8Array = randomBytes(SEED_BYTES)): KeyPair {
  if (!(seed instanceof Uint8Array) || seed.length !== SEED_BYTES) {
    throw new KeyError('bad_key', `A seed is ${SEED_BYTES} bytes.`);
  }
  const privateKey = Buffer.from(seed).toString('hex');
  const spki = createPublicKey(privateKeyOf(privateKey)).export({ format: 'der', type: 'spki' });
  return { publicKey: spki.subarray(SPKI_HEAD.length).toString('hex'), privateKey };
}

/**
 * Call it for every key before it is registered or trusted.
 *
 * @throws KeyError `bad_key` when it is not 64 lower-case hex digits, or not the canonical encoding
 * of a number below the order of the field; `bad_key` for a key with signatures that need no
 * secret.
 */
export function assertPublicKey(publicKey: unknown): asserts publicKey is string {
  if (typeof publicKey !== 'string' || !KEY_HEX.test(publicKey)) {
    throw new KeyError('bad_key', 'A public key is 64 lower-case hex digits.');
  }
  const point = Buffer.from(publicKey, 'hex');
  const evidence = { key: publicKey };
  if (!isReduced(point)) {
    throw new KeyError('bad_key', 'The public key is not encoded canonically.', { evidence });
  }
  if (isLowOrder(point)) {
    throw new KeyError(
      'bad_key',
      'The public key has a low order, so signatures under it prove nothing.',
      {
        evidence,
      },
    );
  }
}

/**
 * The signature of the bytes, 128 lower-case hex digits. The same bytes and key yield the same
 * signature (RFC 8032 section 5.1.6).
 *
 * @throws KeyError `bad_key`; ArgumentError `bad_argument` for a message that is not bytes.
 */
export function signBytes(message: Uint8Array, privateKey: string): string {
  checkArgument(arg.bytes, message, 'message');
  return sign(null, message, privateKeyOf(privateKey)).toString('hex');
}

/**
 * Whether the signature is valid under the rule of `ed25519-rule.ts`. Malformed input returns
 * false, never an error.
 */
export function verifyBytes(message: Uint8Array, signature: unknown, publicKey: unknown): boolean {
  if (!(message instanceof Uint8Array)) return false;
  if (typeof signature !== 'string' || !SIGNATURE_HEX.test(signature)) return false;
  if (typeof publicKey !== 'string' || !KEY_HEX.test(publicKey)) return false;
  const value = Buffer.from(signature, 'hex');
  if (
    !isUsablePoint(Buffer.from(publicKey, 'hex')) ||
    !isUsablePoint(value.subarray(0, POINT_BYTES))
  )
    return false;
  return (
    isScalar(value.subarray(POINT_BYTES)) && verify(null, message, publicKeyOf(publicKey), value)
  );
}

function publicKeyOf(publicKey: string): KeyObject {
  return publicKeys.get(publicKey, () =>
    createPublicKey({
      key: Buffer.concat([SPKI_HEAD, Buffer.from(publicKey, 'hex')]),
      format: 'der',
      type: 'spki',
    }),
  );
}

function privateKeyOf(privateKey: unknown): KeyObject {
  if (typeof privateKey !== 'string' || !KEY_HEX.test(privateKey)) {
    throw new KeyError('bad_key', 'A private key is 64 lower-case hex digits, the seed.');
  }
  return privateKeys.get(privateKey, () =>
    createPrivateKey({
      key: Buffer.concat([PKCS8_HEAD, Buffer.from(privateKey, 'hex')]),
      format: 'der',
      type: 'pkcs8',
    }),
  );
}
