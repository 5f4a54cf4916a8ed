import type { Json } from 'assize/internal/base';
import { BELIEVE_ACTION, type MemoryStatement } from 'assize/internal/kernel';
import { type EntryRow, type Hash, type PendingPayload, ValueReader } from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import type { Ruling, Trajectory } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';

export type PendingRuling = Extract<Ruling, { ruling: 'escalated' }>;

/** A claim of an assertion. */
export type AssertedClaim = Extract<MemoryStatement, { verb: 'assert' }>;

/** The pending proposals by claim name, with the escalating ruling. */
export type PendingByName = ReadonlyMap<string, PendingRuling>;

/**
 * The proposals to `assize.believe` in a trajectory that this process knows to be pending
 * now. Proposals that were erased before the read, or have expired, are missing. Claims without a
 * name are left out. Each proposal is read once, for any number of calls. Only its names are
 * cached, and not its content.
 *
 * @returns a function that throws a LedgerFault for a missing blob
 */
export function pendingByName(
  store: Store,
  trajectory: Trajectory,
  nameOf: (claim: AssertedClaim) => string | undefined,
): () => Promise<PendingByName> {
  let at: Hash | undefined;
  let byName: PendingByName = new Map();
  let read: ReadonlyMap<Hash, PendingClaims> = new Map();
  return async () => {
    const { head } = trajectory;
    if (head === at) return byName;
    const values = new ValueReader(store);
    const still = new Map<Hash, PendingClaims>();
    // Each read of a payload makes a copy, so a payload is read only once.
    for (const open of trajectory.approvals.pending())
      still.set(
        open.id,
        read.get(open.id) ?? (await claimsIn(store, values, open.id, open.payload, nameOf)),
      );
    const now = systemClock.now();
    const lasting = [...still.values()].filter(
      ({ expires }) => expires === undefined || expires > now,
    );
    byName = new Map(lasting.flatMap(({ named }) => named));
    [read, at] = [still, head];
    return byName;
  };
}

/** The claims of one pending proposal. */
interface PendingClaims {
  readonly named: readonly (readonly [name: string, PendingRuling])[];
  readonly expires: PendingPayload['expires'];
}

async function claimsIn(
  store: Store,
  values: ValueReader,
  id: Hash,
  payload: PendingPayload,
  nameOf: (claim: AssertedClaim) => string | undefined,
): Promise<PendingClaims> {
  const { proposal, channel, reason, detail, expires } = payload;
  if (proposal.action.name !== BELIEVE_ACTION) return { named: [], expires };
  const held = await values.read<Json>(payload, proposal.action.args);
  if (!('value' in held)) return { named: [], expires };
  const entry = (await store.resolve(id)) as EntryRow;
  const ruling: PendingRuling = {
    ruling: 'escalated',
    pending: id,
    entry,
    channel,
    reason,
    detail,
  };
  const { sayings } = held.value as unknown as { readonly sayings: readonly MemoryStatement[] };
  const named = sayings.flatMap((saying): [string, PendingRuling][] => {
    const name = saying.verb === 'assert' ? nameOf(saying) : undefined;
    return name === undefined ? [] : [[name, ruling]];
  });
  return { named, expires };
}
