import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import { commitmentOf } from '../commitment.ts';
import type { DisclosureState } from '../schema.ts';

/**
 * Three rules for one line of Table 2: the opened commitments, and two uniqueness rules over all
 * vulnerabilities.
 */
export function commitmentRegistry({
  each,
  unique,
}: Rules<DisclosureState>): Invariant<DisclosureState>[] {
  return [
    each(
      'COMMITMENT_REGISTRY_CONSISTENCY',
      '/resolutions/*/*',
      {
        reads: ['/commitments'],
        with: ({ hash }, [vulnerability]) => ({
          commitment: `/commitments/${vulnerability}/${hash}`,
        }),
      },
      ({ hash, salt, digest, at }, { commitment }, [vulnerability = '']) => {
        if (commitment === undefined)
          return reject(`no commitment ${hash} to anything of ${vulnerability} was published`);
        if (commitment.at > at) return reject(`${hash} was opened before it was published`);
        return commitmentOf({ vulnerability, artifact: commitment.artifact, salt, digest }) === hash
          ? pass
          : reject(
              `salt and digest do not open ${hash}, the commitment to the ${commitment.artifact}`,
            );
      },
    ),

    unique('COMMITMENT_REGISTRY_CONSISTENCY_PUBLISHED_ONCE', '/commitments/*/*', {
      by: (_, [, hash]) => hash,
    }),

    unique('COMMITMENT_REGISTRY_CONSISTENCY_RESOLVED_ONCE', '/resolutions/*/*', {
      by: ({ hash }) => hash,
    }),
  ];
}
