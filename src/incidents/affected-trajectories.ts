import { type CommitPayload, type Hash, type LedgerStore, type Replayed, Replayer, readRow } from '#ledger';
import { type BlastRadius, type ListedWrit, listWrits } from '#runtime';

/** The trajectories of affected entries, each replayed once. */
export class AffectedTrajectories {
  readonly #store: LedgerStore;
  readonly #replayer: Replayer;
  readonly #replayed: Map<string, Promise<Replayed>> = new Map();
  readonly #writs: Map<string, Promise<readonly ListedWrit[]>> = new Map();

  constructor(store: LedgerStore) {
    this.#store = store;
    this.#replayer = new Replayer(store);
  }

  /** @throws LedgerFault for a trajectory that does not verify */
  replayed(id: string): Promise<Replayed> {
    return cached(this.#replayed, id, () => this.#replayer.replay(id));
  }

  /** The writs that a trajectory knows. @throws LedgerFault */
  writsIn(id: string): Promise<readonly ListedWrit[]> {
    return cached(this.#writs, id, () => listWrits(this.#store, id));
  }

  async exists(id: string): Promise<boolean> {
    return (await this.#store.head(id)) !== undefined;
  }

  /** The id of the writ under which an entry was made. */
  async writOf(id: Hash): Promise<Hash | undefined> {
    const row = await this.#store.resolve(id);
    if (row === undefined) return undefined;
    const { payload } = readRow(row);
    if (payload.kind === 'pending_approval') return payload.proposal.writ_id;
    return (payload as Partial<CommitPayload>).writ_id;
  }
}

function cached<T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** The trajectories of affected entries, in the order of the log. */
export function trajectoriesOf({ entries }: Pick<BlastRadius, 'entries'>): readonly string[] {
  return [...new Set(entries.map(({ trajectoryId }) => trajectoryId))];
}
