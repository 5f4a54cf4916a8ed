import { type Invariant, pass, type Rules, reject } from '#kernel';
import type { DisclosureState } from '../schema.ts';

/**
 * A slice of Patch Tracking or Commitment Management holds one vulnerability, by its role's footprint; what could join two
 * slices is the agent that is assigned to both. An agent works for one organisation at a time, and each vulnerability that
 * it is assigned to is one of that organisation or has been disclosed: then no two undisclosed ones are of different
 * organisations, which is what comparing them in pairs would find, at the cost of one comparison each.
 */
export function confinement({ each }: Rules<DisclosureState>): Invariant<DisclosureState>[] {
  return [
    each(
      'RECEIVING_ORG_CONFINEMENT',
      '/assignments/*/vulnerabilities/*',
      {
        reads: ['/assignments/*/organisation', '/vulnerabilities/*/organisation', '/records/*/disclosed_at'],
        with: (_, [agent, vulnerability]) => ({
          serves: `/assignments/${agent}/organisation`,
          organisation: `/vulnerabilities/${vulnerability}/organisation`,
          disclosed: `/records/${vulnerability}/disclosed_at`,
        }),
      },
      (_, { serves, organisation, disclosed }, [agent, vulnerability]) =>
        disclosed !== undefined || (organisation !== undefined && organisation === serves)
          ? pass
          : reject(`${agent} would serve ${serves} and know of ${vulnerability}, undisclosed, of ${organisation}`),
    ),
  ];
}
