/**
 * Commitments to undisclosed artifacts: published while the artifact is secret, opened at its
 * disclosure.
 */

import { arg, checkArgument } from 'assize/internal/base';
import { contentHash } from 'assize/internal/canon';
import type { Artifact } from './schema.ts';

/** The values that a commitment binds. */
export interface Opening {
  readonly vulnerability: string;
  readonly artifact: Artifact;
  /** Enough randomness to prevent guessing of the digest, for example 32 random bytes in hex. */
  readonly salt: string;
  /** SHA-256 of the artifact, in hex. */
  readonly digest: string;
}

const OPENING = arg.members({
  vulnerability: arg.text,
  artifact: arg.text,
  salt: arg.text,
  digest: arg.text,
});

/**
 * The commitment: SHA-256, in lower-case hex, of the opening's canonical JSON (RFC 8785), with the
 * fields `artifact`, `digest`, `salt` and `vulnerability`. It hides the artifact while the salt is
 * secret, and binds to one artifact of one vulnerability: no other opening fits.
 *
 * @throws CanonError for a text with a lone surrogate; ArgumentError `bad_argument`
 */
export function commitmentOf(opening: Opening): string {
  checkArgument(OPENING, opening, 'opening');
  const { vulnerability, artifact, salt, digest } = opening;
  return contentHash({ vulnerability, artifact, salt, digest });
}
