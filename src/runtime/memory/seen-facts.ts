import type { Instant } from '#canon';
import type { BranchPartition, FactQuery, FactStore, FactVersion } from '#ledger';
import { type Level, type Line, seen } from './line.ts';

const PAGE = 1_000;

/**
 * The facts that who has this line sees, in the order of a store, by pages: those of a partition come together where there are several
 * memories. `query` is of one space, and has no branch.
 *
 * @throws StoreError
 */
export async function* seenFacts(
  store: FactStore,
  line: Line,
  query: Omit<FactQuery, 'branch' | 'after' | 'limit'>,
): AsyncGenerator<FactVersion[]> {
  const [own, ...sources] = line;
  if (sources.length === 0) {
    yield* factPages(store, levelQuery(query, own));
    return;
  }
  const rows = line.map((level) => new Ahead(rowsOf(store, levelQuery(query, level))));
  const partitions = line.map((level) => new Ahead(partitionsOf(store, query, level)));
  let page: FactVersion[] = [];
  for (;;) {
    const heads = (await Promise.all(rows.map((each) => each.head()))).filter((head) => head !== undefined);
    const [first] = heads.sort(byNames);
    if (first === undefined) break;
    const found = await Promise.all(rows.map((each) => each.takeWhile((row) => byNames(row, first) === 0)));
    const since = await Promise.all(partitions.map((each) => sinceOf(each, first)));
    page.push(
      ...seen(
        line,
        (level) => found[level]!,
        (level) => since[level],
      ).sort(byPlace),
    );
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/** What is asked of one memory: nothing that came after it is seen, so that what was closed since is open there. */
export function levelQuery({ system, ...query }: Omit<FactQuery, 'branch'>, { branch, until }: Level): FactQuery {
  const of = { ...query, ...(branch !== undefined && { branch }) };
  if (system === undefined) return of;
  return { ...of, system: until === undefined || (system !== 'now' && system < until) ? system : until };
}

async function* factPages(store: FactStore, query: FactQuery): AsyncGenerator<FactVersion[]> {
  let after: FactVersion | undefined;
  for (;;) {
    const page = await store.facts({ ...query, ...(after && { after }), limit: PAGE });
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    after = page.at(-1);
  }
}

async function* rowsOf(store: FactStore, query: FactQuery): AsyncGenerator<FactVersion> {
  for await (const page of factPages(store, query)) yield* page;
}

async function* partitionsOf(
  store: FactStore,
  { space, subject, predicate }: Pick<FactQuery, 'space' | 'subject' | 'predicate'>,
  { branch }: Level,
): AsyncGenerator<BranchPartition> {
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
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1);
  }
}

async function sinceOf(partitions: Ahead<BranchPartition>, names: Names): Promise<Instant | undefined> {
  await partitions.takeWhile((partition) => byNames(partition, names) < 0);
  const head = await partitions.head();
  return head !== undefined && byNames(head, names) === 0 ? head.since : undefined;
}

/** What comes, with a look at the next. */
class Ahead<T> {
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
