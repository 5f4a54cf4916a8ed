import type {
  Batch,
  BranchPartition,
  BranchPartitionQuery,
  CommitResult,
  EffectKeyRow,
  EffectPage,
  EntryRow,
  FactHit,
  FactQuery,
  FactText,
  FactTextQuery,
  FactVectorQuery,
  FactVersion,
  Hash,
  LoggedTransaction,
  LogStep,
  OpenEffectPage,
  PartitionName,
  PartitionState,
  SideChange,
  SidePage,
  SideRow,
  SnapshotRow,
  TrajectoryInfo,
} from 'assize/internal/ledger';
import { type Clock, type OracleRow, systemClock } from 'assize/internal/oracle';
import type { Adoption } from 'assize/internal/stores/adoption.ts';
import { aheadOf } from 'assize/internal/stores/clock-ahead.ts';
import type { EffectChange } from 'assize/internal/stores/effects.ts';
import { type FactChange, REPEATS_ERASED } from 'assize/internal/stores/facts.ts';
import { COMMITTED, type Reads } from 'assize/internal/stores/native-port.ts';
import { MemoryEffects } from './effects.ts';
import { MemoryFacts } from './facts.ts';
import { MemorySide } from './side.ts';

type WithDefaults<Query> = Query & { readonly limit: number };

