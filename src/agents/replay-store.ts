import type { Instant } from '#canon';
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
  Values,
} from '#ledger';
import { MemoryStore } from '#stores';
import { AgentError } from './errors.ts';

/**
 * Where a run is replayed from. Nothing is written to it. Where agents say what they believe, it has to have the key of claims that the run was
 * recorded with, and all trajectories that have changed the same: a store that was made of an export has no such key.
 */
export type ReplayedLedger = Pick<LedgerStore, 'entries' | 'head' | 'resolve' | 'blob' | 'erasedBy'> &
  Partial<Pick<LedgerStore, 'trajectories'> & Pick<LogStore, 'logIndex'> & Pick<FactStore, 'claimKey'>>;

/** What is ruled on next: the place and time of its entry, or the time of its turn where it left none. */
export interface Moment {
  readonly at: Instant;
  readonly seq?: number;
  readonly id?: Hash;
}

/** A change of a partition, as the ledger that is replayed has it. */
interface Recorded {
  readonly id: Hash;
  readonly trajectory_id: string;
  readonly seq: number;
  readonly version: number;
  readonly system_time: Instant;
}

const PAGE = 1_000;

/**
 * A ledger in memory that one trajectory is made again in. What it does not have itself of blobs and of other trajectories is
 * read from the ledger that is replayed; of the trajectory itself nothing is.
 *
 * What is believed is taken from there too, as it was when the turn was ruled on: by the version that its entry made of a partition, and where
 * it changed none, by what was in the trajectory before, and of what others changed by the places in the log, or by system time where it has none.
 */
export class ReplayStore extends MemoryStore {
  readonly #source: ReplayedLedger;
  readonly #trajectoryId: string;
  readonly #values: Values;
  #moment: Moment = { at: '' };
  #changes: Promise<ReadonlyMap<string, readonly Recorded[]>> | undefined;

  constructor(source: ReplayedLedger, trajectoryId: string) {
    super();
    this.#source = source;
    this.#trajectoryId = trajectoryId;
    this.#values = new Values(source);
  }

  /** From now on what is believed is as it was then. */
  reach(moment: Moment): void {
    this.#moment = moment;
  }

  override async entries(trajectoryId: string, page?: { from?: number; limit?: number }): Promise<EntryRow[]> {
    return trajectoryId === this.#trajectoryId
      ? super.entries(trajectoryId, page)
      : this.#source.entries(trajectoryId, page);
  }

  override async head(trajectoryId: string): Promise<EntryRow | undefined> {
    return trajectoryId === this.#trajectoryId ? super.head(trajectoryId) : this.#source.head(trajectoryId);
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

  /** @throws AgentError `no_claim_key` */
  override async claimKey(): Promise<Uint8Array> {
    const known = await this.#source.claimKey?.();
    if (known !== undefined) return known;
    throw new AgentError(
      'no_claim_key',
      'Somebody says what is believed, and the store has no key of claims that this was recorded with: replay the run from the store that it was recorded in, and not from one that was made of an export.',
    );
  }

  override async commit(batch: Batch): Promise<CommitResult> {
    // What was planned on less than there was is outdated, as it would have been then.
    for (const { partition, reads = [] } of batch.facts ?? [])
      for (const name of [partition, ...reads.map((read) => read.partition)]) await this.#takeIn(name);
    return super.commit(batch);
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

  /** The changes of a partition that there were by then, and that are not here yet. */
  async #takeIn(name: PartitionName): Promise<void> {
    this.#changes ??= this.#readChanges();
    const recorded = (await this.#changes).get(keyOf(name)) ?? [];
    const version = (await super.partition(name))?.version ?? 0;
    const length = (await super.head(this.#trajectoryId))!.seq + 1;
    const made = recorded.find((change) => this.#isOwn(change) && change.seq === this.#moment.seq);
    let last = made === undefined ? recorded.length : recorded.indexOf(made);
    while (made === undefined && last > 0 && !(await this.#isBefore(recorded[last - 1] as Recorded, length))) last--;
    for (const change of recorded.slice(0, last)) if (change.version > version) await this.#take(name, change);
  }

  /** Whether a change was there when what changed nothing of its partition was ruled on. */
  async #isBefore(change: Recorded, length: number): Promise<boolean> {
    if (this.#isOwn(change)) return change.seq < length;
    const { at, id } = this.#moment;
    const [there, here] = await Promise.all(
      [change.id, id].map((each) => (each === undefined ? undefined : this.#source.logIndex?.(each))),
    );
    // The log has entries in the order of their commits, as far as it has them; clocks may differ.
    return there !== undefined && here !== undefined ? there < here : change.system_time <= at;
  }

  async #take(name: PartitionName, { trajectory_id, seq, version }: Recorded): Promise<void> {
    const [row] = await this.#source.entries(trajectory_id, { from: seq, limit: 1 });
    const writes = await factWrites(checkRow(row as EntryRow), this.#values);
    const write = writes.find((one) => keyOf(one.partition) === keyOf(name) && one.version === version) as FactWrite;
    await super.commit({ entries: [], blobs: [], facts: [write] });
  }

  #isOwn({ trajectory_id }: Recorded): boolean {
    return trajectory_id === this.#trajectoryId;
  }

  /** By partition, in the order of their versions; those whose names were erased are nobody's. */
  async #readChanges(): Promise<ReadonlyMap<string, readonly Recorded[]>> {
    const source = this.#source;
    const names = new Map<Hash, string | undefined>();
    const changes = new Map<string, Recorded[]>();
    const all = (await source.trajectories?.()) ?? [{ trajectory_id: this.#trajectoryId }];
    for (const { trajectory_id } of all)
      for (let from = 0; ; from += PAGE) {
        const rows = await source.entries(trajectory_id, { from, limit: PAGE });
        for (const row of rows) {
          if (row.kind !== 'commit') continue;
          const entry = checkRow(row) as Entry<CommitPayload>;
          for (const { partition, version, system_time } of entry.payload.delta.beliefs) {
            if (!names.has(partition.$blob)) {
              const held = await this.#values.held<never>(entry, partition as never);
              names.set(partition.$blob, 'value' in held ? keyOf(held.value as PartitionName) : undefined);
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
