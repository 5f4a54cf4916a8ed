import type { Json } from '#base';
import { BELIEVE_ACTION, type Saying } from '#kernel';
import { type EntryRow, type Hash, type PendingPayload, Values } from '#ledger';
import { systemClock } from '#oracle';
import type { Ruling, Trajectory } from '#runtime';
import type { Store } from '#stores';

export type Waiting = Extract<Ruling, { ruling: 'escalated' }>;

/** A claim of an assertion. */
export type SaidClaim = Extract<Saying, { verb: 'assert' }>;

/** The pending proposals by claim name, with the escalating ruling. */
export type WaitingByName = ReadonlyMap<string, Waiting>;

/**
 * The proposals to `assize.believe` in a trajectory that are pending now, as far as this process
 * knows. Proposals that were erased before the read, or have expired, are missing. Claims without a
 * name are left out. Each proposal is read once, for any number of calls. Only its names are
 * cached, and not its content.
 *
 * @returns a function that throws a LedgerFault for a missing blob
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
    // Each read of a payload makes a copy, so a payload is read only once.
    for (const open of trajectory.pending())
      still.set(open.id, read.get(open.id) ?? (await claimsIn(store, values, open.id, open.payload, nameOf)));
    const now = systemClock.now();
    const lasting = [...still.values()].filter(({ expires }) => expires === undefined || expires > now);
    byName = new Map(lasting.flatMap(({ named }) => named));
    [read, at] = [still, head];
    return byName;
  };
}

/** The claims of one pending proposal. */
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
