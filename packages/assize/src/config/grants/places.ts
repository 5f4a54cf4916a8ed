import { parseWrit, type Writ } from '#authority';
import { LruCache } from '#base';
import { type BranchPayload, type LedgerReader, type RootPayload, readRow } from '#ledger';
import type { WritChain } from '#runtime';

const CACHED_MAX = 10_000;
/** A branch of a branch, and so on. Beyond this, no grant counts. */
const BRANCHES_MAX = 64;

/** The parts of a trajectory's first entry that decide about grants there. They never change. */
export interface Place {
  /** The domain with which the trajectory begins. */
  readonly domain: string;
  /**
   * Whether the trajectory was created by a delegation, or is a branch of such a trajectory. No
   * grant counts there.
   */
  readonly isDelegated: boolean;
  /** The writ of the delegation that created the trajectory. */
  readonly delegated?: WritChain;
}

/** Reads the first entries of trajectories, and keeps what it has read. */
export class Places {
  readonly #store: Pick<LedgerReader, 'entries'>;
  readonly #read: LruCache<Promise<Place | undefined>> = new LruCache(CACHED_MAX);

  constructor(store: Pick<LedgerReader, 'entries'>) {
    this.#store = store;
  }

  /** Undefined for a trajectory that does not exist. @throws LedgerFault */
  async find(trajectoryId: string): Promise<Place | undefined> {
    return this.#find(trajectoryId, BRANCHES_MAX);
  }

  async #find(trajectoryId: string, depth: number): Promise<Place | undefined> {
    try {
      const place = await this.#read.get(trajectoryId, () => this.#load(trajectoryId, depth));
      if (place === undefined) this.#read.delete(trajectoryId);
      return place;
    } catch (error) {
      this.#read.delete(trajectoryId);
      throw error;
    }
  }

  async #load(trajectoryId: string, depth: number): Promise<Place | undefined> {
    const [first] = await this.#store.entries(trajectoryId, { from: 0, limit: 1 });
    if (first === undefined) return undefined;
    const begun = readRow(first).payload as RootPayload | BranchPayload;
    if (begun.kind === 'root') return rootPlace(begun);
    const source =
      depth === 0 ? undefined : await this.#find(begun.source_trajectory_id, depth - 1);
    return { domain: begun.domain.name, isDelegated: source?.isDelegated ?? true };
  }
}

function rootPlace({ domain, delegated_from, writs }: RootPayload): Place {
  if (delegated_from === undefined) return { domain: domain.name, isDelegated: false };
  const [writ, ...chain] = writs.map((link) => parseWrit(link)) as [Writ, ...Writ[]];
  return { domain: domain.name, isDelegated: true, delegated: { writ, chain } };
}
