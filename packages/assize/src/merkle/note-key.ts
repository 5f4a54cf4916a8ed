import { checkArgument } from '#base';
import { assertPublicKey, generateKeys, hashBytes } from '#canon';
import { MerkleError } from './errors.ts';
import { SIGNER_KEY, VERIFIER_KEY } from './forms.ts';
import { isNoteText, readBase64, writeBase64 } from './strict-text.ts';

/**
 * The use of a key: signing the text of notes, or the message of cosignatures. A key has one use.
 */
export type KeyUse = 'note' | 'cosignature';

/** A public key that verifies signatures of notes. */
export interface VerifierKey {
  /** Without space or `+`. For a log, its origin. */
  readonly name: string;
  readonly use: KeyUse;
  /**
   * 8 hex digits derived from name, use and key. They identify the key for its holders, and prove
   * nothing.
   */
  readonly id: string;
  /** 64 hex digits. */
  readonly publicKey: string;
}

/** A key to sign with. */
export interface SignerKey extends VerifierKey {
  /** 64 hex digits, the seed. A secret. */
  readonly privateKey: string;
}

/** c2sp.org/signed-note, Signature types. */
const TYPES: Readonly<Record<KeyUse, number>> = { note: 0x01, cosignature: 0x04 };
const PRIVATE = 'PRIVATE+KEY+';
const KEY_HEX = /^[0-9a-f]{64}$/;
const ID_HEX = /^[0-9a-f]{8}$/;
const KEY_BYTES = 32;

/**
 * The key of that name, with its id.
 *
 * @throws MerkleError `bad_key` for a name with spaces or `+`, or a public key that canon refuses
 * (low order, not canonical).
 */
export function verifierKey(name: string, use: KeyUse, publicKey: string): VerifierKey {
  if (!isKeyName(name))
    throw badKey('a name is not empty and has no space, + or control character');
  if (typeof use !== 'string' || !Object.hasOwn(TYPES, use))
    throw badKey('its use is note or cosignature');
  try {
    assertPublicKey(publicKey);
  } catch (cause) {
    throw badKey('the public key cannot be trusted', cause);
  }
  const material = Buffer.concat([Buffer.from(`${name}\n`), typed(use, publicKey)]);
  const id = Buffer.from(hashBytes(material).subarray(0, 4)).toString('hex');
  return Object.freeze({ name, use, id, publicKey });
}

/**
 * The signing key of that name.
 *
 * @throws MerkleError `bad_key`
 */
export function signerKey(name: string, use: KeyUse, privateKey: string): SignerKey {
  if (typeof privateKey !== 'string' || !KEY_HEX.test(privateKey))
    throw badKey('a private key is 64 hex digits');
  const { publicKey } = generateKeys(Buffer.from(privateKey, 'hex'));
  return Object.freeze({ ...verifierKey(name, use, publicKey), privateKey });
}

/**
 * `<name>+<id>+<Base64 of type and public key>`: the configuration form for verifiers.
 *
 * @throws MerkleError `bad_key` for a key that `parseVerifierKey` would refuse; ArgumentError
 * `bad_argument`
 */
export function formatVerifierKey(key: VerifierKey): string {
  checkArgument(VERIFIER_KEY, key, 'key');
  own(verifierKey(key.name, key.use, key.publicKey), key.id);
  return `${key.name}+${key.id}+${writeBase64(typed(key.use, key.publicKey))}`;
}

/**
 * Parses the result of `formatVerifierKey` (c2sp.org/signed-note, Verifier keys).
 *
 * @throws MerkleError `bad_key` when it is malformed, of a type other than 0x01 and 0x04, or has an
 * id that is not its own.
 */
export function parseVerifierKey(text: string): VerifierKey {
  const { name, id, use, material } = partsOf(text);
  return own(verifierKey(name, use, material), id);
}

/**
 * `PRIVATE+KEY+<name>+<id>+<Base64 of type and seed>`, the form of Go's sumdb/note, for the
 * operator's key file. A secret.
 *
 * @throws MerkleError `bad_key` for a key that `parseSignerKey` would refuse; ArgumentError
 * `bad_argument`
 */
export function formatSignerKey(key: SignerKey): string {
  checkArgument(SIGNER_KEY, key, 'key');
  own(signerKey(key.name, key.use, key.privateKey), key.id);
  return `${PRIVATE}${key.name}+${key.id}+${writeBase64(typed(key.use, key.privateKey))}`;
}

/**
 * Parses the result of `formatSignerKey`. No error shows any of the text.
 *
 * @throws MerkleError `bad_key`
 */
export function parseSignerKey(text: string): SignerKey {
  if (typeof text !== 'string' || !text.startsWith(PRIVATE))
    throw badKey('a private key begins with PRIVATE+KEY+');
  const { name, id, use, material } = partsOf(text.slice(PRIVATE.length));
  return own(signerKey(name, use, material), id);
}

/**
 * c2sp.org/signed-note, Format: no Unicode space and no `+`. No control character, because a note
 * cannot hold one.
 */
export function isKeyName(name: unknown): name is string {
  return isNoteText(name) && /^[^+\p{White_Space}]+$/u.test(name);
}

/** @throws MerkleError `bad_key` when the key is for the other use. */
export function requireUse(key: VerifierKey, use: KeyUse): void {
  if (key.use === use) return;
  const evidence = { name: key.name, use: key.use };
  throw new MerkleError(
    'bad_key',
    `The key ${key.name} is for ${key.use}s. Pass a key for ${use}s.`,
    {
      evidence,
    },
  );
}

/** The parts of a key text. Only the first two `+` separate parts: Base64 contains others. */
function partsOf(text: unknown): { name: string; id: string; use: KeyUse; material: string } {
  const [, name, id, encoded] =
    typeof text === 'string' ? (/^([^+]*)\+([^+]*)\+(.*)$/s.exec(text) ?? []) : [];
  if (name === undefined || id === undefined || encoded === undefined)
    throw badKey('it is not name, id and key');
  if (!ID_HEX.test(id)) throw badKey('an id is 8 lower-case hex digits');
  const bytes = readBase64(encoded);
  if (bytes === undefined) throw badKey('the key is not Base64');
  const use = (Object.keys(TYPES) as KeyUse[]).find((known) => TYPES[known] === bytes[0]);
  if (use === undefined)
    throw badKey('its type is not Ed25519 (0x01) or Ed25519 cosignature (0x04)');
  if (bytes.length !== 1 + KEY_BYTES) throw badKey(`a key of its type has ${KEY_BYTES} bytes`);
  return { name, id, use, material: Buffer.from(bytes.subarray(1)).toString('hex') };
}

function own<Key extends VerifierKey>(key: Key, id: string): Key {
  if (key.id !== id) throw badKey('the id is not that of its name and key');
  return key;
}

function typed(use: KeyUse, material: string): Buffer {
  return Buffer.concat([Buffer.of(TYPES[use]), Buffer.from(material, 'hex')]);
}

function badKey(problem: string, cause?: unknown): MerkleError {
  return new MerkleError('bad_key', `The key cannot be used: ${problem}.`, {
    evidence: { problem },
    cause,
  });
}
