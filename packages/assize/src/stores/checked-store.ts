import { setImmediate as nextTurn } from 'node:timers/promises';
import { arg } from '#base';
import {
  type Batch,
  type BlobRow,
  type BranchPartition,
  type BranchPartitionQuery,
  type CommitResult,
  type EffectKeyRow,
  type EffectPage,
  type EffectRefusal,
  type EffectStore,
  type EffectWrite,
  type EntryRow,
  type FactHit,
  type FactQuery,
  type FactStore,
  type FactText,
  type FactTextQuery,
  type FactVector,
  type FactVectorQuery,
  type FactVersion,
  type FactWrite,
  type Hash,
  isOwnBatch,
  type Lease,
  type LedgerStore,
  type LoggedTransaction,
  type LogStep,
  type LogStore,
  type OpenEffectPage,
  type PartitionName,
  type PartitionState,
  type SideChange,
  type SidePage,
  type SideRow,
  type SideStore,
  type SnapshotRow,
  type SnapshotStore,
  type TrajectoryInfo,
} from '#ledger';
import type { OracleRow, OracleStore } from '#oracle';
import type { Adoptable, Adoption } from './adoption.ts';
import { StoreArchive } from './archive/store-archive.ts';
import { checkInput, HASH, POSITIVE, SIGNAL, TEXT } from './check-input.ts';
import { effectAnswer } from './effects.ts';
import {
  type EntrySeals,
  type Sealable,
  type SealState,
  type StoredRow,
  unsealedWriterError,
  withoutSeals,
} from './entry-seals.ts';
import {
  checkBranchPartitionQuery,
  checkFactQuery,
  checkTextQuery,
  checkVectorQuery,
  PARTITION,
  VECTORS,
} from './fact-input.ts';
import {
  ADOPTION,
  ANSWER_PAGE,
  BATCH,
  CLAIM_KEY,
  checkPage,
  checkPrefix,
  checkSideChanges,
  EFFECT_PAGE,
  EFFECTS,
  isEmpty,
  LOG_STEP,
  NODE_COUNT,
  OPEN_PAGE,
  ORACLE_ROW,
  SIDE_NAME,
  SIDE_PAGE,
  SNAPSHOT_ROW,
} from './input.ts';
import { COMMITTED, type NativePort, type SealedPage } from './native-port.ts';

/**
 * The ports over any storage of rows. The class rejects arguments that no row can hold before they
 * reach the storage. A read checks its arguments first. A write first checks whether the store is
 * writable.
 */
