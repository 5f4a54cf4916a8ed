import { type Writ, writId } from '#authority';
import { type Amounts, type EffectStore, type Hash, type LedgerStore, Replayer } from '#ledger';
import { reservedInLog } from '../transactions/log/undo-budget.ts';
import { foldTrajectory } from '../writer/fold.ts';

/** A writ that a trajectory knows, and how it stands there after the last entry. */
export interface ListedWrit {
  readonly id: Hash;
  readonly writ: Writ;
  /** The parent first, the root last. */
  readonly chain: readonly Writ[];
  /**
   * What its budget grants; what was spent of it or set aside for delegations, and what is kept free for undoing what tools have at work,
   * each under itself and all below; and what is left to be spent.
   */
  readonly granted: Amounts;
  readonly spent: Amounts;
  readonly reserved: Amounts;
  readonly left: Amounts;
  /** The writ that was revoked, this one or one above it, and the entry that did so. */
  readonly revoked?: { readonly writ: Hash; readonly by: Hash };
  /** The trajectory was begun by its delegation. */
  readonly delegated?: true;
}

/**
 * The writs of a trajectory: those that it was begun with, those that were presented to it, and those that were revoked in it,
 * roots before what stands below them. What it needs is replayed, and no domain. What is reserved is read off the effect log, where
 * the store keeps one: what a process is about to write there is not seen.
 *
 * @throws LedgerFault for a trajectory that does not verify, or is not there
 */
export async function listWrits(store: LedgerStore, trajectoryId: string): Promise<ListedWrit[]> {
  // First: what is booked meanwhile is rather counted twice than not at all.
  const reserved = keepsEffects(store) ? await reservedInLog(store, trajectoryId) : [];
  const { writs, ruled } = await foldTrajectory(trajectoryId, new Replayer(store), store);
  const listed: ListedWrit[] = [];
  for (const { writ, chain } of writs.known()) {
    const id = writId(writ);
    const revoked = writs.revokedAbove(id);
    const [by] =
      revoked === undefined
        ? []
        : // What a branch took over was revoked by the entry that begins it.
          await store.entries(trajectoryId, { from: ruled.seqOf(revoked) ?? 0, limit: 1 });
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
      ...(revoked === undefined || by === undefined ? {} : { revoked: { writ: revoked, by: by.id } }),
      ...(id === writs.delegated ? { delegated: true as const } : {}),
    });
  }
  return listed.sort((one, other) => one.chain.length - other.chain.length || (one.id < other.id ? -1 : 1));
}

function keepsEffects(store: LedgerStore): store is LedgerStore & EffectStore {
  return typeof (store as Partial<EffectStore>).openEffects === 'function';
}
