import { arg, checkArgument, isAssizeError } from '#base';
import { type Hash, type Instant, isExpired, type LedgerStore, type PendingPayload } from '#ledger';
import type { FoldedTrajectory } from '../writer/load/fold.ts';
import { type TrajectoryLoader, unmade } from '../writer/load/load.ts';
import type { PastFolds } from '../writer/load/past-folds.ts';
import { later } from '../writer/writer.ts';

/** Selects pending proposals. */
export interface PendingQuery {
  /** Default: all trajectories of the store. */
  readonly trajectoryId?: string;
  /** The channel of the proposals, as their entries name it. Default: all channels. */
  readonly channel?: string;
}

/** A pending proposal and its trajectory. */
export interface OpenPending {
  readonly trajectoryId: string;
  /** The id under which the proposal is approved or rejected. */
  readonly id: Hash;
  readonly payload: PendingPayload;
}

export interface PendingPorts {
  readonly store: Pick<LedgerStore, 'entries'>;
  readonly reading: TrajectoryLoader;
  readonly pasts: PastFolds;
  readonly names: () => Promise<string[]>;
  readonly now: () => Instant;
}

/** Same as `Assize.pending`. */
export async function* listPending(
  query: PendingQuery,
  ports: PendingPorts,
): AsyncGenerator<OpenPending> {
  checkArgument(PENDING_QUERY, query, 'query');
  const { trajectoryId, channel } = query;
  for (const name of trajectoryId === undefined ? await ports.names() : [trajectoryId]) {
    const { folded, fault } = await sealedPart(name, ports);
    for (const [id, payload] of folded.chain.open) {
      const isWanted = channel === undefined || payload.channel === channel;
      const now = later(ports.now(), folded.chain.at);
      if (isWanted && !isExpired(payload, now)) yield { trajectoryId: name, id, payload };
    }
    if (fault !== undefined) throw fault;
  }
}

/** The entries before the first entry whose seal does not hold, with the error about it. */
async function sealedPart(
  name: string,
  { store, reading, pasts }: PendingPorts,
): Promise<{ readonly folded: FoldedTrajectory; readonly fault?: unknown }> {
  try {
    return { folded: (await reading.read(name, unmade)).folded };
  } catch (fault) {
    if (!isAssizeError(fault, 'invalid_ledger') || fault.evidence['code'] !== 'unsealed')
      throw fault;
    const [last] = await store.entries(name, { from: Number(fault.evidence['seq']) - 1, limit: 1 });
    if (last === undefined) throw fault;
    return { folded: await pasts.at(name, last.id), fault };
  }
}

const PENDING_QUERY = arg.options<PendingQuery>({ trajectoryId: arg.any, channel: arg.any });
