import { type Writ, writId } from '#authority';
import { type Amounts, type EffectStore, type Hash, type LedgerStore, Replayer } from '#ledger';
import { reservedInLog } from '../transactions/log/undo-budget.ts';
import { foldTrajectory } from '../writer/load/fold.ts';

/** A writ that a trajectory knows, with its status after the last entry. */
export interface ListedWrit {
  readonly id: Hash;
  readonly writ: Writ;
  /** The parent first, the root last. */
  readonly chain: readonly Writ[];
  /**
   * The budget of the writ by unit: the granted amounts, the amounts spent or reserved for
   * delegations, the amounts reserved for compensations (each including all descendants), and the
   * remaining amounts.
   */
  readonly granted: Amounts;
  readonly spent: Amounts;
  readonly reserved: Amounts;
  readonly left: Amounts;
  /** The revoked writ, this one or an ancestor, and the entry that revoked it. */
  readonly revoked?: { readonly writ: Hash; readonly by: Hash };
  /** Whether the trajectory was created by its delegation. */
  readonly delegated?: true;
}

/**
 * The writs of a trajectory: its initial writs, presented writs and revoked writs, roots before
 * their descendants. Replays the entries without a domain. Reservations are read from the effect
 * log, if the store keeps one; writes in flight are not visible.
 *
 * @throws LedgerFault for a trajectory that does not verify, or does not exist
 */
export async function listWrits(store: LedgerStore, trajectoryId: string): Promise<ListedWrit[]> {
  // Read first: a concurrent booking is then counted twice rather than not at all.
  const reserved = keepsEffects(store) ? await reservedInLog(store, trajectoryId) : [];
  const { writs, requests } = await foldTrajectory(trajectoryId, new Replayer(store), store);
  const listed: ListedWrit[] = [];
  for (const { writ, chain } of writs.known()) {
    const id = writId(writ);
    const revoked = writs.revokedAbove(id);
    const [by] =
      revoked === undefined
        ? []
        : // An inherited revocation is attributed to the branch entry.
          await store.entries(trajectoryId, { from: requests.seqOf(revoked) ?? 0, limit: 1 });
    const spent = writs.budgets.spent(id);
    const granted = writ.budget ?? {};
    listed.push({
      id,
      writ,
      chain,
      granted,
      spent: Object.fromEntries(Object.entries(spent).filter(([, amount]) => amount > 0)),
      reserved: writs.budgets.reserved(id, reserved),
      left: writs.budgets.left(id, reserved),
      ...(revoked === undefined || by === undefined
        ? {}
        : { revoked: { writ: revoked, by: by.id } }),
      ...(id === writs.delegated ? { delegated: true as const } : {}),
    });
  }
  return listed.sort(
    (one, other) => one.chain.length - other.chain.length || (one.id < other.id ? -1 : 1),
  );
}

function keepsEffects(store: LedgerStore): store is LedgerStore & EffectStore {
  return typeof (store as Partial<EffectStore>).openEffects === 'function';
}
