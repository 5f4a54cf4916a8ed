import { type EntryRow, type Ruling, type Store, systemClock, type Trajectory } from 'assize';
import type { Json } from 'assize/canon';
import { BELIEVE_ACTION, type Saying } from 'assize/kernel';
import { Values } from 'assize/ledger';

export type Waiting = Extract<Ruling, { ruling: 'escalated' }>;

/** A claim of an assertion that somebody was asked about before, and the ruling that put it up. */
export interface WaitingClaim {
  readonly saying: Extract<Saying, { verb: 'assert' }>;
  readonly ruling: Waiting;
}

/**
 * What was said to `assize.believe` in a trajectory and waits: not what was erased of it, nor what has expired.
 *
 * @throws LedgerFault for a blob that is not there
 */
export async function waitingClaims(store: Store, trajectory: Trajectory): Promise<WaitingClaim[]> {
  const values = new Values(store);
  const found: WaitingClaim[] = [];
  for (const { id, payload } of trajectory.pending()) {
    const { proposal, channel, reason, detail, expires } = payload;
    if (proposal.action.name !== BELIEVE_ACTION || (expires !== undefined && expires <= systemClock.now())) continue;
    const held = await values.held<Json>(payload, proposal.action.args);
    if (!('value' in held)) continue;
    const entry = (await store.resolve(id)) as EntryRow;
    const ruling: Waiting = { ruling: 'escalated', pending: id, entry, channel, reason, detail };
    const { sayings } = held.value as unknown as { readonly sayings: readonly Saying[] };
    for (const saying of sayings) if (saying.verb === 'assert') found.push({ saying, ruling });
  }
  return found;
}