/** All data of a store in memory. Every call runs immediately and atomically. */
export class Rows implements Reads {
  readonly effects: MemoryEffects = new MemoryEffects();
  readonly believed: MemoryFacts = new MemoryFacts((hash) => this.#erased.has(hash));
  readonly #trajectories = new Map<string, EntryRow[]>();
  readonly #byId = new Map<Hash, EntryRow>();
  readonly #blobs = new Map<Hash, string>();
  readonly #erased = new Map<Hash, Hash>();
  readonly #oracle = new Map<string, OracleRow>();
  readonly #within = new Map<string, Set<string>>();
  /** In the order of commits. The log follows it. */
  readonly #rows: EntryRow[] = [];
  readonly #places = new Map<Hash, number>();
  readonly #leaves: Uint8Array[] = [];
  readonly #nodes = new Map<string, Uint8Array>();
  readonly #snapshots = new Map<string, SnapshotRow>();
  readonly #adopted = new Set<Hash>();
  readonly #side = new MemorySide();
  #claimKey: Uint8Array | undefined;
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** The store itself is never a copy. */
  adopt({ roots = [] }: Adoption): void {
    for (const root of roots) this.#adopted.add(root);
  }

  adopted(root: Hash): boolean {
    return this.#adopted.has(root);
  }

  commit(batch: Batch): CommitResult {
    const ahead = aheadOf(this.#clock, batch.clock);
    if (ahead !== undefined) return ahead;
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
      const verdict = this.effects.judge(batch.effects);
      if ('refusal' in verdict) return verdict.refusal;
      change = verdict.change;
    }
    if (batch.repeats?.some((hash) => this.#erased.has(hash))) return REPEATS_ERASED;
    let facts: readonly FactChange[] = [];
    if (batch.facts !== undefined && batch.facts.length > 0) {
      const verdict = this.believed.judge(batch.facts);
      if ('refusal' in verdict) return verdict.refusal;
      facts = verdict.changes;
    }
    for (const row of batch.entries) this.#insert(row);
    for (const { hash, text } of batch.blobs) {
      if (!this.#blobs.has(hash) && !this.#erased.has(hash)) this.#blobs.set(hash, text);
    }
    this.believed.write(facts);
    if (batch.awaitsFacts === true) this.believed.await();
    for (const { hash, by } of batch.erased ?? []) {
      this.#blobs.delete(hash);
      if (!this.#erased.has(hash)) this.#erased.set(hash, by);
      this.#snapshots.clear();
    }
    if (batch.erased !== undefined && batch.erased.length > 0) this.believed.erase(batch.erased);
    for (const { key, by } of batch.erasedAnswers ?? []) {
      const { at = '', erased_by = by } = this.#oracle.get(key) ?? {};
      this.#oracle.set(key, Object.freeze({ key, answer: '', at, erased_by }));
    }
    if (change !== undefined) this.effects.write(change);
    return COMMITTED;
  }

  resolve(id: Hash): EntryRow | undefined {
    return this.#byId.get(id);
  }

  entries(trajectoryId: string, from: number, limit: number): EntryRow[] {
    return this.#trajectories.get(trajectoryId)?.slice(from, from + limit) ?? [];
  }

  head(trajectoryId: string): EntryRow | undefined {
    return this.#trajectories.get(trajectoryId)?.at(-1);
  }

  trajectories(): TrajectoryInfo[] {
    return [...this.#trajectories].map(([trajectory_id, rows]) => ({
      trajectory_id,
      entries: rows.length,
      head: rows.at(-1)!.id,
    }));
  }

  trajectoriesToReview(): string[] {
    const isOpen = (rows: readonly EntryRow[]): boolean =>
      rows.reduce((open, row) => open + openedBy(row), 0) > 0;
    const hasHalt = (rows: readonly EntryRow[]): boolean =>
      rows.some(({ payload }) => payload.includes('"assize.halt"'));
    return [...this.#trajectories]
      .filter(([, rows]) => isOpen(rows) || hasHalt(rows))
      .map(([name]) => name);
  }

  blob(hash: Hash): string | undefined {
    return this.#blobs.get(hash);
  }

  erasedBy(hash: Hash): Hash | undefined {
    return this.#erased.get(hash);
  }

  find(prefix: string): EntryRow[] {
    const found = [...this.#byId.values()].filter((row) => row.id.startsWith(prefix));
    return found.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, 2);
  }

  oracleGet(key: string): OracleRow | undefined {
    return this.#oracle.get(key);
  }

  oracleWithin(
    within: string,
    { after = '', limit }: { readonly after?: string; readonly limit: number },
  ): OracleRow[] {
    const keys = [...(this.#within.get(within) ?? [])].filter((key) => key > after).sort();
    const rows = keys.map((key) => this.#oracle.get(key) as OracleRow);
    return rows.filter(({ erased_by }) => erased_by === undefined).slice(0, limit);
  }

  oracleErased({
    after = '',
    limit,
  }: {
    readonly after?: string;
    readonly limit: number;
  }): OracleRow[] {
    const rows = [...this.#oracle.values()].filter(
      ({ key, erased_by }) => erased_by !== undefined && key > after,
    );
    return rows.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, limit);
  }

  oraclePut(row: OracleRow, within: string | undefined): OracleRow {
    if (within !== undefined)
      this.#within.set(within, (this.#within.get(within) ?? new Set()).add(row.key));
    const first = this.#oracle.get(row.key) ?? copyOracleRow(row);
    this.#oracle.set(row.key, first);
    return first;
  }

  logSize(): number {
    return this.#leaves.length;
  }

  unlogged(limit: number): EntryRow[] {
    return this.#rows.slice(this.#leaves.length, this.#leaves.length + limit);
  }

  integrate({ size, leaves, nodes }: LogStep): boolean {
    if (this.#leaves.length !== size) return false;
    // Not `slice`, by which a buffer shares its bytes.
    for (const { id, hash } of leaves) {
      this.#places.set(id, this.#leaves.length);
      this.#leaves.push(Uint8Array.from(hash));
    }
    for (const { level, index, hash } of nodes)
      this.#nodes.set(`${level} ${index}`, Uint8Array.from(hash));
    return true;
  }

  logNodes(level: number, from: number, count: number): (Uint8Array | undefined)[] {
    return Array.from({ length: count }, (_, i) => {
      const hash = level === 0 ? this.#leaves[from + i] : this.#nodes.get(`${level} ${from + i}`);
      return hash && Uint8Array.from(hash);
    });
  }

  logIndex(id: Hash): number | undefined {
    return this.#places.get(id);
  }

  logged(from: number, limit: number): EntryRow[] {
    return this.#rows.slice(from, Math.min(from + limit, this.#leaves.length));
  }

  snapshot(trajectoryId: string): SnapshotRow | undefined {
    return this.#snapshots.get(trajectoryId);
  }

  putSnapshot(row: SnapshotRow, erasures: number): void {
    if (erasures === this.#erased.size && this.#trajectories.has(row.trajectory_id))
      this.#snapshots.set(row.trajectory_id, row);
  }

  dropSnapshots(): void {
    this.#snapshots.clear();
  }

  erasures(): number {
    return this.#erased.size;
  }

  openEffects(page: OpenEffectPage): LoggedTransaction[] {
    return this.effects.open(page);
  }

  listEffects(page: EffectPage): LoggedTransaction[] {
    return this.effects.list(page);
  }

  effectsOf(epoch: number): LoggedTransaction | undefined {
    return this.effects.of(epoch);
  }

  effectKey(key: Hash): EffectKeyRow | undefined {
    return this.effects.key(key);
  }

  hasEffectLog(): boolean {
    return this.effects.wereHeld;
  }

  partition(name: PartitionName): PartitionState | undefined {
    return this.believed.state(name);
  }

  facts(query: WithDefaults<FactQuery>): FactVersion[] {
    return this.believed.query(query);
  }

  claimKey(offered?: Uint8Array): Uint8Array | undefined {
    this.#claimKey ??= offered && Uint8Array.from(offered);
    return this.#claimKey && Uint8Array.from(this.#claimKey);
  }

  spaces(): string[] {
    return this.believed.spaces();
  }

  branches(): { readonly space: string; readonly branch: string }[] {
    return this.believed.branches();
  }

  branchPartitions(query: WithDefaults<BranchPartitionQuery>): BranchPartition[] {
    return this.believed.branchPartitions(query);
  }

  factsByText(query: WithDefaults<FactTextQuery>): FactHit[] {
    return this.believed.byText(query);
  }

  factsByVector(query: WithDefaults<FactVectorQuery>): FactHit[] {
    return this.believed.byVector(query);
  }

  textsToEmbed(embedder: string, space: string, limit: number): FactText[] {
    return this.believed.toEmbed(embedder, space, limit);
  }

  sideGet(kind: string, key: string): SideRow | undefined {
    return this.#side.get(kind, key);
  }

  sideList(kind: string, page: SidePage): SideRow[] {
    return this.#side.list(kind, page);
  }

  sidePut(changes: readonly SideChange[]): boolean {
    return this.#side.put(changes);
  }

  // A frozen copy: a caller's change to a row must not change the store's row.
  #insert({ id, trajectory_id, parent, seq, kind, payload }: EntryRow): void {
    const row = Object.freeze({ id, trajectory_id, parent, seq, kind, payload });
    const rows = this.#trajectories.get(trajectory_id);
    if (rows === undefined) this.#trajectories.set(trajectory_id, [row]);
    else rows.push(row);
    this.#byId.set(id, row);
    this.#rows.push(row);
  }
}

function copyOracleRow({ key, answer, at }: OracleRow): OracleRow {
  return Object.freeze({ key, answer, at });
}

/** The number of pending proposals that an entry adds. A partial approval adds none. */
function openedBy({ kind, payload }: EntryRow): number {
  const resolves =
    payload.includes('"resolves":"') && typeof JSON.parse(payload).resolves === 'string';
  return (kind === 'pending_approval' ? 1 : 0) - (resolves ? 1 : 0);
}
