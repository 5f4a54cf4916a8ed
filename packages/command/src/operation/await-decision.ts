import type { WritChain } from 'assize/host';
import { isAssizeError } from 'assize/internal/base';
import type { Instant } from 'assize/internal/canon';
import type { Hash } from 'assize/internal/ledger';
import {
  type Assize,
  type AwaitOptions,
  type FinalRuling,
  type Ruling,
  Trajectory,
} from 'assize/internal/runtime';
import { ServerError } from './errors.ts';
import type { Request } from './operation.ts';

/** Milliseconds between two checks of what is open and idle. */
export const CHECK_MS = 5_000;

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
 * Waits for a decision and for the calls of its commit, for as long as the caller keeps its
 * authority: its credential counts, and its writ is not revoked.
 *
 * @throws the errors of `Approvals.awaitDecision`; ServerError `unauthenticated`, `forbidden`
 */
export async function awaitDecision(
  { caller, service, signal, requireStanding }: Waiting,
  trajectory: Trajectory,
  { pending, until, writ }: Wait,
): Promise<FinalRuling> {
  const lost = new AbortController();
  const check = async (): Promise<void> => {
    await requireStanding();
    if (writ === undefined) return;
    await Trajectory.catchUp(trajectory);
    if (Trajectory.isRevoked(trajectory, writ))
      throw new ServerError(
        'forbidden',
        `The writ of ${caller.name} in ${trajectory.id} is revoked.`,
        {
          evidence: { principal: caller.name },
        },
      );
  };
  const timer = setInterval(
    () => void check().catch((error: unknown) => lost.abort(error)),
    CHECK_MS,
  ).unref();
  try {
    const ends = AbortSignal.any([signal, lost.signal]);
    const ruling = await trajectory.approvals.awaitDecision(pending, { until, signal: ends });
    return await settledRuling(service.assize, ruling, { until, signal: ends });
  } finally {
    clearInterval(timer);
  }
}

/** The ruling, once the calls of a commit have ended or need a person, or when the time is over. */
export async function settledRuling<Ruled extends Ruling>(
  assize: Pick<Assize, 'awaitEffects' | 'rulingAt'>,
  ruling: Ruled,
  options: AwaitOptions,
): Promise<Ruled> {
  if (ruling.ruling !== 'committed' || ruling.effects !== 'waiting') return ruling;
  await assize.awaitEffects(ruling.entry.id, options).catch((error: unknown) => {
    if (!isAssizeError(error, 'still_pending')) throw error;
  });
  return (await assize.rulingAt(ruling.entry)) as Ruled;
}
