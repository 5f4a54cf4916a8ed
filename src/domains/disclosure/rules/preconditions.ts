/**
 * When a vulnerability may be disclosed, as functions of what is on record of it: of a disclosure that was made, and of one
 * that a peer in a group could make. What came after `at` counts for nothing.
 */
import type { Instant } from '#canon';
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
  return patches.some(({ review, released }) => isBy(review, at) && review.robust && isBy(released, at));
}

/**
 * Seed 000, Table 2, PATCH_BEFORE_DISCLOSURE.
 * @returns what stands against it, if something does
 */
export function patchFault({ record, embargo, knowledge, patches }: Known, at: Instant): string | undefined {
  if (isPublic(knowledge, at) || isRobustlyFixed(patches, at)) return undefined;
  if (!isReleased(patches, at) && !isExplained(record)) {
    return 'no fix has been released, and the record does not say why';
  }
  if (isExplained(record)) {
    return isOver(embargo, at) ? undefined : 'without a robust fix it has to wait for the end of its embargo';
  }
  return 'no review has found the released fix robust, and the record does not say why there is no better one';
}

/**
 * Seed 000, Table 2, EMBARGO_ENFORCEMENT, as decisions.md §9 reads it.
 * @returns what stands against it, if something does
 */
export function embargoFault({ record, embargo, knowledge, patches }: Known, at: Instant): string | undefined {
  if (isPublic(knowledge, at)) return undefined;
  if (embargo === undefined) return 'no embargo has been put in force, and it is not publicly known';
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
