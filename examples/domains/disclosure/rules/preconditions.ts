/**
 * The preconditions of a disclosure, as functions of the record: for a disclosure that was made,
 * and for a possible one of a peer in a group. Records after `at` do not count.
 */
import type { Instant } from 'assize/internal/canon';
import type { DisclosureRecord, EmbargoSpec, Patch, PublicKnowledge } from '../schema.ts';
import { isBy } from '../time.ts';

export interface Known {
  readonly record: DisclosureRecord;
  readonly embargo: EmbargoSpec | undefined;
  readonly knowledge: PublicKnowledge | undefined;
  readonly patches: readonly Patch[] | undefined;
}

export function isPublic(knowledge: PublicKnowledge | undefined, at: Instant): boolean {
  return knowledge?.status === 'publicly-known' && knowledge.since <= at;
}

/** A fix that was developed, found robust in a review, and released. */
export function isRobustlyFixed(patches: readonly Patch[] = [], at: Instant): boolean {
  return patches.some(
    ({ review, released }) => isBy(review, at) && review.robust && isBy(released, at),
  );
}

/**
 * Agentic Redux, Table 2, PATCH_BEFORE_DISCLOSURE.
 * @returns the obstacle, if there is one
 */
export function patchFault(
  { record, embargo, knowledge, patches }: Known,
  at: Instant,
): string | undefined {
  if (isPublic(knowledge, at) || isRobustlyFixed(patches, at)) return undefined;
  if (!isReleased(patches, at) && !isExplained(record)) {
    return 'no fix has been released, and the record does not say why';
  }
  if (isExplained(record)) {
    return isOver(embargo, at)
      ? undefined
      : 'without a robust fix the disclosure must wait for the end of the embargo';
  }
  return 'no review found the released fix robust, and the record does not explain the missing better fix';
}

/**
 * Agentic Redux, Table 2, EMBARGO_ENFORCEMENT, as read in docs/decisions/019-shipped-domains.md.
 * @returns the obstacle, if there is one
 */
export function embargoFault(
  { record, embargo, knowledge, patches }: Known,
  at: Instant,
): string | undefined {
  if (isPublic(knowledge, at)) return undefined;
  if (embargo === undefined)
    return 'no embargo was started, and the vulnerability is not publicly known';
  if (!isOver(embargo, at)) return `it is under embargo until ${embargo.deadline}`;
  return isReleased(patches, at) || isExplained(record)
    ? undefined
    : 'no patch was released by the end of the embargo, and the record does not say why';
}

export function isOver(embargo: EmbargoSpec | undefined, at: Instant): boolean {
  return embargo !== undefined && embargo.deadline <= at;
}

function isReleased(patches: readonly Patch[] = [], at: Instant): boolean {
  return patches.some(({ released }) => isBy(released, at));
}

function isExplained({ patch_unavailable = '' }: DisclosureRecord): boolean {
  return patch_unavailable.trim() !== '';
}
