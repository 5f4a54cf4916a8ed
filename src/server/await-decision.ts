import type { Instant } from '#canon';
import type { Hash } from '#ledger';
import { type FinalRuling, Trajectory, type WritChain } from '#runtime';
import { ServerError } from './errors.ts';
import type { Request } from './operations/operation.ts';
import { STANDING_MS } from './principals/standings.ts';

/** The parts of a request that waits. */
export type Waiting = Pick<
  Request<undefined, undefined, undefined>,
  'caller' | 'service' | 'signal' | 'requireStanding' | 'traceparent'
>;

/** A wait of a request for the decision about a pending proposal. */
export interface Wait {
  readonly pending: Hash;
  readonly until: Instant;
  /** The writ of the waiting agent. Undefined for a reader of the ledger. */
  readonly writ: WritChain | undefined;
}

/**
 * Waits for a decision for as long as the caller keeps its authority: its credential counts, and
 * its writ is not revoked.
 *
 * @throws the errors of `Approvals.awaitDecision`; ServerError `unauthenticated`, `forbidden`
 */
export async function awaitDecision(
  { caller, signal, requireStanding }: Waiting,
  trajectory: Trajectory,
  { pending, until, writ }: Wait,
): Promise<FinalRuling> {
  const lost = new AbortController();
  const check = async (): Promise<void> => {
    await requireStanding();
    if (writ === undefined) return;
    await Trajectory.catchUp(trajectory);
    if (Trajectory.isRevoked(trajectory, writ))
      throw new ServerError('forbidden', `The writ of ${caller.name} in ${trajectory.id} is revoked.`, {
        evidence: { principal: caller.name },
      });
  };
  const timer = setInterval(() => void check().catch((error: unknown) => lost.abort(error)), STANDING_MS).unref();
  try {
    const ends = AbortSignal.any([signal, lost.signal]);
    return await trajectory.approvals.awaitDecision(pending, { until, signal: ends });
  } finally {
    clearInterval(timer);
  }
}
