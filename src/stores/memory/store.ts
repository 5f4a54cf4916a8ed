import { madeHere } from '#canon';
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
  LedgerStore,
  LoggedTransaction,
  LogStep,
  LogStore,
  OpenEffectPage,
  PartitionName,
  PartitionState,
  SharedEffectStore,
  SnapshotRow,
  SnapshotStore,
  Tenure,
  TrajectoryInfo,
} from '#ledger';
import type { OracleRow, OracleStore } from '#oracle';
import { type EffectChange, effectAnswer } from '../effects.ts';
import { StoreError } from '../errors.ts';
import { type FactChange, REPEATS_ERASED } from '../facts.ts';
import {
  checkAnswerPage,
  checkBatch,
  checkBranchPartitionQuery,
  checkClaimKey,
  checkCount,
  checkEffectPage,
  checkEffects,
  checkEpoch,
  checkFactQuery,
  checkHash,
  checkLogStep,
  checkNodes,
  checkOpenPage,
  checkOracleRow,
  checkPage,
  checkPartition,
  checkPrefix,
  checkSharing,
  checkSignal,
  checkSnapshotRow,
  checkText,
  checkTextQuery,
  checkVectorQuery,
  checkVectors,
  checkWithin,
  isEmpty,
} from '../input.ts';
import { rebuild } from '../rebuild.ts';
import { MemoryEffects } from './effects.ts';
import { MemoryFacts } from './facts.ts';
import { Members } from './members.ts';
import { Tenures } from './tenure.ts';

const COMMITTED: CommitResult = Object.freeze({ status: 'committed' });

/**
 * The port without a disk. Like a store with one, it answers later and not at once, in the order of the calls, and a read
 * does not see what still waits. `close` forgets nothing that was answered, but no one can open the same store again.
 */
export class MemoryStore implements LedgerStore, LogStore, OracleStore, SnapshotStore, EffectStore, FactStore {
  static {
    madeHere(MemoryStore.prototype);
  }

  readonly readonly = false;
  readonly #trajectories = new Map<string, EntryRow[]>();
  readonly #byId = new Map<Hash, EntryRow>();
  readonly #blobs = new Map<Hash, string>();
  readonly #erased = new Map<Hash, Hash>();
  readonly #oracle = new Map<string, OracleRow>();
  readonly #within = new Map<string, Set<string>>();
  /** In the order of commits, which the log follows. */
  readonly #rows: EntryRow[] = [];
  readonly #places = new Map<Hash, number>();
  readonly #leaves: Uint8Array[] = [];
  readonly #nodes = new Map<string, Uint8Array>();
  readonly #snapshots = new Map<string, SnapshotRow>();
  readonly #effects = new MemoryEffects();
  #claimKey: Uint8Array | undefined;
  readonly #facts = new MemoryFacts((hash) => this.#erased.has(hash));
  readonly #tenures = new Tenures();
  /** As `SharedEffectStore` has it; only where it was made so. */
  readonly shareEffects?: SharedEffectStore['shareEffects'];
  readonly #members: Members | undefined;
  #waiting: (() => void)[] = [];
  #closed: Promise<void> | undefined;

