import type { Instant } from 'assize/internal/canon';
import {
  type Batch,
  type BranchPartition,
  type BranchPartitionQuery,
  type CommitPayload,
  type CommitResult,
  checkRow,
  type Entry,
  type EntryRow,
  type FactQuery,
  type FactStore,
  type FactVersion,
  type FactWrite,
  factWrites,
  type Hash,
  type LedgerStore,
  type LogStore,
  type PartitionName,
  type PartitionState,
  ValueReader,
} from 'assize/internal/ledger';
import { TemporaryStore } from 'assize/internal/stores';
import { AgentError } from './errors.ts';

/**
 * The ledger to replay. It is not written. If agents assert facts, it needs the claim key of the
 * recorded run and all trajectories that changed the same partitions. A store made from an export
 * lacks that key.
 */
export type ReplayedLedger = Pick<
  LedgerStore,
  'entries' | 'head' | 'resolve' | 'blob' | 'erasedBy'
> &
  Partial<
    Pick<LedgerStore, 'trajectories'> & Pick<LogStore, 'logIndex'> & Pick<FactStore, 'claimKey'>
  >;

/**
 * The point of the next ruling: position and time of its entry, or the time of its turn if it left
 * no entry.
 */
export interface ReplayPosition {
  readonly at: Instant;
  readonly seq?: number;
  readonly id?: Hash;
}

/** A change of a partition in the replayed ledger. */
interface RecordedChange {
  readonly id: Hash;
  readonly trajectory_id: string;
  readonly seq: number;
  readonly version: number;
  readonly system_time: Instant;
}

const PAGE = 1_000;

/**
 * An in-memory ledger for the replay of one trajectory. Missing blobs and entries of other
 * trajectories are read from the replayed ledger; entries of the trajectory itself are not.
 *
 * Facts come from the replayed ledger too, as of the turn's ruling. If the entry changed a
 * partition, its version determines the facts. Otherwise the facts are the earlier changes of the
 * trajectory, and those of other trajectories by log position. Changes without a log position are
 * compared by system time.
 */
export class ReplayStore extends TemporaryStore {
  readonly #source: ReplayedLedger;
  readonly #trajectoryId: string;
  readonly #values: ValueReader;
  readonly #length: number;
  #moment: ReplayPosition = { at: '' };
  #changes: Promise<ReadonlyMap<string, readonly RecordedChange[]>> | undefined;

  /** `length`: entries of the trajectory that are the record's; later ones are not its facts. */
  constructor(
    source: ReplayedLedger,
    trajectoryId: string,
    length: number = Number.POSITIVE_INFINITY,
  ) {
    super();
    this.#source = source;
    this.#length = length;
    this.#trajectoryId = trajectoryId;
    this.#values = new ValueReader(source);
  }

  /** From now on, facts are as of that moment. */
  seek(moment: ReplayPosition): void {
    this.#moment = moment;
  }

  override async entries(
    trajectoryId: string,
    page?: { from?: number; limit?: number },
  ): Promise<EntryRow[]> {
    return trajectoryId === this.#trajectoryId
      ? super.entries(trajectoryId, page)
      : this.#source.entries(trajectoryId, page);
  }

  override async head(trajectoryId: string): Promise<EntryRow | undefined> {
    return trajectoryId === this.#trajectoryId
      ? super.head(trajectoryId)
      : this.#source.head(trajectoryId);
  }

  override async resolve(id: Hash): Promise<EntryRow | undefined> {
    const own = await super.resolve(id);
    if (own !== undefined) return own;
    const there = await this.#source.resolve(id);
    return there?.trajectory_id === this.#trajectoryId ? undefined : there;
  }

  override async blob(hash: Hash): Promise<string | undefined> {
    return (await super.blob(hash)) ?? this.#source.blob(hash);
  }

  override async erasedBy(hash: Hash): Promise<Hash | undefined> {
    return (await super.erasedBy(hash)) ?? this.#source.erasedBy(hash);
  }

  /** @throws AgentError `wrong_state` */
  override async claimKey(): Promise<Uint8Array> {
    const known = await this.#source.claimKey?.();
    if (known !== undefined) return known;
    throw new AgentError(
      'wrong_state',
      'The run asserts facts, but the store lacks the claim key of the recording. Replay the run from the store that recorded it, not from an import.',
    );
  }

