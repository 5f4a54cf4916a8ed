import { GenerationalMap, TransientMap } from '#base';
import type { Instant } from '#canon';
import {
  type FactStore,
  type FactVersion,
  type FactWrite,
  type LedgerStore,
  OPEN_END,
  type PartitionName,
  type PartitionRead,
  type PartitionState,
} from '#ledger';
import { OpenSet } from '#memory';
import { visibleFacts } from '../visible/facts.ts';
import { type VisibilityChain, type VisibleMemory, visibleUntil } from '../visible/visibility.ts';
import { ClaimCache } from './claim-cache.ts';
import { OpenRows } from './open-rows.ts';

/** Number of partitions with cached open rows. Further ones cost only a read each. */
const PARTITIONS_MAX = 8_192;

/** Cached claims per partition once the store has them, beyond the most recently looked up. */
const CLAIMS_MAX = 1_000;

/** A cached partition: the store's rows, and the changes accepted since. */
export interface CachedPartition {
  readonly state: Omit<PartitionState, 'open'> | undefined;
  /** The visible source, for a branch that has not changed the partition. */
  readonly source?: InheritedPartition | undefined;
  /** The open facts of the partition. */
  readonly open: OpenRows;
  /** Claims that were looked up by source name, and whether they exist. */
  readonly claims: Map<string, boolean>;
  /** The most recently looked-up claims. */
  readonly sought: readonly string[];
  /** New for each read: a lookup belongs to one read and does not apply to another. */
  readonly reading: symbol;
}

/** A source's partition as it is where a branch starts. */
export interface InheritedPartition {
  /** The start of the branch, before all of its changes. */
  readonly begins: Instant;
  /**
   * The latest change of the source by then, or the branch's start if later changes exist; absent
   * without a change.
   */
  readonly until?: Instant;
  /** The rows that were open then, as rows of the branch, in the order of their start. */
  readonly open: readonly FactVersion[];
  /**
   * Source partitions that may still get changes at a time before the branch starts: by a process
   * with a slow clock, or at the very same instant. The store checks that they are unchanged when
   * the branch changes its own partition.
   */
  readonly reads: readonly PartitionRead[];
}

/**
 * Cached partitions. Accepted changes update them, and the store checks their versions with each
 * commit. A partition that turns out to differ in the store is evicted.
 */
