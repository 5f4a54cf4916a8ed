import { ChurnMap, RecentMap } from '#base';
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
import { seenFacts } from '../visible/facts.ts';
import { type Level, type Line, untilOf } from '../visible/visibility.ts';
import { MadeClaims } from './claim-cache.ts';
import { OpenRows } from './open-rows.ts';

/** Partitions whose open rows are kept in memory; more only cost a look each. */
const PARTITIONS_MAX = 8_192;

/** Claims of one partition that are kept in memory once the store has them, beside those that were looked for last. */
const CLAIMS_MAX = 1_000;

/** A partition as it is here: what the store had, and what was accepted since. */
export interface Known {
  readonly state: Omit<PartitionState, 'open'> | undefined;
  /** Of a branch that has not changed it: what it sees of it. */
  readonly source?: Source | undefined;
  /** What is believed of it. */
  readonly open: OpenRows;
  /** Claims that were looked for by the name of their source, and whether they had been made. */
  readonly claims: Map<string, boolean>;
  /** Those of them that were looked for last. */
  readonly sought: readonly string[];
  /** Another one each time that it is read: what is looked for beside one tells nothing beside another. */
  readonly reading: symbol;
}

/** A partition as its source has it where a branch begins. */
export interface Source {
  /** Where the branch begins: what it changes comes after that. */
  readonly begins: Instant;
  /** The latest change that there was by then, or where the branch begins if there are later ones; absent where there was none. */
  readonly until?: Instant;
  /** What was open then, as rows of the branch, in the order of its beginning. */
  readonly open: readonly FactVersion[];
  /**
   * The source's partitions that may still be changed at a time before the branch begins: by a process whose clock is behind, or at the very
   * same instant. The store sees to it that they are as they were when the branch changes its own.
   */
  readonly reads: readonly PartitionRead[];
}

/**
 * Something has to be awaited before it can be ruled on: most often facts that are to be read. Whoever catches it does that, and begins
 * again. It is no error: nobody sees where it comes from, which takes longer to find out than what is to be read.
 */
export class NotRead {
  /** Where a judge is to be asked: when what it is asked about was said, so that the question stays the same. */
  readonly read: () => Promise<Instant | undefined>;

  constructor(read: () => Promise<Instant> | Promise<void>) {
    this.read = async () => (await read()) ?? undefined;
  }
}

/**
 * Partitions in memory, which move with what is accepted and are checked by the store with each commit. What turns out to be another
 * one there is forgotten here.
 */
export class Partitions {
  readonly #store: FactStore;
  /** With what was accepted; and without, as the store has them. */
  readonly #made: MadeClaims;
  readonly #stored: MadeClaims;
  readonly #known: RecentMap<string, Known | null> = new RecentMap(PARTITIONS_MAX);
  /** What branches see of partitions, by their names without the branch. */
  readonly #ofBranches: RecentMap<string, Set<string>> = new RecentMap(PARTITIONS_MAX);
  /** What is on its way to the store, by partition. */
  readonly #sent: ChurnMap<string, Sent> = new ChurnMap();
  /** How many are reading a partition. */
  readonly #readers: ChurnMap<string, number> = new ChurnMap();

  constructor(store: LedgerStore & FactStore) {
    this.#store = store;
    this.#made = new MadeClaims(store);
    this.#stored = new MadeClaims(store);
  }

  /** Undefined where it has to be read first. */
  get(name: PartitionName, claims: readonly string[]): Known | undefined {
    const known = this.#known.get(keyOf(name)) ?? undefined;
    return known !== undefined && claims.every((claim) => known.claims.has(claim)) ? known : undefined;
  }

  /**
   * Settles when nothing of another sender is on its way there; undefined where nothing is. A sender is a trajectory until it loses to another
   * process: entries fall with the one before them, so that they may be planned on one another before the store has them. Those of two
   * trajectories do not, and what falls may not be answered yet when what comes after it is planned anew.
   */
  awaited(name: PartitionName, sender: string): Promise<void> | undefined {
    const sent = this.#sent.get(keyOf(name));
    return sent === undefined || sent.sender === sender ? undefined : sent.settled;
  }

