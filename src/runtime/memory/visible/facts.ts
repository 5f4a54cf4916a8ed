import type { BranchPartition, FactQuery, FactReads, FactVersion } from '#ledger';
import { factPages } from './fact-pages.ts';
import { type Ahead, type Level, type Line, seen, untilOf } from './visibility.ts';

const PAGE = 1_000;

/**
 * The facts that who has this line sees, in the order of a store, by pages: those of a partition come together where there are several
 * memories. `query` is of one space, and has no branch. `most`: no more of them are wanted.
 *
 * Each partition is as it was at one moment, also where a memory has its first change of it meanwhile: that comes all at once, and only once. What
 * was not there when it was asked since when has no rows yet; what was, and had none before, is read again.
 *
 * @throws StoreError
 */
export async function* seenFacts(
  store: FactReads,
  line: Line,
  query: Omit<FactQuery, 'branch' | 'after' | 'limit'>,
  most?: number,
): AsyncGenerator<FactVersion[]> {
  const [own, ...sources] = line;
  if (sources.length === 0) {
    yield* factPages(store, levelQuery(query, own), { most });
    return;
  }
  const turns = { last: 0 };
  const partitions = line.map((level) => new Peeked(partitionsOf(store, query, level, turns)));
  // Before the rows: then none of them has to be read again.
  await Promise.all(partitions.map((each) => each.head()));
  const rows = line.map((level) => new Rows(store, query, level, turns));
  let page: FactVersion[] = [];
  for (;;) {
    const heads = (await Promise.all(rows.map((each) => each.next()))).filter((head) => head !== undefined);
    const [first] = heads.sort(byNames);
    if (first === undefined) break;
    const own = await Promise.all(partitions.map((each) => partitionAt(each, first)));
    const found = await Promise.all(
      rows.map((each, level) => each.of(first, line[level]!.branch === undefined ? 'shared' : own[level])),
    );
    page.push(
      ...seen(
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
 * What is asked of one memory: nothing that came after it is seen, so that what was closed since is open there. Partitions that are seen up to
 * a later time are asked for by their names.
 */
export function levelQuery({ system, ...query }: Omit<FactQuery, 'branch'>, level: Level): FactQuery {
  const { branch } = level;
  const { space, subject, predicate } = query;
  const isOne = subject !== undefined && predicate !== undefined;
  const until = isOne ? untilOf(level, { space, subject, predicate }) : level.until;
  const of = { ...query, ...(branch !== undefined && { branch }) };
  if (system === undefined) return of;
  return { ...of, system: until === undefined || (system !== 'now' && system < until) ? system : until };
}

/** Partitions of what is asked that are seen up to a later time there, in the order of a store; where time restricts nothing, all are seen alike. */
export function aheadIn({ space, subject, predicate, system }: Omit<FactQuery, 'branch'>, { ahead }: Level): Ahead[] {
  if (system === undefined || (subject !== undefined && predicate !== undefined)) return [];
  const isAsked = (name: Ahead): boolean =>
    name.space === space &&
    (subject === undefined || subject === name.subject) &&
    (predicate === undefined || predicate === name.predicate);
  return [...(ahead?.values() ?? [])].filter(isAsked).sort(byNames);
}

/** Counts reads, so that of two it is known which came first. */
interface Turns {
  last: number;
}

/** The rows of one memory. */
class Rows {
  readonly #store: FactReads;
  readonly #asked: Omit<FactQuery, 'branch'>;
  readonly #level: Level;
  readonly #query: FactQuery;
  readonly #turns: Turns;
  readonly #rows: Peeked<FactVersion>;
  /** What is asked for by its names, and was not yet. */
  #ahead: Ahead[];
  /** Of the page that the next row is in. */
  #turn: number = 0;

  constructor(store: FactReads, asked: Omit<FactQuery, 'branch'>, level: Level, turns: Turns) {
    this.#store = store;
    this.#asked = asked;
    this.#level = level;
    this.#query = levelQuery(asked, level);
    this.#turns = turns;
    this.#rows = new Peeked(this.#all());
    this.#ahead = aheadIn(asked, level);
  }

  /** The partition that comes next. */
  async next(): Promise<Names | undefined> {
    const row = await this.#rows.head();
    const [ahead] = this.#ahead;
    if (row === undefined || ahead === undefined) return row ?? ahead;
    return byNames(ahead, row) < 0 ? ahead : row;
  }

  /** Those of a partition that comes next, if it is there. `own`: since when, and what is known of it was read in which turn. */
  async of(names: Names, own: Own | 'shared' | undefined): Promise<FactVersion[]> {
    const found = await this.#rows.takeWhile((row) => byNames(row, names) === 0);
    const [ahead] = this.#ahead;
    if (ahead !== undefined && byNames(ahead, names) === 0) {
      this.#ahead = this.#ahead.slice(1);
      return own === undefined ? [] : this.#again(names);
    }
    if (own === 'shared') return found;
    // It began when nothing was known of it yet.
    if (own === undefined) return [];
    return found.length > 0 || own.turn < this.#turn ? found : this.#again(names);
  }

  async #again({ subject, predicate }: Names): Promise<FactVersion[]> {
    const found: FactVersion[] = [];
    const query = levelQuery({ ...this.#asked, subject, predicate }, this.#level);
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

/** A partition that a memory has of its own, and in which turn that was read. */
type Own = BranchPartition & { readonly turn: number };

async function* partitionsOf(
  store: FactReads,
  { space, subject, predicate }: Pick<FactQuery, 'space' | 'subject' | 'predicate'>,
  { branch }: Level,
  turns: Turns,
): AsyncGenerator<Own> {
  if (branch === undefined) return;
  const query = {
    space,
    branch,
    ...(subject !== undefined && { subject }),
    ...(predicate !== undefined && { predicate }),
    limit: PAGE,
  };
  let after: BranchPartition | undefined;
  for (;;) {
    const page = await store.branchPartitions({ ...query, ...(after && { after }) });
    // Counted once it is read: rows that were asked for later have a greater turn.
    const turn = ++turns.last;
    for (const partition of page) yield { ...partition, turn };
    if (page.length < PAGE) return;
    after = page.at(-1);
  }
}

async function partitionAt(partitions: Peeked<Own>, names: Names): Promise<Own | undefined> {
  await partitions.takeWhile((partition) => byNames(partition, names) < 0);
  const head = await partitions.head();
  return head !== undefined && byNames(head, names) === 0 ? head : undefined;
}

/** What comes, with a look at the next. */
class Peeked<T> {
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
    for (let item = await this.head(); item !== undefined && isWanted(item); item = await this.head()) {
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

/** The order of a store inside of a partition. */
function byPlace(a: FactVersion, b: FactVersion): number {
  return (
    byCodePoints(a.system_time_start, b.system_time_start) ||
    byCodePoints(a.valid_from, b.valid_from) ||
    byCodePoints(a.fact_id, b.fact_id)
  );
}

// The bytes of UTF-8 stand in the order of code points.
function byCodePoints(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}
