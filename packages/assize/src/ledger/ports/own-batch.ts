import type { Batch } from './ledger-store.ts';

/**
 * Batches that a writer of this process made for its trajectory, from rows that it had checked. A
 * store of this package does not check their form again. A copy of such a batch is checked.
 */
const OWN = new WeakSet<object>();

export function ownBatch(batch: Batch): Batch {
  OWN.add(batch);
  return batch;
}

export function isOwnBatch(batch: object): boolean {
  return OWN.has(batch);
}
