import type { MemoryStatement } from '#kernel';
import type { Hash } from '#ledger';
import { claimId, OPEN_END, OPEN_START } from '#memory';

/** A statement that a fact holds. */
export type ClaimStatement = Exclude<MemoryStatement, { verb: 'retract' | 'withdraw' }>;

/** Without a source, the claim belongs to its proposal. */
export function idOf(key: Uint8Array, saying: ClaimStatement, proposalId: Hash, n: number): string {
  return idFrom(key, saying, saying.source ?? `${proposalId}#${n}`);
}

/**
 * A function of the statement and not of its time. The same statement from the same source is the
 * same claim, also without a time of its own.
 */
export function idFrom(key: Uint8Array, saying: ClaimStatement, source: string): string {
  const { space, subject, predicate, object } = saying;
  const given = saying.verb === 'change' ? { from: saying.from } : saying.valid;
  const valid = { from: given?.from ?? OPEN_START, to: (given as { to?: string } | undefined)?.to ?? OPEN_END };
  return claimId(key, { space, subject, predicate, object, valid, sourceEventId: source });
}