export abstract class CheckedStore
  implements
    LedgerStore,
    LogStore,
    OracleStore,
    SnapshotStore,
    EffectStore,
    FactStore,
    SideStore,
    Adoptable,
    Sealable
{
  readonly #access: NativePort;
  readonly #archive: StoreArchive;
  readonly #seals: EntrySeals | undefined;
  /** Of the values read since the last turn of other work. */
  #characters = 0;

  abstract readonly readonly: boolean;

  constructor(
    access: NativePort,
    archive: StoreArchive = new StoreArchive(access, undefined),
    seals?: EntrySeals,
  ) {
    this.#access = access;
    this.#archive = archive;
    this.#seals = seals;
  }

  abstract close(): Promise<void>;

  // Not async: async would add three microtask turns between the durable write and every answer.
  commit(batch: Batch): Promise<CommitResult> {
    try {
      const writes = this.#access.writes();
      if (!isOwnBatch(batch)) checkInput(BATCH, batch, 'batch');
      return isEmpty(batch) ? Promise.resolve(COMMITTED) : writes.commit(batch);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async resolve(id: Hash): Promise<EntryRow | undefined> {
    checkInput(HASH, id, 'id');
    return this.#row(await this.#access.read((reads) => reads.resolve(id)));
  }

  async entries(
    trajectoryId: string,
    options?: { from?: number; limit?: number },
  ): Promise<EntryRow[]> {
    checkInput(TEXT, trajectoryId, 'trajectoryId');
    const { from, limit } = checkPage(options);
    return this.#rows(
      await longRead(this.#access.read((reads) => reads.entries(trajectoryId, from, limit))),
    );
  }

  async head(trajectoryId: string): Promise<EntryRow | undefined> {
    checkInput(TEXT, trajectoryId, 'trajectoryId');
    return this.#row(await this.#access.read((reads) => reads.head(trajectoryId)));
  }

  async trajectories(): Promise<TrajectoryInfo[]> {
    return this.#access.read((reads) => reads.trajectories());
  }

  async trajectoriesToReview(): Promise<string[]> {
    for (;;) {
      const names = await this.#access.read((reads) => reads.trajectoriesToReview());
      if (names !== undefined) return names;
      await nextTurn();
    }
  }

  async blob(hash: Hash): Promise<string | undefined> {
    checkInput(HASH, hash, 'hash');
    const text = await this.#archive.blob(hash, () =>
      this.#access.read((reads) => reads.blob(hash)),
    );
    this.#characters += text?.length ?? 0;
    if (this.#characters >= MUCH) {
      this.#characters = 0;
      await nextTurn();
    }
    return text;
  }

  async erasedBy(hash: Hash): Promise<Hash | undefined> {
    checkInput(HASH, hash, 'hash');
    return this.#access.read((reads) => reads.erasedBy(hash));
  }

  async find(prefix: string): Promise<EntryRow[]> {
    const lower = checkPrefix(prefix);
    return this.#rows(await this.#access.read((reads) => reads.find(lower)));
  }

  async oracleGet(key: string): Promise<OracleRow | undefined> {
    checkInput(HASH, key, 'key');
    return this.#access.read((reads) => reads.oracleGet(key));
  }

  async oracleWithin(
    within: string,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<OracleRow[]> {
    checkInput(HASH, within, 'within');
    checkInput(ANSWER_PAGE, page, 'page');
    return this.#access.read((reads) => reads.oracleWithin(within, page));
  }

  async oracleErased(page: {
    readonly after?: string;
    readonly limit: number;
  }): Promise<OracleRow[]> {
    checkInput(ANSWER_PAGE, page, 'page');
    return this.#access.read((reads) => reads.oracleErased(page));
  }

  async oraclePut(row: OracleRow, within?: string): Promise<OracleRow> {
    const writes = this.#access.writes();
    checkInput(arg.optional(HASH), within, 'within');
    checkInput(ORACLE_ROW, row, 'row');
    return writes.oraclePut(row, within);
  }

  async logSize(): Promise<number> {
    return this.#access.read((reads) => reads.logSize());
  }

  async unlogged(limit: number): Promise<EntryRow[]> {
    checkInput(POSITIVE, limit, 'limit');
    return withoutSeals(await this.#access.read((reads) => reads.unlogged(limit)), this.#seals);
  }

  async integrate(step: LogStep): Promise<boolean> {
    const writes = this.#access.writes();
    checkInput(LOG_STEP, step, 'step');
    return writes.integrate(step);
  }

  async logNodes(level: number, from: number, count: number): Promise<(Uint8Array | undefined)[]> {
    checkInput(arg.whole, level, 'level');
    checkInput(arg.whole, from, 'from');
    checkInput(NODE_COUNT, count, 'count');
    return this.#access.read((reads) => reads.logNodes(level, from, count));
  }

  async logIndex(id: Hash): Promise<number | undefined> {
    checkInput(HASH, id, 'id');
    return this.#access.read((reads) => reads.logIndex(id));
  }

  async logged(from: number, limit: number): Promise<EntryRow[]> {
    checkInput(arg.whole, from, 'from');
    checkInput(POSITIVE, limit, 'limit');
    return this.#rows(await longRead(this.#access.read((reads) => reads.logged(from, limit))));
  }

  async snapshot(trajectoryId: string): Promise<SnapshotRow | undefined> {
    checkInput(TEXT, trajectoryId, 'trajectoryId');
    return this.#access.read((reads) => reads.snapshot(trajectoryId));
  }

  async putSnapshot(row: SnapshotRow, erasures: number): Promise<void> {
    const writes = this.#access.writes();
    checkInput(SNAPSHOT_ROW, row, 'row');
    checkInput(arg.whole, erasures, 'erasures');
    // Copies the current values, because the write happens later.
    const { trajectory_id, seq, hash, text } = row;
    return writes.putSnapshot(Object.freeze({ trajectory_id, seq, hash, text }), erasures);
  }

  async erasures(): Promise<number> {
    return this.#access.read((reads) => reads.erasures());
  }

  async dropSnapshots(): Promise<void> {
    return this.#access.writes().dropSnapshots();
  }

  async leaseEffects(signal?: AbortSignal): Promise<Lease> {
    const writes = this.#access.writes();
    checkInput(SIGNAL, signal, 'signal');
    return writes.leaseEffects(signal);
  }

  async adopt(adoption: Adoption): Promise<void> {
    const writes = this.#access.writes();
    checkInput(ADOPTION, adoption, 'adoption');
    return writes.adopt(structuredClone(adoption));
  }

  async adopted(root: Hash): Promise<boolean> {
    checkInput(HASH, root, 'root');
    return this.#access.read((reads) => reads.adopted(root));
  }

  async logEffects(
    effects: EffectWrite,
    blobs: readonly BlobRow[] = [],
  ): Promise<{ readonly status: 'written' } | EffectRefusal> {
    checkInput(EFFECTS, effects, 'effects');
    return effectAnswer(await this.commit({ entries: [], blobs, effects }));
  }

  async openEffects(page: OpenEffectPage = {}): Promise<LoggedTransaction[]> {
    checkInput(OPEN_PAGE, page, 'page');
    return this.#access.read((reads) => reads.openEffects(page));
  }

  async listEffects(page: EffectPage): Promise<LoggedTransaction[]> {
    checkInput(EFFECT_PAGE, page, 'page');
    return this.#access.read((reads) => reads.listEffects(page));
  }

  async effectsOf(epoch: number): Promise<LoggedTransaction | undefined> {
    checkInput(POSITIVE, epoch, 'epoch');
    return this.#access.read((reads) => reads.effectsOf(epoch));
  }

  async effectKey(key: Hash): Promise<EffectKeyRow | undefined> {
    checkInput(HASH, key, 'key');
    return this.#access.read((reads) => reads.effectKey(key));
  }

  async hasEffectLog(): Promise<boolean> {
    return this.#access.read((reads) => reads.hasEffectLog());
  }

  async partition(name: PartitionName): Promise<PartitionState | undefined> {
    checkInput(PARTITION, name, 'name');
    return this.#access.read((reads) => reads.partition(name));
  }

  async facts(query: FactQuery): Promise<FactVersion[]> {
    const checked = checkFactQuery(query);
    return this.#access.read((reads) => reads.facts(checked));
  }

  claimKey(offered: Uint8Array): Promise<Uint8Array>;
  claimKey(): Promise<Uint8Array | undefined>;
  async claimKey(offered?: Uint8Array): Promise<Uint8Array | undefined> {
    if (offered !== undefined) checkInput(CLAIM_KEY, offered, 'offered');
    const known = await this.#access.read((reads) => reads.claimKey());
    if (known !== undefined || offered === undefined) return known;
    return this.#access.writes().claimKey(offered);
  }

  async spaces(): Promise<string[]> {
    return this.#access.read((reads) => reads.spaces());
  }

  async branches(): Promise<{ readonly space: string; readonly branch: string }[]> {
    return this.#access.read((reads) => reads.branches());
  }

  async branchPartitions(query: BranchPartitionQuery): Promise<BranchPartition[]> {
    const checked = checkBranchPartitionQuery(query);
    return this.#access.read((reads) => reads.branchPartitions(checked));
  }

  async factsByText(query: FactTextQuery): Promise<FactHit[]> {
    const checked = checkTextQuery(query);
    return this.#access.read((reads) => reads.factsByText(checked));
  }

  async factsByVector(query: FactVectorQuery): Promise<FactHit[]> {
    const checked = checkVectorQuery(query);
    return this.#access.read((reads) => reads.factsByVector(checked));
  }

  async textsToEmbed(embedder: string, space: string, limit: number): Promise<FactText[]> {
    checkInput(TEXT, embedder, 'embedder');
    checkInput(TEXT, space, 'space');
    checkInput(POSITIVE, limit, 'limit');
    return this.#access.read((reads) => reads.textsToEmbed(embedder, space, limit));
  }

  async putVectors(embedder: string, vectors: readonly FactVector[]): Promise<void> {
    const writes = this.#access.writes();
    checkInput(TEXT, embedder, 'embedder');
    checkInput(VECTORS, vectors, 'vectors');
    return writes.putVectors(embedder, vectors);
  }

  async rebuildFacts(pages: AsyncIterable<readonly FactWrite[]>): Promise<void> {
    return this.#access.writes().rebuildFacts(pages);
  }

  async keepFacts(): Promise<boolean> {
    return this.#access.writes().keepFacts();
  }

  async sideGet(kind: string, key: string): Promise<SideRow | undefined> {
    checkInput(SIDE_NAME, kind, 'kind');
    checkInput(SIDE_NAME, key, 'key');
    return this.#access.read((reads) => reads.sideGet(kind, key));
  }

  async sideList(kind: string, page: SidePage): Promise<SideRow[]> {
    checkInput(SIDE_NAME, kind, 'kind');
    checkInput(SIDE_PAGE, page, 'page');
    const { after = '', limit } = page;
    return this.#access.read((reads) => reads.sideList(kind, { after, limit }));
  }

  async sealState(): Promise<SealState> {
    const isSealed = await this.#access.read((reads) => reads.isSealed?.());
    if (isSealed === false) return 'absent';
    // Only this process writes to a store in memory.
    if (isSealed === undefined) return 'checked';
    if (this.#seals === undefined) return 'unchecked';
    this.#seals.isMarked = true;
    return 'checked';
  }

  async requireSeals(): Promise<boolean> {
    const hasSeals = (await this.#access.read((reads) => reads.hasSeals?.())) ?? false;
    if (hasSeals && this.#seals !== undefined) this.#seals.isMarked = true;
    return hasSeals;
  }

  async sealEntries(onProgress?: (sealed: number) => void): Promise<number> {
    const writes = this.#access.writes();
    const seals = this.#seals;
    if (seals === undefined) throw unsealedWriterError();
    let count = 0;
    for (let after: number | undefined = Number.MIN_SAFE_INTEGER; after !== undefined; ) {
      const page: SealedPage = (await writes.sealSome?.(seals, after)) ?? {
        sealed: 0,
        after: undefined,
      };
      count += page.sealed;
      after = page.after;
      onProgress?.(count);
    }
    return count;
  }

  #rows(rows: StoredRow[]): EntryRow[] | Promise<EntryRow[]> {
    return this.#archive.rows(withoutSeals(rows, this.#seals));
  }

  #row(row: StoredRow | undefined): Promise<EntryRow | undefined> {
    return this.#archive.row(row && withoutSeals([row], this.#seals)[0]);
  }

  async sidePut(changes: readonly SideChange[]): Promise<boolean> {
    const writes = this.#access.writes();
    const checked = checkSideChanges(changes);
    return checked.length === 0 || writes.sidePut(checked);
  }
}

/** A page of this many rows is one of many. */
const LONG = 250;

/** After values of this many characters too: their readers check them in some 20 ms. */
const MUCH = 262_144;

/**
 * The rows of a page. After a long one, other work of the process goes on first: a local file
 * answers immediately, and a walk over a million entries would stop everything else.
 */
async function longRead(read: Promise<StoredRow[]> | StoredRow[]): Promise<StoredRow[]> {
  const rows = await read;
  if (rows.length >= LONG) await nextTurn();
  return rows;
}
