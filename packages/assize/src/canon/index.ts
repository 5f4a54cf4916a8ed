/**
 * canon: the only layer that creates, hashes and signs bytes.
 *
 * Guarantees
 * - One value, one text: `canonicalize` writes RFC 8785 and refuses a value that JSON cannot
 *   represent exactly, with a code and the JSON pointer of the place. `copyJson` refuses the same,
 *   with the same code and pointer.
 * - One text, one value: `parseStrict` parses text from outside and refuses text that two readers
 *   could read differently. `parseCanonical` parses stored text and refuses text that is not its
 *   own canonical text. Both are right where the platform's own parser is not: it can confuse a
 *   name with an escape with another (nodejs/node#63785).
 * - One hash: SHA-256 of UTF-8, lower-case hex. One signature: Ed25519 over a purpose and a text.
 *   One written rule covers the keys and signatures on which other verifiers disagree.
 * - Every limit is a setting. A value beyond it is refused in a time that grows with the limit, not
 *   with the value.
 *
 * Never
 * - drops, rounds, converts or repairs anything, except that −0 is 0; calls a getter or `toJSON`;
 *   mutates its input;
 * - reads a file, a clock or the network; draws a random number except for `generateKeys()` without
 *   a seed;
 * - imports another folder except `base`. Every folder may import this one.
 */

export {
  assertPublicKey,
  generateKeys,
  KeyError,
  type KeyPair,
  signBytes,
  verifyBytes,
} from './crypto/ed25519.ts';
export { contentHash, hashBytes, hashText, keyedHash } from './crypto/hash.ts';
export { type Purpose, signText, verifyText } from './crypto/sign.ts';
export {
  addMicros,
  type Instant,
  instantFromMillis,
  instantOf,
  instantToMillis,
  isInstant,
  maxInstant,
  parseInstant,
  readInstant,
  type Time,
} from './instant.ts';
export { CanonError, type CanonErrorCode } from './json/canon-error.ts';
export { canonicalize } from './json/canonicalize.ts';
export { copyJson } from './json/copy.ts';
export { sortKeys } from './json/key-order.ts';
export { type CanonLimits, DEFAULT_LIMITS, WORLD_LIMITS } from './json/limits.ts';
export { parseCanonical } from './json/parse-canonical.ts';
export { parseBySchema } from './json/parse-schema.ts';
export { parseStrict } from './json/parse-strict.ts';
export { plainText } from './json/plain-text.ts';
export { escapeSegment, parsePointer, toPointer, unescapeSegment } from './json/pointer.ts';
export { readCanonical } from './json/read-canonical.ts';
export {
  issueText,
  issueWords,
  type Misfit,
  misfitsOf,
  type RawIssue,
  type SchemaIssues,
} from './json/schema-issues.ts';
export { textPlace } from './json/text-place.ts';
export { ownerOf } from './owner-of.ts';
export { composed, composedJson, normalForm } from './text/normal-form.ts';
