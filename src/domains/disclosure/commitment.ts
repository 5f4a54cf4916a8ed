/** Commitments to what is held back: published while it is secret, opened when it is disclosed. */

import { form, requireForm } from '#base';
import { contentHash } from '#canon';
import type { Artifact } from './schema.ts';

/** What a commitment binds. */
export interface Opening {
  readonly vulnerability: string;
  readonly artifact: Artifact;
  /** So much chance that nobody finds the digest by trying: 32 random bytes in hex, say. */
  readonly salt: string;
  /** SHA-256 of the artifact, in hex. */
  readonly digest: string;
}

const OPENING = form.members({
  vulnerability: form.text,
  artifact: form.text,
  salt: form.text,
  digest: form.text,
});

/**
 * The commitment: SHA-256, in lower-case hex, of the opening's canonical JSON (RFC 8785), whose members are `artifact`,
 * `digest`, `salt` and `vulnerability`. It hides the artifact as long as the salt is secret, and it binds to one artifact
 * of one vulnerability: nothing else opens it.
 *
 * @throws CanonError for a text with a lone surrogate; ArgumentError `bad_argument`
 */
export function commitmentOf(opening: Opening): string {
  requireForm(OPENING, opening, 'opening');
  const { vulnerability, artifact, salt, digest } = opening;
  return contentHash({ vulnerability, artifact, salt, digest });
}
