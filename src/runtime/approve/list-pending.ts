import { arg, checkArgument } from '#base';
import { type Hash, type Instant, isExpired, type PendingPayload } from '#ledger';
import { type TrajectoryLoader, unmade } from '../writer/load.ts';
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

/** Same as `Assize.pending`. */
export async function* listPending(
  query: PendingQuery,
  reading: TrajectoryLoader,
  names: () => Promise<string[]>,
  now: () => Instant,
): AsyncGenerator<OpenPending> {
  checkArgument(PENDING_QUERY, query, 'query');
  const { trajectoryId, channel } = query;
  for (const name of trajectoryId === undefined ? await names() : [trajectoryId]) {
    const { chain } = (await reading.read(name, unmade)).folded;
    for (const [id, payload] of chain.open) {
      const isWanted = channel === undefined || payload.channel === channel;
      if (isWanted && !isExpired(payload, later(now(), chain.at))) yield { trajectoryId: name, id, payload };
    }
  }
}

const PENDING_QUERY = arg.options<PendingQuery>({ trajectoryId: arg.any, channel: arg.any });
