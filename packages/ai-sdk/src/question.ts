import type { HeldCall } from '@assize/gate/internal/calls';

const DIGEST = /^digest: ([0-9a-f]{64})$/m;

/**
 * The reason of the SDK's question about a call: the rules that ask, and exactly which call. A call
 * that waits for another one has no digest.
 */
export function questionOf({
  reason,
  digest,
  page,
}: Pick<HeldCall, 'reason' | 'digest' | 'page'>): string {
  const exactly = digest === undefined ? [] : [`digest: ${digest}`];
  return [reason, ...exactly, ...(page === undefined ? [] : [page])].join('\n');
}

/** The digest that a question has shown. Undefined for a question without a reason. */
export function digestIn(reason: string | undefined): string | undefined {
  return DIGEST.exec(reason ?? '')?.[1];
}
