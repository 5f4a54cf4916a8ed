/**
 * canon: the only place where bytes are made, hashed and signed.
 *
 * Guarantees
 * - One value, one text: `canonicalize` writes RFC 8785 and refuses what JSON cannot say exactly, with a code and the
 *   JSON pointer of the place. `copyJson` refuses the same, with the same code and pointer.
 * - One text, one value: `parseStrict` takes text from outside and refuses what two readers could read differently;
 *   `parseCanonical` takes stored text and refuses what is not its own canonical text. Both are right where the
 *   platform's own parser is not: it can take a name with an escape for another (nodejs/node#63785).
 * - One hash: SHA-256 of UTF-8, lower-case hex. One signature: Ed25519 over a purpose and a text, under one written rule
 *   for keys and signatures on which verifiers elsewhere disagree.
 * - Every limit is a setting, and what is beyond it is refused in a time that grows with the limit, not with the value.
 *
 * Never
 * - drops, rounds, converts or repairs anything, except that −0 is 0; calls a getter or `toJSON`; mutates its input;
 * - reads a file, a clock or the network; draws a random number except for `generateKeys()` without a seed;
 * - imports another folder. Every folder may import this one.
 */
import './node-version.ts';

export { ArgumentError, type ArgumentErrorCode, type Form, form, requireForm } from './argument.ts';
export { CanonError, type CanonErrorCode } from './canon-error.ts';
export { canonicalize } from './canonicalize.ts';
export { ChurnMap } from './churn-map.ts';
export { copyJson } from './copy.ts';
export {
  assertPublicKey,
  generateKeys,
  KeyError,
  type KeyErrorCode,
  type KeyPair,
  signBytes,
  verifyBytes,
} from './ed25519.ts';
export { AssizeError, type ErrorDetails, isAssizeError, type Json } from './errors.ts';
export { contentHash, hashBytes, hashText, keyedHash } from './hash.ts';
export {
  addMicros,
  type Instant,
  instantFromMillis,
  instantToMillis,
  isInstant,
  maxInstant,
  parseInstant,
} from './instant.ts';
export { sortKeys } from './key-order.ts';
export { type CanonLimits, DEFAULT_LIMITS, WORLD_LIMITS } from './limits.ts';
export { CopyError, type CopyErrorCode, madeHere, refuseOtherCopy, requireMadeHere } from './made-here.ts';
export { issueText, issueWords, type Misfits, type RawIssue } from './misfit.ts';
export { parseCanonical } from './parse-canonical.ts';
export { parseStrict } from './parse-strict.ts';
export { plainText } from './plain-text.ts';
export { escapeSegment, parsePointer, toPointer, unescapeSegment } from './pointer.ts';
export { readCanonical } from './read-canonical.ts';
export { RecentMap } from './recent-map.ts';
export { setOwn } from './set-own.ts';
export { type Purpose, signText, verifyText } from './sign.ts';
export { thrownOf } from './thrown.ts';
