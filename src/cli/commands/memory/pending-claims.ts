import type { Json } from '#base';
import { BELIEVE_ACTION, type Saying } from '#kernel';
import { type EntryRow, type Hash, type PendingPayload, Values } from '#ledger';
import { systemClock } from '#oracle';
import type { Ruling, Trajectory } from '#runtime';
import type { Store } from '#stores';

export type Waiting = Extract<Ruling, { ruling: 'escalated' }>;

/** A claim of an assertion. */
export type SaidClaim = Extract<Saying, { verb: 'assert' }>;

/** What waits, by what names a claim, with the ruling that put it up. */
export type WaitingByName = ReadonlyMap<string, Waiting>;

/**
 * What was said to `assize.believe` in a trajectory and waits by now, as far as this process knows: not what was erased of it before it was
 * read, nor what has expired. Claims that have no name are left out. What was put up is read once, however often this is asked while
 * more is put up; kept are its names, not what it says.
 *
 * @returns what throws a LedgerFault for a blob that is not there
 */
export function waitingByName(
  store: Store,
  trajectory: Trajectory,
  nameOf: (claim: SaidClaim) => string | undefined,
): () => Promise<WaitingByName> {
  let at: Hash | undefined;
  let byName: WaitingByName = new Map();
  let read: ReadonlyMap<Hash, WaitingClaims> = new Map();
  return async () => {
    const { head } = trajectory;
    if (head === at) return byName;
    const values = new Values(store);
    const still = new Map<Hash, WaitingClaims>();
    // Each payload is a copy to whoever looks at it: what was read before is not looked at again.
    for (const open of trajectory.pending())
      still.set(open.id, read.get(open.id) ?? (await claimsIn(store, values, open.id, open.payload, nameOf)));
    const now = systemClock.now();
    const lasting = [...still.values()].filter(({ expires }) => expires === undefined || expires > now);
    byName = new Map(lasting.flatMap(({ named }) => named));
    [read, at] = [still, head];
    return byName;
  };
}

/** Of one that waits. */
interface WaitingClaims {
  readonly named: readonly (readonly [name: string, Waiting])[];
  readonly expires: PendingPayload['expires'];
}

async function claimsIn(
  store: Store,
  values: Values,
  id: Hash,
  payload: PendingPayload,
  nameOf: (claim: SaidClaim) => string | undefined,
): Promise<WaitingClaims> {
  const { proposal, channel, reason, detail, expires } = payload;
  if (proposal.action.name !== BELIEVE_ACTION) return { named: [], expires };
  const held = await values.held<Json>(payload, proposal.action.args);
  if (!('value' in held)) return { named: [], expires };
  const entry = (await store.resolve(id)) as EntryRow;
  const ruling: Waiting = { ruling: 'escalated', pending: id, entry, channel, reason, detail };
  const { sayings } = held.value as unknown as { readonly sayings: readonly Saying[] };
  const named = sayings.flatMap((saying): [string, Waiting][] => {
    const name = saying.verb === 'assert' ? nameOf(saying) : undefined;
    return name === undefined ? [] : [[name, ruling]];
  });
  return { named, expires };
}