export class PartitionCache {
  readonly #store: FactStore;
  /** The claims including accepted changes, and the claims as the store has them. */
  readonly #made: ClaimCache;
  readonly #stored: ClaimCache;
  readonly #known: GenerationalMap<string, CachedPartition | null> = new GenerationalMap(
    PARTITIONS_MAX,
  );
  /** The visible partitions of branches, by their names without the branch. */
  readonly #ofBranches: GenerationalMap<string, Set<string>> = new GenerationalMap(PARTITIONS_MAX);
  /** Changes in flight to the store, by partition. */
  readonly #sent: TransientMap<string, SentChanges> = new TransientMap();
  /** The number of readers of each partition. */
  readonly #readers: TransientMap<string, number> = new TransientMap();

  constructor(store: LedgerStore & FactStore) {
    this.#store = store;
    this.#made = new ClaimCache(store);
    this.#stored = new ClaimCache(store);
  }

  /** Undefined if it must be read first. */
  get(name: PartitionName, claims: readonly string[]): CachedPartition | undefined {
    const known = this.#known.get(keyOf(name)) ?? undefined;
    return known !== undefined && claims.every((claim) => known.claims.has(claim))
      ? known
      : undefined;
  }

  /**
   * Resolves when no change of another sender is in flight there; undefined if there is none. A
   * sender is a trajectory until it loses to another process. Entries of one trajectory fail
   * together, so they may be planned on one another before the store has them. Entries of two
   * trajectories do not. A failed change may also be unanswered when its successor is planned
   * again.
   */
  whenIdle(name: PartitionName, sender: string): Promise<void> | undefined {
    const sent = this.#sent.get(keyOf(name));
    return sent === undefined || sent.sender === sender ? undefined : sent.settled;
  }

  /**
   * Resolves when no change is in flight to any of the partitions. From then on all other senders
   * wait for them, until the returned function releases them.
   */
  async lock(names: readonly PartitionName[]): Promise<() => void> {
    // Always in the same order, to avoid deadlock between holders.
    const keys = [...new Set(names.map(keyOf))].sort();
    for (const key of keys) {
      for (let sent = this.#sent.get(key); sent !== undefined; sent = this.#sent.get(key))
        await sent.settled;
      this.#sent.set(key, { ...sentBy(HOLDER), count: 1 });
    }
    return () => {
      for (const key of keys) this.#answered(key);
    };
  }

  /** `line`: the visibility chain of the changing trajectory. Its own memory has the partition. */
  async read(name: PartitionName, claims: readonly string[], line: VisibilityChain): Promise<void> {
    const key = keyOf(name);
    this.#readers.set(key, (this.#readers.get(key) ?? 0) + 1);
    try {
      await this.#read(name, claims, line);
    } finally {
      const left = this.#readers.get(key)! - 1;
      if (left > 0) this.#readers.set(key, left);
      else this.#readers.delete(key);
    }
  }

  async #read(
    name: PartitionName,
    claims: readonly string[],
    line: VisibilityChain,
  ): Promise<void> {
    const key = keyOf(name);
    const before = this.#known.get(key);
    // Read before the claims are looked up. A claim made after that changes the partition, and the
    // store then refuses the commit.
    const read =
      before == null ? { ...(await this.#readState(name, line)), reading: Symbol() } : before;
    const found = new Map<string, boolean>();
    for (const claim of claims) found.set(claim, await this.#isMade(claim, name, read.state, line));
    const now = this.#known.get(key);
    // Known changes were accepted but failed or are outdated, or a concurrent read may have seen
    // newer claims. The caller reads the partition again if it needs it.
    if (now == null ? before != null : now.reading !== read.reading) return;
    // Changes accepted during the read are ahead of it.
    const { state, source, open } = now ?? read;
    this.#known.set(key, {
      state,
      source,
      open,
      claims: new Map([...found, ...(now?.claims ?? [])]),
      sought: claims,
      reading: read.reading,
    });
    if (name.branch === undefined) return;
    const names = sharedKeyOf(name);
    this.#ofBranches.set(names, (this.#ofBranches.get(names) ?? new Set()).add(key));
  }

  /** Whether the store has a claim that is visible in this chain. Nothing is cached. */
  async has(claim: string, name: PartitionName, line: VisibilityChain): Promise<boolean> {
    return this.#isMade(claim, name, await this.#store.partition(name), line, this.#stored);
  }

  /**
   * Whether a claim was made in a visible memory: it has its own row there, or none because another
   * row has the same fact.
   */
  async #isMade(
    claim: string,
    { space, subject, predicate }: PartitionName,
    own: CachedPartition['state'],
    line: VisibilityChain,
    made = this.#made,
  ): Promise<boolean> {
    let until: Instant | undefined;
    for (const [n, level] of line.entries()) {
      const name = {
        space,
        subject,
        predicate,
        ...(level.branch !== undefined && { branch: level.branch }),
      };
      const state = n === 0 ? own : await this.#store.partition(name);
      if (state !== undefined) {
        if ((await made.load(name, state, until)).has(claim)) return true;
      } else if (n === 0) {
        // Another writer may have created it since.
        const [row] = await this.#store.facts({ ...name, kind: 'all', lineage: claim, limit: 1 });
        if (row !== undefined) return true;
      }
      const above = line[n + 1];
      const next = state?.since ?? (above && visibleUntil(above, name));
      if (next !== undefined && (until === undefined || next < until)) until = next;
    }
    return false;
  }

  async #readState(
    name: PartitionName,
    line: VisibilityChain,
  ): Promise<Pick<CachedPartition, 'state' | 'source' | 'open'>> {
    const read = await this.#store.partition(name);
    if (read !== undefined) {
      const { open, ...state } = read;
      return { state, open: new OpenRows(open) };
    }
    const [, ...sources] = line;
    const [level, ...above] = sources;
    const source = level && (await readSource(this.#store, name, [level, ...above]));
    return { state: undefined, source, open: new OpenRows(source?.open ?? []) };
  }

  /**
   * Compares with the store: the partition has changed, or an open row was erased (the version of a
   * branch's partition does not show that). It is then read again. Changes in flight are compared
   * by the store itself. `line`: as in `read`.
   */
  async compare(name: PartitionName, line: VisibilityChain): Promise<void> {
    const key = keyOf(name);
    const known = this.#known.get(key);
    if (known == null || this.#sent.has(key)) return;
    const { state, open } = await this.#readState(name, line);
    const now = this.#known.get(key);
    const isSame =
      state?.version === known.state?.version &&
      state?.names.hash === known.state?.names.hash &&
      hasSameRows(open.all, known.open.all);
    // Claims that were looked up in the meantime do not change the partition. Accepted changes and
    // reads do.
    if (!isSame && now?.state === known.state && now?.source === known.source)
      this.#known.set(key, null);
  }

  /** The cached state of these names is outdated. */
  evictNames(names: readonly PartitionName[]): void {
    for (const name of names) this.#known.set(keyOf(name), null);
  }

  /** The changes were accepted and are in flight to the store. */
  accept(writes: readonly FactWrite[], sender: string): void {
    for (const write of writes) {
      const key = keyOf(write.partition);
      const sent = this.#sent.get(key) ?? sentBy(sender);
      sent.count++;
      this.#sent.set(key, sent);
      this.#made.accept(write);
      const before = this.#known.get(key);
      // An erasure changes partitions that were never read here.
      if (before == null) continue;
      const { claims, sought, reading } = before;
      for (const { lineage } of write.insert) claims.set(lineage, true);
      const { names, version, system_time: latest } = write;
      before.open.change(write);
      this.#known.set(key, {
        state: { names, version, latest },
        open: before.open,
        claims,
        sought,
        reading,
      });
    }
  }

  /** Claims of accepted changes that have no row. */
  rowlessClaims(name: PartitionName, claims: readonly string[]): void {
    const known = this.#known.get(keyOf(name));
    for (const claim of claims) known?.claims.set(claim, true);
    this.#made.merged(name, claims);
  }

  /** The store has answered, with any result. */
  complete(writes: readonly FactWrite[]): void {
    for (const { partition } of writes) {
      this.#answered(keyOf(partition));
      this.#forgetSources(partition);
    }
  }

  /**
   * Branches that have not changed the partition now inherit another version of it. They are
   * evicted here, because the store would otherwise refuse their next commit.
   */
  #forgetSources(name: PartitionName): void {
    const names = sharedKeyOf(name);
    for (const key of this.#ofBranches.get(names) ?? []) {
      const { state, source } = this.#known.get(key) ?? {};
      if (source !== undefined && state === undefined && !this.#sent.has(key))
        this.#known.set(key, null);
    }
  }

  #answered(key: string): void {
    const sent = this.#sent.get(key)!;
    sent.count--;
    if (sent.count > 0) return;
    this.#sent.delete(key);
    sent.settle();
    const known = this.#known.get(key);
    if (known == null || known.claims.size <= CLAIMS_MAX || this.#readers.has(key)) return;
    // The store has the other claims now, and is asked again. Callers that looked up these claims
    // have waited for this, and start again with them.
    const kept = new Set(known.sought);
    const claims = new Map([...known.claims].filter(([claim]) => kept.has(claim)));
    this.#known.set(key, { ...known, claims });
  }

  /**
   * The changes failed, or their base is outdated. An erased text may also be one that branches
   * inherited.
   */
  evict(writes: readonly FactWrite[]): void {
    for (const { partition } of writes) {
      this.#made.evict(partition);
      this.#known.set(keyOf(partition), null);
      for (const key of this.#ofBranches.get(sharedKeyOf(partition)) ?? [])
        this.#known.set(key, null);
    }
  }
}

/**
 * The holder of partitions without changes in flight. It cannot be a sender's name, because those
 * start with a number.
 */
const HOLDER = 'holder';

/** Changes of one sender that the store has not answered yet. */
interface SentChanges {
  readonly sender: string;
  readonly settled: Promise<void>;
  readonly settle: () => void;
  count: number;
}

function sentBy(sender: string): SentChanges {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { sender, settled: promise, settle: resolve, count: 0 };
}

/**
 * The rows that a branch inherits of a partition. Versions are read first. A later change has a
 * greater system time than the existing rows, so it does not affect the rows read as of then. If an
 * earlier change is possible, the partition's version shows it.
 */
async function readSource(
  store: FactStore,
  { branch, space, subject, predicate }: PartitionName,
  line: readonly [VisibleMemory, ...VisibleMemory[]],
): Promise<InheritedPartition> {
  const names = { space, subject, predicate };
  const begins = visibleUntil(line[0], names) as Instant;
  const reads: PartitionRead[] = [];
  for (const level of line) {
    const { branch: there } = level;
    const until = visibleUntil(level, names) as Instant;
    const partition = { ...names, ...(there !== undefined && { branch: there }) };
    const state = await store.partition(partition);
    if (state === undefined || state.latest < until)
      reads.push({ partition, version: state?.version ?? 0 });
    if (state === undefined) continue;
    const system = state.latest < until ? state.latest : until;
    const open: FactVersion[] = [];
    for await (const page of visibleFacts(store, line, { space, subject, predicate, system }))
      open.push(...page);
    const rows = open.map((row) => ({
      ...row,
      branch: branch as string,
      system_time_end: OPEN_END,
    }));
    return { begins, until: system, open: [...new OpenSet(rows)], reads };
  }
  return { begins, open: [], reads };
}

function keyOf({ space, subject, predicate, branch }: PartitionName): string {
  return JSON.stringify(
    branch === undefined ? [space, subject, predicate] : [space, subject, predicate, branch],
  );
}

function sharedKeyOf({ space, subject, predicate }: PartitionName): string {
  return keyOf({ space, subject, predicate });
}

/** Whether two lists have the same rows with the same texts. */
function hasSameRows(one: readonly FactVersion[], other: readonly FactVersion[]): boolean {
  const texts = new Map(one.map((row) => [`${row.system_time_start} ${row.fact_id}`, row.object]));
  return (
    one.length === other.length &&
    other.every((row) => texts.get(`${row.system_time_start} ${row.fact_id}`) === row.object)
  );
}
