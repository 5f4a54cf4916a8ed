import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import type { DisclosureRecord, DisclosureState } from '../schema.ts';
import { embargoFault, type Known, patchFault } from './preconditions.ts';

/**
 * The patch is checked first: for a record without a fix, the patch is the fault, and not the
 * embargo that ends without it.
 */
export function embargo({ each }: Rules<DisclosureState>): Invariant<DisclosureState>[] {
  const options = {
    reads: ['/queue/*/*/*/embargo', '/knowledge', '/patches'],
    with: ({ organisation, maintainer }: DisclosureRecord, [vulnerability]: readonly string[]) =>
      ({
        embargo: `/queue/${organisation}/${maintainer}/${vulnerability}/embargo`,
        knowledge: `/knowledge/${vulnerability}`,
        patches: `/patches/${vulnerability}`,
      }) as const,
  };
  return [
    each(
      'PATCH_BEFORE_DISCLOSURE',
      '/records/*',
      options,
      (record, { embargo, knowledge, patches }) =>
        judged(patchFault, { record, embargo, knowledge, patches }),
    ),

    each('EMBARGO_ENFORCEMENT', '/records/*', options, (record, { embargo, knowledge, patches }) =>
      judged(embargoFault, { record, embargo, knowledge, patches }),
    ),
  ];
}

/** A draft is not checked until it is published. */
function judged(faultOf: typeof patchFault, known: Known) {
  const { disclosed_at } = known.record;
  const fault = disclosed_at === undefined ? undefined : faultOf(known, disclosed_at);
  return fault === undefined ? pass : reject(fault);
}
