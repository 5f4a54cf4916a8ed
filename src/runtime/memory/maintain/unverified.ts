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

/** A change of a partition that was not compared, as far as its entry says what it was. */
interface UnreadChange {
  readonly version: number;
  readonly latest: Instant;
  /** Whether a branch's partition begins with it, at whatever version. */
  readonly begins: boolean;
}

/** How far entries that were read have come with a partition. */
export interface ReadTo {
  readonly names: Hash;
  /** 0 where none has changed it. */
  readonly version: number;
  readonly latest: Instant;
}

const PAGE = 1_000;

/**
 * What entries may have changed of partitions that were not to be read, because they do not verify or follow one that does not. Of an entry that
 * hashes to its id it is known what it changed; any other one may have changed each partition once.
 */
export class UnreadChanges {
  readonly #changes: Map<Hash, UnreadChange[]> = new Map();
  /** Entries of which nobody can tell what they have changed. */
  #illegible = 0;

  /** `keptBack`: changes of entries that were read, behind one that was not. */
  static async of(
    store: LedgerStore,
    trajectories: readonly TrajectoryInfo[],
    readOnly: ReadonlyMap<string, number>,
    keptBack: readonly FactWrite[],
  ): Promise<UnreadChanges> {
    const unread = new UnreadChanges();
    for (const { names, version, system_time: latest, inherit } of keptBack)
      unread.#note(names.hash, { version, latest, begins: inherit !== undefined });
    const lengths = new Map(trajectories.map(({ trajectory_id, entries }) => [trajectory_id, entries]));
    for (const [trajectoryId, from] of readOnly)
      await unread.#read(store, trajectoryId, from, lengths.get(trajectoryId));
    return unread;
  }

  /**
   * Whether a partition can have come by these to where the store has it, from where entries that were read have left it. Each change is later
   * than the one before, so that a version that is ahead alone was not made by any.
   */
  explain(read: ReadTo, { version, latest, since }: Pick<PartitionState, 'version' | 'latest' | 'since'>): boolean {
    const changes = (this.#changes.get(read.names) ?? []).filter(
      (each) => each.version > read.version && each.version <= version,
    );
    const last = changes.reduce<Pick<ReadTo, 'version' | 'latest'>>((a, b) => (a.version > b.version ? a : b), read);
    if (version > last.version && latest <= last.latest) return false;
    // What a branch begins with was changed so often in its source.
    const begin = changes.find(({ begins }) => begins);
    const first = begin === undefined ? read.version : begin.version - 1;
    const isBegun = read.version > 0 || begin !== undefined;
    if (since !== undefined && !isBegun && this.#illegible > 0) return true;
    const said = new Set(changes.map((each) => each.version)).size;
    return version - first - said <= this.#illegible;
  }

  async #read(store: LedgerStore, trajectoryId: string, from: number, length: number | undefined): Promise<void> {
    if (length === undefined) {
      // Nobody knows how long it was.
      this.#illegible = Number.POSITIVE_INFINITY;
      return;
    }
    // A name that no store takes: what it has can't be asked for.
    if (trajectoryId.includes('\0')) {
      this.#illegible += length;
      return;
    }
    // Else it may be what was read that is not what it was.
    if (from > 0 && !(await followsWhatWasRead(store, trajectoryId, from))) this.#illegible += from;
    let seq = from;
    while (seq < length) {
      const rows = await store.entries(trajectoryId, { from: seq, limit: PAGE });
      this.#illegible += rows.filter((row) => !this.#isNoted(row)).length;
      const next = rows.length < PAGE ? length : rows.at(-1)!.seq + 1;
      // Those that are gone.
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
      if (error instanceof LedgerFault) return false;
      throw error;
    }
  }

  #note(names: Hash, change: UnreadChange): void {
    const there = this.#changes.get(names);
    if (there === undefined) this.#changes.set(names, [change]);
    else there.push(change);
  }
}

async function followsWhatWasRead(store: LedgerStore, trajectoryId: string, from: number): Promise<boolean> {
  const [before, first] = await store.entries(trajectoryId, { from: from - 1, limit: 2 });
  return first?.seq === from && first.parent === before?.id;
}
