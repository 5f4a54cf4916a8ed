import { parseWrit, writId } from 'assize/internal/authority';
import type { Json } from 'assize/internal/base';
import {
  type CommitPayload,
  type Hash,
  type LedgerStore,
  type Replayed,
  Replayer,
  readRow,
} from 'assize/internal/ledger';
import { type AffectedEntry, type ListedWrit, listWrits } from 'assize/internal/runtime';
import type { BlastRadius } from '#blast';

/** A writ with those above it, the root last. */
export type UsedWrit = Pick<ListedWrit, 'id' | 'writ' | 'chain'>;

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

  /** The writ under which an entry was made, as its trajectory knows it; that of a delegation. */
  async writOf({
    id,
    trajectoryId,
  }: Pick<AffectedEntry, 'id' | 'trajectoryId'>): Promise<UsedWrit | undefined> {
    const row = await this.#store.resolve(id);
    if (row === undefined) return undefined;
    const { payload } = readRow(row);
    if (payload.kind === 'delegation') return this.#delegated(payload.writ, trajectoryId);
    const used =
      payload.kind === 'pending_approval'
        ? payload.proposal.writ_id
        : (payload as Partial<CommitPayload>).writ_id;
    return this.#known(used, trajectoryId);
  }

  async #known(id: Hash | undefined, trajectoryId: string): Promise<UsedWrit | undefined> {
    return id === undefined
      ? undefined
      : (await this.writsIn(trajectoryId)).find((each) => each.id === id);
  }

  /** The writ of the child trajectory. */
  async #delegated(given: Json, trajectoryId: string): Promise<UsedWrit> {
    const writ = parseWrit(given);
    const above = await this.#known((writ.parent ?? undefined) as Hash | undefined, trajectoryId);
    return {
      id: writId(writ) as Hash,
      writ,
      chain: above === undefined ? [] : [above.writ, ...above.chain],
    };
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