  /** `shared`: several runtimes of this process may work on effects here at a time; else one, and the others wait. */
  constructor({ shared = false }: { readonly shared?: boolean } = {}) {
    if (!shared) return;
    const members = new Members(this.#effects, this.#tenures, (write) => this.#inTurn(write));
    this.#members = members;
    this.shareEffects = async (options) => {
      checkSharing(options);
      this.#checkOpen();
      return members.join(options.leaseMs, options.signal);
    };
  }

  async commit(batch: Batch): Promise<CommitResult> {
    this.#checkOpen();
    checkBatch(batch);
    if (isEmpty(batch)) return COMMITTED;
    return this.#inTurn(() => this.#write(batch));
  }

  async resolve(id: Hash): Promise<EntryRow | undefined> {
    checkHash(id, 'id');
    this.#checkOpen();
    return this.#byId.get(id);
  }

  async entries(trajectoryId: string, options?: { from?: number; limit?: number }): Promise<EntryRow[]> {
    checkText(trajectoryId, 'trajectory_id');
    const { from, limit } = checkPage(options);
    this.#checkOpen();
    return this.#trajectories.get(trajectoryId)?.slice(from, from + limit) ?? [];
  }

  async head(trajectoryId: string): Promise<EntryRow | undefined> {
    checkText(trajectoryId, 'trajectory_id');
    this.#checkOpen();
    return this.#trajectories.get(trajectoryId)?.at(-1);
  }

  async trajectories(): Promise<TrajectoryInfo[]> {
    this.#checkOpen();
    return [...this.#trajectories].map(([trajectory_id, rows]) => ({
      trajectory_id,
      entries: rows.length,
      head: rows.at(-1)!.id,
    }));
  }

  async blob(hash: Hash): Promise<string | undefined> {
    checkHash(hash, 'hash');
    this.#checkOpen();
    return this.#blobs.get(hash);
  }

  async erasedBy(hash: Hash): Promise<Hash | undefined> {
    checkHash(hash, 'hash');
    this.#checkOpen();
    return this.#erased.get(hash);
  }

  async find(prefix: string): Promise<EntryRow[]> {
    const lower = checkPrefix(prefix);
    this.#checkOpen();
    const found = [...this.#byId.values()].filter((row) => row.id.startsWith(lower));
    return found.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, 2);
  }

  async oracleGet(key: string): Promise<OracleRow | undefined> {
    checkHash(key, 'key');
    this.#checkOpen();
    return this.#oracle.get(key);
  }

  async oracleWithin(within: string, page: { readonly after?: string; readonly limit: number }): Promise<OracleRow[]> {
    checkWithin(within, page);
    this.#checkOpen();
    const { after = '', limit } = page;
    const keys = [...(this.#within.get(within) ?? [])].filter((key) => key > after).sort();
    const rows = keys.map((key) => this.#oracle.get(key) as OracleRow);
    return rows.filter(({ erased_by }) => erased_by === undefined).slice(0, limit);
  }

  async oracleErased(page: { readonly after?: string; readonly limit: number }): Promise<OracleRow[]> {
    checkAnswerPage(page);
    this.#checkOpen();
    const { after = '', limit } = page;
    const rows = [...this.#oracle.values()].filter(({ key, erased_by }) => erased_by !== undefined && key > after);
    return rows.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, limit);
  }

  async oraclePut(row: OracleRow, within?: string): Promise<OracleRow> {
    this.#checkOpen();
    checkOracleRow(row, within);
    return this.#inTurn(() => {
      if (within !== undefined) this.#within.set(within, (this.#within.get(within) ?? new Set()).add(row.key));
      const first = this.#oracle.get(row.key) ?? copyOracleRow(row);
      this.#oracle.set(row.key, first);
      return first;
    });
  }

  async logSize(): Promise<number> {
    this.#checkOpen();
    return this.#leaves.length;
  }

  async unlogged(limit: number): Promise<EntryRow[]> {
    checkPage({ limit });
    this.#checkOpen();
    return this.#rows.slice(this.#leaves.length, this.#leaves.length + limit);
  }

  async integrate(step: LogStep): Promise<boolean> {
    this.#checkOpen();
    checkLogStep(step);
    return this.#inTurn(() => this.#integrate(step));
  }

  async logNodes(level: number, from: number, count: number): Promise<(Uint8Array | undefined)[]> {
    checkNodes(level, from, count);
    this.#checkOpen();
    return Array.from({ length: count }, (_, i) =>
      level === 0 ? this.#leaves[from + i] : this.#nodes.get(`${level} ${from + i}`),
    );
  }

  async logIndex(id: Hash): Promise<number | undefined> {
    checkHash(id, 'id');
    this.#checkOpen();
    return this.#places.get(id);
  }

  async logged(from: number, limit: number): Promise<EntryRow[]> {
    checkPage({ from, limit });
    this.#checkOpen();
    return this.#rows.slice(from, Math.min(from + limit, this.#leaves.length));
  }

  async snapshot(trajectoryId: string): Promise<SnapshotRow | undefined> {
    checkText(trajectoryId, 'trajectory_id');
    this.#checkOpen();
    return this.#snapshots.get(trajectoryId);
  }

  async putSnapshot(row: SnapshotRow, erasures: number): Promise<void> {
    this.#checkOpen();
    checkSnapshotRow(row);
    checkCount(erasures, 'erasures');
    const { trajectory_id, seq, hash, text } = row;
    const kept = Object.freeze({ trajectory_id, seq, hash, text });
    return this.#inTurn(() => {
      if (erasures === this.#erased.size && this.#trajectories.has(trajectory_id))
        this.#snapshots.set(trajectory_id, kept);
    });
  }

  async erasures(): Promise<number> {
    this.#checkOpen();
    return this.#erased.size;
  }

  async dropSnapshots(): Promise<void> {
    this.#checkOpen();
    return this.#inTurn(() => this.#snapshots.clear());
  }

  async holdEffects(signal?: AbortSignal): Promise<Tenure> {
    this.#checkOpen();
    checkSignal(signal);
    return this.#tenures.hold(() => this.#inTurn(() => this.#effects.raise()), signal);
  }

  async logEffects(
    effects: EffectWrite,
    blobs: readonly BlobRow[] = [],
  ): Promise<{ readonly status: 'written' } | EffectRefusal> {
    checkEffects(effects);
    return effectAnswer(await this.commit({ entries: [], blobs, effects }));
  }

  async openEffects(page: OpenEffectPage = {}): Promise<LoggedTransaction[]> {
    checkOpenPage(page);
    this.#checkOpen();
    return this.#effects.open(page);
  }

  async listEffects(page: EffectPage): Promise<LoggedTransaction[]> {
    checkEffectPage(page);
    this.#checkOpen();
    return this.#effects.list(page);
  }

  async effectsOf(epoch: number): Promise<LoggedTransaction | undefined> {
    checkEpoch(epoch);
    this.#checkOpen();
    return this.#effects.of(epoch);
  }

  async effectKey(key: Hash): Promise<EffectKeyRow | undefined> {
    checkHash(key, 'key');
    this.#checkOpen();
    return this.#effects.key(key);
  }

  async wereEffectsHeld(): Promise<boolean> {
    this.#checkOpen();
    return this.#effects.wereHeld;
  }

  async partition(name: PartitionName): Promise<PartitionState | undefined> {
    checkPartition(name);
    this.#checkOpen();
    return this.#facts.state(name);
  }

  async facts(query: FactQuery): Promise<FactVersion[]> {
    const checked = checkFactQuery(query);
    this.#checkOpen();
    return this.#facts.query(checked);
  }

  claimKey(offered: Uint8Array): Promise<Uint8Array>;
  claimKey(): Promise<Uint8Array | undefined>;
  async claimKey(offered?: Uint8Array): Promise<Uint8Array | undefined> {
    if (offered !== undefined) checkClaimKey(offered);
    this.#checkOpen();
    this.#claimKey ??= offered && Uint8Array.from(offered);
    return this.#claimKey && Uint8Array.from(this.#claimKey);
  }

  async spaces(): Promise<string[]> {
    this.#checkOpen();
    return this.#facts.spaces();
  }

  async branches(): Promise<{ readonly space: string; readonly branch: string }[]> {
    this.#checkOpen();
    return this.#facts.branches();
  }

  async branchPartitions(query: BranchPartitionQuery): Promise<BranchPartition[]> {
    const checked = checkBranchPartitionQuery(query);
    this.#checkOpen();
    return this.#facts.branchPartitions(checked);
  }

  async factsByText(query: FactTextQuery): Promise<FactHit[]> {
    const checked = checkTextQuery(query);
    this.#checkOpen();
    return this.#facts.byText(checked);
  }

  async factsByVector(query: FactVectorQuery): Promise<FactHit[]> {
    const checked = checkVectorQuery(query);
    this.#checkOpen();
    return this.#facts.byVector(checked);
  }

  async textsToEmbed(embedder: string, space: string, limit: number): Promise<FactText[]> {
    for (const [name, text] of Object.entries({ embedder, space })) checkText(text, name);
    checkPage({ limit });
    this.#checkOpen();
    return this.#facts.toEmbed(embedder, space, limit);
  }

  async putVectors(embedder: string, vectors: readonly FactVector[]): Promise<void> {
    checkVectors(embedder, vectors);
    this.#checkOpen();
    return this.#inTurn(() => this.#facts.putVectors(embedder, vectors));
  }

  async rebuildFacts(pages: AsyncIterable<readonly FactWrite[]>): Promise<void> {
    this.#checkOpen();
    const step = <T>(write: () => T): Promise<T> => {
      this.#checkOpen();
      return this.#inTurn(write);
    };
    return rebuild(pages, {
      begin: () => step(() => this.#facts.beginRebuilding()),
      deleteSome: async () => false,
      takeIn: (writes, run) => step(() => this.#facts.takeIn(writes, run)),
      end: (run) => step(() => this.#facts.endRebuilding(run)),
    });
  }

  close(): Promise<void> {
    if (this.#closed === undefined) this.#tenures.refuse(closedError());
    this.#closed ??= this.#inTurn(() => this.#members?.end(closedError()));
    return this.#closed;
  }

  #inTurn<T>(write: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#flush());
      this.#waiting.push(() => {
        try {
          resolve(write());
        } catch (error) {
          // A row that can be read no more: its caller is told, and nobody else waits for ever.
          reject(error);
        }
      });
    });
  }

  #flush(): void {
    for (const write of this.#waiting.splice(0)) write();
  }

  #write(batch: Batch): CommitResult {
    const heads = new Map<string, EntryRow | undefined>();
    const ids = new Set<Hash>();
    for (const row of batch.entries) {
      const name = row.trajectory_id;
      const head = heads.has(name) ? heads.get(name) : this.#trajectories.get(name)?.at(-1);
      const fits = row.seq === (head?.seq ?? -1) + 1 && row.parent === (head?.id ?? null);
      if (!fits || ids.has(row.id) || this.#byId.has(row.id)) {
        return { status: 'conflict', trajectory_id: name, seq: row.seq };
      }
      heads.set(name, row);
      ids.add(row.id);
    }
    let change: EffectChange | undefined;
    if (batch.effects !== undefined) {
      const verdict = this.#effects.judge(batch.effects);
      if ('refusal' in verdict) return verdict.refusal;
      change = verdict.change;
    }
    if (batch.repeats?.some((hash) => this.#erased.has(hash))) return REPEATS_ERASED;
    let facts: readonly FactChange[] = [];
    if (batch.facts !== undefined && batch.facts.length > 0) {
      const verdict = this.#facts.judge(batch.facts);
      if ('refusal' in verdict) return verdict.refusal;
      facts = verdict.changes;
    }
    for (const row of batch.entries) this.#insert(row);
    for (const { hash, text } of batch.blobs) {
      if (!this.#blobs.has(hash) && !this.#erased.has(hash)) this.#blobs.set(hash, text);
    }
    this.#facts.write(facts);
    for (const { hash, by } of batch.erased ?? []) {
      this.#blobs.delete(hash);
      if (!this.#erased.has(hash)) this.#erased.set(hash, by);
      this.#snapshots.clear();
    }
    if (batch.erased !== undefined && batch.erased.length > 0) this.#facts.erase(batch.erased);
    for (const { key, by } of batch.erasedAnswers ?? []) {
      const { at = '', erased_by = by } = this.#oracle.get(key) ?? {};
      this.#oracle.set(key, Object.freeze({ key, answer: '', at, erased_by }));
    }
    if (change !== undefined) this.#effects.write(change);
    return COMMITTED;
  }

  #integrate({ size, leaves, nodes }: LogStep): boolean {
    if (this.#leaves.length !== size) return false;
    for (const { id, hash } of leaves) {
      this.#places.set(id, this.#leaves.length);
      this.#leaves.push(hash.slice());
    }
    for (const { level, index, hash } of nodes) this.#nodes.set(`${level} ${index}`, hash.slice());
    return true;
  }

  // A copy, frozen: a caller who changes a row must not change the store's.
  #insert({ id, trajectory_id, parent, seq, kind, payload }: EntryRow): void {
    const row = Object.freeze({ id, trajectory_id, parent, seq, kind, payload });
    const rows = this.#trajectories.get(trajectory_id);
    if (rows === undefined) this.#trajectories.set(trajectory_id, [row]);
    else rows.push(row);
    this.#byId.set(id, row);
    this.#rows.push(row);
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw closedError();
  }
}

function closedError(): StoreError {
  return new StoreError('store_closed', 'This store in memory is closed; what it held is gone, make a new one.');
}

function copyOracleRow({ key, answer, at }: OracleRow): OracleRow {
  return Object.freeze({ key, answer, at });
}
