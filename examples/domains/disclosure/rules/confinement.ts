import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import type { DisclosureState } from '../schema.ts';

/**
 * A slice of Patch Tracking or Commitment Management holds one vulnerability, by its role's
 * footprint. Only an agent that is assigned to both could join two slices. An agent works for one
 * organisation at a time, and each of its assigned vulnerabilities belongs to that organisation or
 * has been disclosed. So no two undisclosed ones belong to different organisations. A comparison of
 * all pairs would find the same, but this costs one comparison each.
 */
export function confinement({ each }: Rules<DisclosureState>): Invariant<DisclosureState>[] {
  return [
    each(
      'RECEIVING_ORG_CONFINEMENT',
      '/assignments/*/vulnerabilities/*',
      {
        reads: [
          '/assignments/*/organisation',
          '/vulnerabilities/*/organisation',
          '/records/*/disclosed_at',
        ],
        with: (_, [agent, vulnerability]) => ({
          serves: `/assignments/${agent}/organisation`,
          organisation: `/vulnerabilities/${vulnerability}/organisation`,
          disclosed: `/records/${vulnerability}/disclosed_at`,
        }),
      },
      (_, { serves, organisation, disclosed }, [agent, vulnerability]) =>
        disclosed !== undefined || (organisation !== undefined && organisation === serves)
          ? pass
          : reject(
              `${agent} would serve ${serves} and know of ${vulnerability}, undisclosed, of ${organisation}`,
            ),
    ),
  ];
}
