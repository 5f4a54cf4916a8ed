import { form, requireForm } from '#base';
import type { Hash, PendingPayload } from '#ledger';
import { type Reading, unmade } from '../writer/load.ts';

/** Which of what waits is asked for. */
export interface PendingQuery {
  /** Default: all of the store. */
  readonly trajectoryId?: string;
  /** What waits for this channel, as the entries name it. Default: all of them. */
  readonly channel?: string;
}

/** Something that waits for a person, and where. */
export interface OpenPending {
  readonly trajectoryId: string;
  /** Under which it is approved or rejected. */
  readonly id: Hash;
  readonly payload: PendingPayload;
}

/** As `Assize.pending`. */
export async function* pendingIn(
  query: PendingQuery,
  reading: Reading,
  names: () => Promise<string[]>,
): AsyncGenerator<OpenPending> {
  requireForm(PENDING_QUERY, query, 'query');
  const { trajectoryId, channel } = query;
  for (const name of trajectoryId === undefined ? await names() : [trajectoryId]) {
    const { chain } = (await reading.read(name, unmade)).folded;
    for (const [id, payload] of chain.open)
      if (channel === undefined || payload.channel === channel) yield { trajectoryId: name, id, payload };
  }
}

const PENDING_QUERY = form.options<PendingQuery>({ trajectoryId: form.any, channel: form.any });