  /**
   * Settles when nothing is on its way to any of them. From then on all are awaited by everybody else, until they are let go of by what it
   * answers with.
   */
  async hold(names: readonly PartitionName[]): Promise<() => void> {
    // In one order: nobody who holds one waits for another that is held by who waits for the first.
    const keys = [...new Set(names.map(keyOf))].sort();
    for (const key of keys) {
      for (let sent = this.#sent.get(key); sent !== undefined; sent = this.#sent.get(key)) await sent.settled;
      this.#sent.set(key, { ...sentBy(HOLDER), count: 1 });
    }
    return () => {
      for (const key of keys) this.#answered(key);
    };
  }

  /** `line`: what is seen by who wants to change it; its own memory is the partition's. */
  async read(name: PartitionName, claims: readonly string[], line: Line): Promise<void> {
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

  async #read(name: PartitionName, claims: readonly string[], line: Line): Promise<void> {
    const key = keyOf(name);
    const before = this.#known.get(key);
    // Before the claims are looked for: who makes one of them after that changes the partition, and the store then tells.
    const read = before == null ? { ...(await this.#readState(name, line)), reading: Symbol() } : before;
    const found = new Map<string, boolean>();
    for (const claim of claims) found.set(claim, await this.#isMade(claim, name, read.state, line));
    const now = this.#known.get(key);
    // What was known was accepted and did not come to be, or is not so any more; or somebody has read it meanwhile, who may have seen claims made
    // that were not there when they were looked for. Whoever needs it has it read again.
    if (now == null ? before != null : now.reading !== read.reading) return;
    // What was accepted while it was read is ahead of that.
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

  /** Whether the store has a claim, where it is seen by who has this line: nothing is remembered of what is looked for. */
  async has(claim: string, name: PartitionName, line: Line): Promise<boolean> {
    return this.#isMade(claim, name, await this.#store.partition(name), line, this.#stored);
  }

  /** Whether a claim was made where it is seen: it has a row there, or none, because another one there says the same. */
  async #isMade(
    claim: string,
    { space, subject, predicate }: PartitionName,
    own: Known['state'],
    line: Line,
    made = this.#made,
  ): Promise<boolean> {
    let until: Instant | undefined;
    for (const [n, level] of line.entries()) {
      const name = { space, subject, predicate, ...(level.branch !== undefined && { branch: level.branch }) };
      const state = n === 0 ? own : await this.#store.partition(name);
      if (state !== undefined) {
        if ((await made.of(name, state, until)).has(claim)) return true;
      } else if (n === 0) {
        // Somebody may have begun it since.
        const [row] = await this.#store.facts({ ...name, kind: 'all', lineage: claim, limit: 1 });
        if (row !== undefined) return true;
      }
      const above = line[n + 1];
      const next = state?.since ?? (above && untilOf(above, name));
      if (next !== undefined && (until === undefined || next < until)) until = next;
    }
    return false;
  }

  async #readState(name: PartitionName, line: Line): Promise<Pick<Known, 'state' | 'source' | 'open'>> {
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
   * What the store has by now is another one, or something that is open was erased, which the version of a branch's partition does not say: it is
   * read again. What is on its way there is compared by the store itself. `line`: as in `read`.
   */
  async compare(name: PartitionName, line: Line): Promise<void> {
    const key = keyOf(name);
    const known = this.#known.get(key);
    if (known == null || this.#sent.has(key)) return;
    const { state, open } = await this.#readState(name, line);
    const now = this.#known.get(key);
    const isSame =
      state?.version === known.state?.version &&
      state?.names.hash === known.state?.names.hash &&
      saysTheSame(open.all, known.open.all);
    // Claims that were looked for meanwhile change nothing of what it is; what was accepted or read is another.
    if (!isSame && now?.state === known.state && now?.source === known.source) this.#known.set(key, null);
  }

  /** What was known of them is not so any more. */
  forgetNames(names: readonly PartitionName[]): void {
    for (const name of names) this.#known.set(keyOf(name), null);
  }

  /** They were accepted, and are on their way to the store. */
  accept(writes: readonly FactWrite[], sender: string): void {
    for (const write of writes) {
      const key = keyOf(write.partition);
      const sent = this.#sent.get(key) ?? sentBy(sender);
      sent.count++;
      this.#sent.set(key, sent);
      this.#made.accept(write);
      const before = this.#known.get(key);
      // An erasure changes what nobody here has read.
      if (before == null) continue;
      const { claims, sought, reading } = before;
      for (const { lineage } of write.insert) claims.set(lineage, true);
      const { names, version, system_time: latest } = write;
      before.open.change(write);
      this.#known.set(key, { state: { names, version, latest }, open: before.open, claims, sought, reading });
    }
  }

  /** Claims of what was accepted that have no row. */
  made(name: PartitionName, claims: readonly string[]): void {
    const known = this.#known.get(keyOf(name));
    for (const claim of claims) known?.claims.set(claim, true);
    this.#made.merged(name, claims);
  }

  /** The store has answered, whatever it did. */
  settled(writes: readonly FactWrite[]): void {
    for (const { partition } of writes) {
      this.#answered(keyOf(partition));
      this.#forgetSources(partition);
    }
  }

  /** Branches that have not changed it may take over another version of it now, and are not to be told so by the store. */
  #forgetSources(name: PartitionName): void {
    const names = sharedKeyOf(name);
    for (const key of this.#ofBranches.get(names) ?? []) {
      const { state, source } = this.#known.get(key) ?? {};
      if (source !== undefined && state === undefined && !this.#sent.has(key)) this.#known.set(key, null);
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
    // The store has the others now, and is asked again. Whoever looked for these has waited for this, and begins again with them.
    const kept = new Set(known.sought);
    const claims = new Map([...known.claims].filter(([claim]) => kept.has(claim)));
    this.#known.set(key, { ...known, claims });
  }

  /** They did not come to be, or what they were planned on is not so any more. A text that is gone may be one that branches took over. */
  forget(writes: readonly FactWrite[]): void {
    for (const { partition } of writes) {
      this.#made.forget(partition);
      this.#known.set(keyOf(partition), null);
      for (const key of this.#ofBranches.get(sharedKeyOf(partition)) ?? []) this.#known.set(key, null);
    }
  }
}

/** Who holds partitions that nothing is on its way to. No sender's name: those begin with a number. */
const HOLDER = 'holder';

/** Changes of one sender that the store has not answered yet. */
interface Sent {
  readonly sender: string;
  readonly settled: Promise<void>;
  readonly settle: () => void;
  count: number;
}

function sentBy(sender: string): Sent {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { sender, settled: promise, settle: resolve, count: 0 };
}

/**
 * What a branch takes over of a partition. Versions are read first: what is changed after that has a greater system time than what is
 * there, so that nothing of what is read as of then can become another thing, and where something may come before, its version is another.
 */
async function readSource(
  store: FactStore,
  { branch, space, subject, predicate }: PartitionName,
  line: readonly [Level, ...Level[]],
): Promise<Source> {
  const names = { space, subject, predicate };
  const begins = untilOf(line[0], names) as Instant;
  const reads: PartitionRead[] = [];
  for (const level of line) {
    const { branch: there } = level;
    const until = untilOf(level, names) as Instant;
    const partition = { ...names, ...(there !== undefined && { branch: there }) };
    const state = await store.partition(partition);
    if (state === undefined || state.latest < until) reads.push({ partition, version: state?.version ?? 0 });
    if (state === undefined) continue;
    const system = state.latest < until ? state.latest : until;
    const open: FactVersion[] = [];
    for await (const page of seenFacts(store, line, { space, subject, predicate, system })) open.push(...page);
    const rows = open.map((row) => ({ ...row, branch: branch as string, system_time_end: OPEN_END }));
    return { begins, until: system, open: [...new OpenSet(rows)], reads };
  }
  return { begins, open: [], reads };
}

function keyOf({ space, subject, predicate, branch }: PartitionName): string {
  return JSON.stringify(branch === undefined ? [space, subject, predicate] : [space, subject, predicate, branch]);
}

function sharedKeyOf({ space, subject, predicate }: PartitionName): string {
  return keyOf({ space, subject, predicate });
}

/** Whether it is the same rows, with the same texts. */
function saysTheSame(one: readonly FactVersion[], other: readonly FactVersion[]): boolean {
  const texts = new Map(one.map((row) => [`${row.system_time_start} ${row.fact_id}`, row.object]));
  return (
    one.length === other.length &&
    other.every((row) => texts.get(`${row.system_time_start} ${row.fact_id}`) === row.object)
  );
}
