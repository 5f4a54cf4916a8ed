import { setImmediate as nextTurn } from 'node:timers/promises';
import { arg, isAssizeError } from '#base';
import type {
  Batch,
  BlobRow,
  BranchPartition,
  BranchPartitionQuery,
  CommitResult,
  EffectKeyRow,
  EffectPage,
  EffectRefusal,
  EffectStore,
  EffectWrite,
  EntryRow,
  FactHit,
  FactQuery,
  FactStore,
  FactText,
  FactTextQuery,
  FactVector,
  FactVectorQuery,
  FactVersion,
  FactWrite,
  Hash,
  Lease,
  LedgerStore,
  LoggedTransaction,
  LogStep,
  LogStore,
  OpenEffectPage,
  PartitionName,
  PartitionState,
  SideChange,
  SidePage,
  SideRow,
  SideStore,
  SnapshotRow,
  SnapshotStore,
  TrajectoryInfo,
} from '#ledger';
import type { OracleRow, OracleStore } from '#oracle';
import type { Adoptable, Adoption } from './adoption.ts';
import type { ArchiveAccess } from './archive/access.ts';
import { ArchivedTexts, isArchivedBlob, isArchivedRow } from './archive/archived-texts.ts';
import { archivePlace } from './archive/open-place.ts';
import type { ArchivePlace } from './archive/place.ts';
import type { ArchiveReads, ArchiveState } from './archive/port.ts';
import { notScrubbed, scrubArchive } from './archive/scrub-archive.ts';
import { SegmentReader } from './archive/segment-reader.ts';
import { checkInput, HASH, POSITIVE, SIGNAL, TEXT } from './check-input.ts';
import { effectAnswer } from './effects.ts';
import { StoreError } from './errors.ts';
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
import { COMMITTED, type NativePort } from './native-port.ts';

/**
 * The ports over any storage of rows. The class rejects arguments that no row can hold before they
 * reach the storage. A read checks its arguments first. A write first checks whether the store is
 * writable.
 */
