import { form, requireForm } from '#base';
import { keyedHash, plainText } from '#canon';
import { requireText } from './fact.ts';
import { type Period, readPeriod } from './period.ts';

/** One saying of one thing: what it says, and from which event it is known. */
export interface Claim {
  readonly space: string;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly valid: Period;
  /** The caller's own name of where it was heard: the same event heard again is the same claim, the same thing said again is another. */
  readonly sourceEventId: string;
}

/**
 * The id of a claim, which becomes the `fact_id` and the lineage of its rows: HMAC-SHA-256 under the key of the store, 64 hex digits.
 * It says nothing of the content to who lacks the key, also when the content is erased (decisions §6.8), and it does not depend on
 * entry, time or order, so that requests are the same when they are made again. It is of the object as it was said, letter by letter: the
 * same in another form (`objectKey`) is another claim, which says the same.
 * @throws MemoryError `bad_text`, `no_instant`, `empty_period`, `reversed_period`; ArgumentError `bad_argument`, also for a key of less
 * than 16 bytes
 */
export function claimId(key: Uint8Array, claim: Claim): string {
  requireForm(form.object, claim, 'claim');
  const { space, subject, predicate, object, sourceEventId } = claim;
  for (const [name, text] of Object.entries({ space, subject, predicate, object })) requireText(text, name);
  requireText(sourceEventId, 'sourceEventId', 'source of a claim, its sourceEventId,');
  const { from, to } = readPeriod(claim.valid, 'claim.valid');
  return keyedHash(key, plainText({ from, object, predicate, sourceEventId, space, subject, to }));
}
