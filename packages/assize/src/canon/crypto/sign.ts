import { arg, checkArgument } from '#base';
import { CanonError } from '../json/canon-error.ts';
import { KeyError, signBytes, verifyBytes } from './ed25519.ts';

/** The purpose of a signature. A signature for one purpose is invalid for another. */
export type Purpose = 'entry' | 'writ' | 'checkpoint' | 'approval' | 'snapshot';

/** Permanent formats: a new rule for the signed bytes is a new version next to these. */
const PREFIXES: ReadonlyMap<string, string> = new Map<Purpose, string>([
  ['entry', 'assize/entry/v1\n'],
  ['writ', 'assize/writ/v1\n'],
  ['checkpoint', 'assize/checkpoint/v1\n'],
  ['approval', 'assize/approval/v1\n'],
  ['snapshot', 'assize/snapshot/v1\n'],
]);

/**
 * The Ed25519 signature over `assize/<purpose>/v1\n` and the text, 128 lower-case hex digits. The
 * same call returns the same signature.
 *
 * @throws KeyError `bad_key`, `bad_argument`; CanonError `not_json` for a text without UTF-8;
 * ArgumentError `bad_argument`
 */
export function signText(purpose: Purpose, text: string, privateKey: string): string {
  checkArgument(arg.text, text, 'text');
  if (!text.isWellFormed()) {
    throw new CanonError(
      'not_json',
      '',
      'A text with a lone surrogate has no UTF-8 bytes and cannot be signed.',
    );
  }
  return signBytes(signedBytes(purpose, text), privateKey);
}

/**
 * True if the signature was made over that text, for that purpose, with that key. Text, signature
 * and key may come from any source: a malformed one returns false, never an error. The rule is in
 * `ed25519-rule.ts`.
 *
 * @throws KeyError `bad_argument` for a mistake of the caller.
 */
export function verifyText(
  purpose: Purpose,
  text: string,
  signature: string,
  publicKey: string,
): boolean {
  // A wrong purpose throws for every text.
  const bytes = signedBytes(purpose, typeof text === 'string' ? text : '');
  // Half a pair would be encoded as U+FFFD, and the signature of another text would be valid.
  return (
    typeof text === 'string' && text.isWellFormed() && verifyBytes(bytes, signature, publicKey)
  );
}

function signedBytes(purpose: Purpose, text: string): Buffer {
  const prefix = PREFIXES.get(purpose);
  if (prefix === undefined) {
    throw new KeyError(
      'bad_argument',
      `A signature is for one of: ${[...PREFIXES.keys()].join(', ')}.`,
    );
  }
  return Buffer.from(prefix + text);
}
