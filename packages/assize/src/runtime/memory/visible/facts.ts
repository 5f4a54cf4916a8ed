import {
  type BranchPartition,
  type FactQuery,
  type FactReads,
  type FactStore,
  type FactVersion,
  OPEN_END,
} from '#ledger';
import type { FactRow } from '#memory';
import { factPages } from './fact-pages.ts';
import {
  type LateChange,
  type VisibilityChain,
  type VisibleMemory,
  visibleRows,
  visibleUntil,
} from './visibility.ts';

const PAGE = 1_000;

export interface VisibleFactsOptions {
  /** Maximum number of facts. */
  readonly most?: number | undefined;
  /** Continues after this partition. */
  readonly after?: Names | undefined;
}

/**
 * The facts visible in this chain, in the order of a store, by pages. With several memories the
 * rows of a partition come together. `query` is for one space, and has no branch.
 *
 * Each partition is as of one moment, also if a memory changes it for the first time during the
 * read. Such a change is atomic and happens once. If the memory did not have the partition when its
 * start was read, it has no rows yet. If it has the partition but had no rows before, it is read
 * again.
 *
 * @throws StoreError
 */
export async function* visibleFacts(
  store: FactReads,
  line: VisibilityChain,
  query: Omit<FactQuery, 'branch' | 'after' | 'limit'>,
  { most, after }: VisibleFactsOptions = {},
): AsyncGenerator<FactVersion[]> {
  const [own, ...sources] = line;
  if (sources.length === 0) {
    yield* factPages(store, { ...visibleMemoryQuery(query, own), ...from(after) }, { most });
    return;
  }
  const turns = { last: 0 };
  const partitions = line.map(
    (level) => new PeekableRows(partitionsOf(store, query, level, turns, after)),
  );
  // Read before the rows, so that none of them must be read again.
  await Promise.all(partitions.map((each) => each.head()));
  const rows = line.map((level) => new MemoryRows(store, query, level, turns, after));
  let page: FactVersion[] = [];
  for (;;) {
    const heads = (await Promise.all(rows.map((each) => each.next()))).filter(
      (head) => head !== undefined,
    );
    const [first] = heads.sort(byNames);
    if (first === undefined) break;
    const own = await Promise.all(partitions.map((each) => partitionAt(each, first)));
    const found = await Promise.all(
      rows.map((each, level) =>
        each.of(first, line[level]!.branch === undefined ? 'shared' : own[level]),
      ),
    );
    page.push(
      ...visibleRows(
        line,
        { ...first, space: query.space },
        (level) => found[level]!,
        (level) => own[level]?.since,
      ).sort(byPlace),
    );
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/**
 * The query for one memory: later changes are not visible, so rows closed since are open there.
 * Partitions that are visible up to a later time are queried by name.
 */
export function visibleMemoryQuery(
  { system, ...query }: Omit<FactQuery, 'branch'>,
  level: VisibleMemory,
): FactQuery {
  const { branch } = level;
  const { space, subject, predicate } = query;
  const isOne = subject !== undefined && predicate !== undefined;
  const until = isOne ? visibleUntil(level, { space, subject, predicate }) : level.until;
  const of = { ...query, ...(branch !== undefined && { branch }) };
  if (system === undefined) return of;
  return {
    ...of,
    system: until === undefined || (system !== 'now' && system < until) ? system : until,
  };
}

/**
 * Matching partitions that are visible up to a later time, in the order of a store. Without a time
 * restriction, all partitions are visible alike.
 */
export function lateChangesIn(
  { space, subject, predicate, system }: Omit<FactQuery, 'branch'>,
  { lateChanges }: VisibleMemory,
): LateChange[] {
  if (system === undefined || (subject !== undefined && predicate !== undefined)) return [];
  const isAsked = (name: LateChange): boolean =>
    name.space === space &&
    (subject === undefined || subject === name.subject) &&
    (predicate === undefined || predicate === name.predicate);
  return [...(lateChanges?.values() ?? [])].filter(isAsked).sort(byNames);
}

/** Counts reads, to order two of them. */
interface ReadCounter {
  last: number;
}

/** The rows of one memory. */
class MemoryRows {
  readonly #store: FactReads;
  readonly #asked: Omit<FactQuery, 'branch'>;
  readonly #level: VisibleMemory;
  readonly #query: FactQuery;
  readonly #turns: ReadCounter;
  readonly #rows: PeekableRows<FactVersion>;
  /** Partitions to be queried by name, not yet queried. */
  #ahead: LateChange[];
  /** The read that returned the page of the next row. */
  #turn: number = 0;

  constructor(
    store: FactReads,
    asked: Omit<FactQuery, 'branch'>,
    level: VisibleMemory,
    turns: ReadCounter,
    after: Names | undefined,
  ) {
    this.#store = store;
    this.#asked = asked;
    this.#level = level;
    this.#query = { ...visibleMemoryQuery(asked, level), ...from(after) };
    this.#turns = turns;
    this.#rows = new PeekableRows(this.#all());
    this.#ahead = lateChangesIn(asked, level).filter(
      (name) => after === undefined || byNames(name, after) > 0,
    );
  }

  /** The next partition. */
  async next(): Promise<Names | undefined> {
    const row = await this.#rows.head();
    const [ahead] = this.#ahead;
    if (row === undefined || ahead === undefined) return row ?? ahead;
    return byNames(ahead, row) < 0 ? ahead : row;
  }

  /**
   * The rows of the next partition, if this memory has it. `own`: its start, and the read that
   * returned it.
   */
  async of(names: Names, own: OwnPartition | 'shared' | undefined): Promise<FactVersion[]> {
    const found = await this.#rows.takeWhile((row) => byNames(row, names) === 0);
    const [ahead] = this.#ahead;
    if (ahead !== undefined && byNames(ahead, names) === 0) {
      this.#ahead = this.#ahead.slice(1);
      return own === undefined ? [] : this.#again(names);
    }
    if (own === 'shared') return found;
    // The partition started after its start was read.
    if (own === undefined) return [];
    return found.length > 0 || own.turn < this.#turn ? found : this.#again(names);
  }

  async #again({ subject, predicate }: Names): Promise<FactVersion[]> {
    const found: FactVersion[] = [];
    const query = visibleMemoryQuery({ ...this.#asked, subject, predicate }, this.#level);
    for await (const page of factPages(this.#store, query)) found.push(...page);
    return found;
  }

  async *#all(): AsyncGenerator<FactVersion> {
    const onAsk = (): void => {
      this.#turn = ++this.#turns.last;
    };
    for await (const page of factPages(this.#store, this.#query, { onAsk })) yield* page;
  }
}

/** A partition that a memory has of its own, and the read that returned it. */
type OwnPartition = BranchPartition & { readonly turn: number };

async function* partitionsOf(
  store: FactReads,
  { space, subject, predicate }: Pick<FactQuery, 'space' | 'subject' | 'predicate'>,
  { branch }: VisibleMemory,
  turns: ReadCounter,
  start: Names | undefined,
): AsyncGenerator<OwnPartition> {
  if (branch === undefined) return;
  const query = {
    space,
    branch,
    ...(subject !== undefined && { subject }),
    ...(predicate !== undefined && { predicate }),
    limit: PAGE,
  };
  let after = start;
  for (;;) {
    const page = await store.branchPartitions({ ...query, ...(after && { after }) });
    // Counted after the read: rows requested later have a greater number.
    const turn = ++turns.last;
    for (const partition of page) yield { ...partition, turn };
    if (page.length < PAGE) return;
    after = page.at(-1);
  }
}

async function partitionAt(
  partitions: PeekableRows<OwnPartition>,
  names: Names,
): Promise<OwnPartition | undefined> {
  await partitions.takeWhile((partition) => byNames(partition, names) < 0);
  const head = await partitions.head();
  return head !== undefined && byNames(head, names) === 0 ? head : undefined;
}

/** An iterator with a look at its next item. */
class PeekableRows<T> {
  readonly #items: AsyncIterator<T>;
  #next: Promise<IteratorResult<T>> | undefined;

  constructor(items: AsyncGenerator<T>) {
    this.#items = items;
  }

  async head(): Promise<T | undefined> {
    this.#next ??= this.#items.next();
    const { done, value } = await this.#next;
    return done === true ? undefined : value;
  }

  async takeWhile(isWanted: (item: T) => boolean): Promise<T[]> {
    const taken: T[] = [];
    for (
      let item = await this.head();
      item !== undefined && isWanted(item);
      item = await this.head()
    ) {
      taken.push(item);
      this.#next = undefined;
    }
    return taken;
  }
}

type Names = Pick<FactVersion, 'subject' | 'predicate'>;

export function byNames(a: Names, b: Names): number {
  return byCodePoints(a.subject, b.subject) || byCodePoints(a.predicate, b.predicate);
}

/** The place in the order of a store after all rows of a partition: no row starts so late. */
function from(after: Names | undefined): Pick<FactQuery, 'after'> {
  if (after === undefined) return {};
  const { subject, predicate } = after;
  return {
    after: {
      subject,
      predicate,
      system_time_start: OPEN_END,
      valid_from: OPEN_END,
      fact_id: OPEN_END,
    },
  };
}

/** The order of a store within a partition. */
function byPlace(a: FactVersion, b: FactVersion): number {
  return (
    byCodePoints(a.system_time_start, b.system_time_start) ||
    byCodePoints(a.valid_from, b.valid_from) ||
    byCodePoints(a.fact_id, b.fact_id)
  );
}

// The bytes of UTF-8 sort in the order of code points.
function byCodePoints(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** The row without store-only columns, and without its memory: it may not be the reader's. */
export function rowOf({ content: _, branch: __, ...row }: FactVersion): FactRow {
  return row as FactRow;
}

/** Runs the queries of `read` in one snapshot read, if the store supports it. */
export function withReadSnapshot<T>(
  store: FactStore,
  read: (facts: FactReads) => Promise<T>,
  options: { readonly byText?: boolean } = {},
): Promise<T> {
  return store.withReadSnapshot === undefined ? read(store) : store.withReadSnapshot(read, options);
}