  override async commit(batch: Batch): Promise<CommitResult> {
    // A plan on fewer facts than existed is outdated, as it was in the recorded run.
    for (const { partition, reads = [] } of batch.facts ?? [])
      for (const name of [partition, ...reads.map((read) => read.partition)])
        await this.#takeIn(name);
    // The store of the recording has checked the clock of its host.
    const { clock: _, ...unclocked } = batch;
    return super.commit(unclocked);
  }

  override async partition(name: PartitionName): Promise<PartitionState | undefined> {
    await this.#takeIn(name);
    return super.partition(name);
  }

  override async facts(query: FactQuery): Promise<FactVersion[]> {
    await this.#takeInOf(query);
    return super.facts(query);
  }

  override async branchPartitions(query: BranchPartitionQuery): Promise<BranchPartition[]> {
    await this.#takeInOf(query);
    return super.branchPartitions(query);
  }

  async #takeInOf({ space, subject, predicate, branch }: Partial<PartitionName>): Promise<void> {
    if (space === undefined || subject === undefined || predicate === undefined) return;
    await this.#takeIn({ space, subject, predicate, ...(branch !== undefined && { branch }) });
  }

  /** Loads the changes of the partition up to that moment that are missing here. */
  async #takeIn(name: PartitionName): Promise<void> {
    this.#changes ??= this.#readChanges();
    const recorded = (await this.#changes).get(keyOf(name)) ?? [];
    const version = (await super.partition(name))?.version ?? 0;
    const length = Math.min((await super.head(this.#trajectoryId))!.seq + 1, this.#length);
    const made = recorded.find((change) => this.#isOwn(change) && change.seq === this.#moment.seq);
    let last = made === undefined ? recorded.length : recorded.indexOf(made);
    while (
      made === undefined &&
      last > 0 &&
      !(await this.#isBefore(recorded[last - 1] as RecordedChange, length))
    )
      last--;
    for (const change of recorded.slice(0, last))
      if (change.version > version) await this.#take(name, change);
  }

  /** Whether a change preceded a ruling that changed nothing in its partition. */
  async #isBefore(change: RecordedChange, length: number): Promise<boolean> {
    if (this.#isOwn(change)) return change.seq < length;
    const { at, id } = this.#moment;
    const [there, here] = await Promise.all(
      [change.id, id].map((each) =>
        each === undefined ? undefined : this.#source.logIndex?.(each),
      ),
    );
    // The log orders its entries by commit. Clocks may differ.
    return there !== undefined && here !== undefined ? there < here : change.system_time <= at;
  }

  async #take(name: PartitionName, { trajectory_id, seq, version }: RecordedChange): Promise<void> {
    const [row] = await this.#source.entries(trajectory_id, { from: seq, limit: 1 });
    const writes = await factWrites(checkRow(row as EntryRow), this.#values);
    const write = writes.find(
      (one) => keyOf(one.partition) === keyOf(name) && one.version === version,
    ) as FactWrite;
    await super.commit({ entries: [], blobs: [], facts: [write] });
  }

  #isOwn({ trajectory_id }: RecordedChange): boolean {
    return trajectory_id === this.#trajectoryId;
  }

  /** By partition, in version order. Partitions with erased names are left out. */
  async #readChanges(): Promise<ReadonlyMap<string, readonly RecordedChange[]>> {
    const source = this.#source;
    const names = new Map<Hash, string | undefined>();
    const changes = new Map<string, RecordedChange[]>();
    const all = (await source.trajectories?.()) ?? [{ trajectory_id: this.#trajectoryId }];
    for (const { trajectory_id } of all)
      for (let from = 0; ; from += PAGE) {
        const rows = await source.entries(trajectory_id, { from, limit: PAGE });
        for (const row of rows) {
          if (row.kind !== 'commit') continue;
          const entry = checkRow(row) as Entry<CommitPayload>;
          for (const { partition, version, system_time } of entry.payload.delta.beliefs) {
            if (!names.has(partition.$blob)) {
              const held = await this.#values.read<never>(entry, partition as never);
              names.set(
                partition.$blob,
                'value' in held ? keyOf(held.value as PartitionName) : undefined,
              );
            }
            const key = names.get(partition.$blob);
            if (key === undefined) continue;
            const list = changes.get(key) ?? [];
            changes.set(key, list);
            list.push({ id: entry.id, trajectory_id, seq: entry.seq, version, system_time });
          }
        }
        if (rows.length < PAGE) break;
      }
    for (const list of changes.values()) list.sort((a, b) => a.version - b.version);
    return changes;
  }
}

function keyOf({ space, subject, predicate, branch }: PartitionName): string {
  return JSON.stringify([space, subject, predicate, branch ?? null]);
}
