import { keyedHash, plainText } from '#canon';
import { type Period, readPeriod } from './period.ts';

/** One assertion: its content and its source event. */
export interface Claim {
  readonly space: string;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly valid: Period;
  /**
   * The caller's name of the source event. The same event always makes the same claim; the same
   * content from another event makes another claim.
   */
  readonly sourceEventId: string;
}

/**
 * The id of a claim: HMAC-SHA-256 under the store's key, 64 hex digits. It becomes the `fact_id`
 * and the lineage of its rows. Without the key it reveals nothing about the content, even after the
 * content was erased (docs/decisions/012-erasable-values.md). It does not depend on entry, time or
 * order, so repeated requests have the same id. It uses the exact object: another form of the
 * object (`objectKey`) is another claim with the same meaning.
 * @throws MemoryError `no_instant`, `empty_period`, `reversed_period`
 */
export function claimId(key: Uint8Array, claim: Claim): string {
  const { space, subject, predicate, object, sourceEventId } = claim;
  const { from, to } = readPeriod(claim.valid);
  return keyedHash(key, plainText({ from, object, predicate, sourceEventId, space, subject, to }));
}