export abstract class CheckedStore
  implements LedgerStore, LogStore, OracleStore, SnapshotStore, EffectStore, FactStore, SideStore, Adoptable
{
  readonly #access: NativePort;
  readonly #place: ArchivePlace | undefined;
  readonly #segments: SegmentReader | undefined;
  readonly #texts: ArchivedTexts;

  abstract readonly readonly: boolean;

  /**
   * `archive`: the place of the store's archive.
   *
   * @throws StoreError `archive_unknown`
   */
  constructor(access: NativePort, archive?: string) {
    this.#access = access;
    this.#place = archive === undefined ? undefined : archivePlace(archive);
    this.#segments = this.#place && new SegmentReader(this.#place);
    this.#texts = new ArchivedTexts((step) => this.#readArchive(step), this.#segments);
  }

  abstract close(): Promise<void>;

  // Not async: async would add three microtask turns between the durable write and every answer.
  commit(batch: Batch): Promise<CommitResult> {
    try {
      const writes = this.#access.writes();
      checkInput(BATCH, batch, 'batch');
      return isEmpty(batch) ? Promise.resolve(COMMITTED) : writes.commit(batch);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async resolve(id: Hash): Promise<EntryRow | undefined> {
    checkInput(HASH, id, 'id');
    return this.#whole(await this.#access.read((reads) => reads.resolve(id)));
  }

  async entries(trajectoryId: string, options?: { from?: number; limit?: number }): Promise<EntryRow[]> {
    checkInput(TEXT, trajectoryId, 'trajectoryId');
    const { from, limit } = checkPage(options);
    return this.#wholes(await longRead(this.#access.read((reads) => reads.entries(trajectoryId, from, limit))));
  }

  async head(trajectoryId: string): Promise<EntryRow | undefined> {
    checkInput(TEXT, trajectoryId, 'trajectoryId');
    return this.#whole(await this.#access.read((reads) => reads.head(trajectoryId)));
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
    const read = (): Promise<string | undefined> | string | undefined => this.#access.read((reads) => reads.blob(hash));
    const text = await read();
    return text !== undefined && isArchivedBlob(hash, text) ? this.#texts.blob(hash, text, read) : text;
  }

  async erasedBy(hash: Hash): Promise<Hash | undefined> {
    checkInput(HASH, hash, 'hash');
    return this.#access.read((reads) => reads.erasedBy(hash));
  }

  async find(prefix: string): Promise<EntryRow[]> {
    const lower = checkPrefix(prefix);
    return this.#wholes(await this.#access.read((reads) => reads.find(lower)));
  }

  async oracleGet(key: string): Promise<OracleRow | undefined> {
    checkInput(HASH, key, 'key');
    return this.#access.read((reads) => reads.oracleGet(key));
  }

  async oracleWithin(within: string, page: { readonly after?: string; readonly limit: number }): Promise<OracleRow[]> {
    checkInput(HASH, within, 'within');
    checkInput(ANSWER_PAGE, page, 'page');
    return this.#access.read((reads) => reads.oracleWithin(within, page));
  }

  async oracleErased(page: { readonly after?: string; readonly limit: number }): Promise<OracleRow[]> {
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
    return this.#access.read((reads) => reads.unlogged(limit));
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
    return this.#wholes(await longRead(this.#access.read((reads) => reads.logged(from, limit))));
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

  async sidePut(changes: readonly SideChange[]): Promise<boolean> {
    const writes = this.#access.writes();
    const checked = checkSideChanges(changes);
    return checked.length === 0 || writes.sidePut(checked);
  }

  /** The record of the archive in the database. */
  protected async readArchiveState(): Promise<ArchiveState | undefined> {
    return this.#archiveReads().archive();
  }

  /**
   * The parts that an archiving run of this store works with.
   *
   * @throws StoreError `archive_not_named`, `archive_refused`
   */
  protected archiveAccess(): ArchiveAccess {
    const { archived } = this.#access.writes();
    if (archived === undefined) throw new StoreError('archive_refused', 'This store has no archive.');
    if (this.#place === undefined || this.#segments === undefined) throw this.#texts.notNamed();
    return {
      store: this,
      storedBlob: async (hash) => this.#access.read((reads) => reads.blob(hash)),
      reads: this.#archiveReads(),
      writes: archived,
      place: this.#place,
      reader: this.#segments,
    };
  }

  /** Removes erased texts from the archive. @throws StoreError `store_not_scrubbed` */
  protected async scrubArchive(): Promise<void> {
    if ((await this.#archiveReads().filesDue()).length === 0) return;
    if (this.#place === undefined) throw notScrubbed('the archive was not named.');
    await scrubArchive(this.archiveAccess());
  }

  /** The faults of the files of segments. Reads every file. */
  protected async archiveFaults(): Promise<string[]> {
    const reads = this.#archiveReads();
    const faults =
      (await reads.filesDue()).length > 0
        ? ['files of the archive may have erased texts; open the store for writing with the archive']
        : [];
    const state = await reads.archive();
    if (state === undefined || state.segments === 0) return faults;
    if (this.#segments === undefined) return [...faults, this.#texts.notNamed(state).message];
    let texts = 0;
    for (let segment = 0; segment < state.segments; segment++) {
      const files = await reads.segmentFiles(segment, 1);
      if (files.length === 0) faults.push(`segment ${segment} of the archive has no files in the database`);
      for (const file of files) {
        const checked = await faultOf(this.#segments.check(file));
        if (typeof checked === 'number') texts += checked;
        else faults.push(checked);
      }
    }
    const marked = await reads.markedBlobs();
    if (faults.length === 0 && marked !== texts)
      faults.push(`the archive has ${texts} texts of blobs, and the database has markers of ${marked}`);
    return faults;
  }

  #readArchive<T>(step: (reads: ArchiveReads) => T | Promise<T>): T | Promise<T> {
    return this.#access.read(({ archived }) => {
      if (archived === undefined) throw new StoreError('archive_refused', 'This store has no archive.');
      return step(archived);
    });
  }

  #archiveReads(): ArchiveReads {
    return {
      archive: () => this.#readArchive((reads) => reads.archive()),
      markedBlobs: () => this.#readArchive((reads) => reads.markedBlobs()),
      segmentFiles: (from, limit) => this.#readArchive((reads) => reads.segmentFiles(from, limit)),
      filesDue: () => this.#readArchive((reads) => reads.filesDue()),
    };
  }

  /** The rows with the payloads of archived entries. */
  #wholes(rows: EntryRow[]): EntryRow[] | Promise<EntryRow[]> {
    return rows.some(isArchivedRow) ? this.#texts.rows(rows) : rows;
  }

  async #whole(row: EntryRow | undefined): Promise<EntryRow | undefined> {
    return row === undefined || !isArchivedRow(row) ? row : (await this.#texts.rows([row]))[0];
  }
}

/** The result of a check, or its fault. */
async function faultOf(checked: Promise<number>): Promise<number | string> {
  try {
    return await checked;
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    return error.message;
  }
}

/** A page of this many rows is one of many. */
const LONG = 250;

/**
 * The rows of a page. After a long one, other work of the process goes on first: a local file
 * answers at once, and a walk over a million entries would stop everything else.
 */
async function longRead(read: Promise<EntryRow[]> | EntryRow[]): Promise<EntryRow[]> {
  const rows = await read;
  if (rows.length >= LONG) await nextTurn();
  return rows;
}
