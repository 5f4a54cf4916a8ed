import { isInstance } from '#base';
import {
  checkRow,
  type EntryRow,
  type FactWrite,
  type Hash,
  type Instant,
  LedgerFault,
  type LedgerStore,
  type PartitionState,
  type TrajectoryInfo,
} from '#ledger';

/** A change of a partition that was not compared, as its entry describes it. */
interface UnverifiedChange {
  readonly version: number;
  readonly latest: Instant;
  /** Whether the change starts a branch's partition, at any version. */
  readonly begins: boolean;
}

/** The state of a partition according to the read entries. */
export interface ReadPosition {
  readonly names: Hash;
  /** 0 if no entry has changed it. */
  readonly version: number;
  readonly latest: Instant;
}

const PAGE = 1_000;

/**
 * The possible changes of partitions by unread entries: those that do not verify or follow an entry
 * that does not. An entry that hashes to its id shows its changes. Any other entry may have changed
 * each partition once.
 */
export class UnverifiedChanges {
  readonly #changes: Map<Hash, UnverifiedChange[]> = new Map();
  /** Number of entries with unknown changes. */
  #illegible = 0;

  /** `blocked`: changes of read entries that follow an unread change. */
  static async of(
    store: LedgerStore,
    trajectories: readonly TrajectoryInfo[],
    readOnly: ReadonlyMap<string, number>,
    keptBack: readonly FactWrite[],
  ): Promise<UnverifiedChanges> {
    const unread = new UnverifiedChanges();
    for (const { names, version, system_time: latest, inherit } of keptBack)
      unread.#note(names.hash, { version, latest, begins: inherit !== undefined });
    const lengths = new Map(
      trajectories.map(({ trajectory_id, entries }) => [trajectory_id, entries]),
    );
    for (const [trajectoryId, from] of readOnly)
      await unread.#read(store, trajectoryId, from, lengths.get(trajectoryId));
    return unread;
  }

  /**
   * Whether these changes can have brought a partition from the state of the read entries to the
   * state in the store. Each change is later than the one before, so a version that is ahead alone
   * has no explanation.
   */
  explain(
    read: ReadPosition,
    { version, latest, since }: Pick<PartitionState, 'version' | 'latest' | 'since'>,
  ): boolean {
    const changes = (this.#changes.get(read.names) ?? []).filter(
      (each) => each.version > read.version && each.version <= version,
    );
    const last = changes.reduce<Pick<ReadPosition, 'version' | 'latest'>>(
      (a, b) => (a.version > b.version ? a : b),
      read,
    );
    if (version > last.version && latest <= last.latest) return false;
    // The source's partition had this version where the branch starts.
    const begin = changes.find(({ begins }) => begins);
    const first = begin === undefined ? read.version : begin.version - 1;
    const isBegun = read.version > 0 || begin !== undefined;
    if (since !== undefined && !isBegun && this.#illegible > 0) return true;
    const said = new Set(changes.map((each) => each.version)).size;
    return version - first - said <= this.#illegible;
  }

  async #read(
    store: LedgerStore,
    trajectoryId: string,
    from: number,
    length: number | undefined,
  ): Promise<void> {
    if (length === undefined) {
      // The number of its entries is unknown.
      this.#illegible = Number.POSITIVE_INFINITY;
      return;
    }
    // No store accepts such a name, so its entries cannot be read.
    if (trajectoryId.includes('\0')) {
      this.#illegible += length;
      return;
    }
    // Otherwise the read entries may be the changed ones.
    if (from > 0 && !(await followsWhatWasRead(store, trajectoryId, from))) this.#illegible += from;
    let seq = from;
    while (seq < length) {
      const rows = await store.entries(trajectoryId, { from: seq, limit: PAGE });
      this.#illegible += rows.filter((row) => !this.#isNoted(row)).length;
      const next = rows.length < PAGE ? length : rows.at(-1)!.seq + 1;
      // The missing entries.
      this.#illegible += Math.max(0, next - seq - rows.length);
      seq = next;
    }
  }

  #isNoted(row: EntryRow): boolean {
    try {
      const { payload } = checkRow(row);
      for (const { partition, version, system_time: latest, inherit } of payload.kind === 'commit'
        ? payload.delta.beliefs
        : [])
        this.#note(partition.$blob, { version, latest, begins: inherit !== undefined });
      return true;
    } catch (error) {
      if (isInstance(error, LedgerFault)) return false;
      throw error;
    }
  }

  #note(names: Hash, change: UnverifiedChange): void {
    const there = this.#changes.get(names);
    if (there === undefined) this.#changes.set(names, [change]);
    else there.push(change);
  }
}

async function followsWhatWasRead(
  store: LedgerStore,
  trajectoryId: string,
  from: number,
): Promise<boolean> {
  const [before, first] = await store.entries(trajectoryId, { from: from - 1, limit: 2 });
  return first?.seq === from && first.parent === before?.id;
}
