import type { FactHit, FactQuery, FactReads, FactVersion } from '#ledger';
import { byNames, lateChangesIn, visibleFacts, visibleMemoryQuery } from './facts.ts';
import type { VisibilityChain } from './visibility.ts';

type Filter = Omit<FactQuery, 'branch' | 'after' | 'limit'>;

/**
 * The best visible facts of those that the filter accepts, at most `limit`. `search` returns the
 * best facts of one memory. A text has the same score in all memories of a space.
 *
 * @throws the errors of `search`; StoreError
 */
export async function visibleHits(
  store: FactReads,
  line: VisibilityChain,
  { filter, limit }: { readonly filter: Filter; readonly limit: number },
  search: (query: Omit<FactQuery, 'after' | 'limit'>, limit: number) => Promise<FactHit[]>,
): Promise<FactHit[]> {
  const [own, ...sources] = line;
  if (sources.length === 0) return search(visibleMemoryQuery(filter, own), limit);
  const queries = line.flatMap((level) =>
    [filter, ...lateChangesIn(filter, level).map(namesOf)].map((asked) =>
      visibleMemoryQuery({ ...filter, ...asked }, level),
    ),
  );
  let lists: readonly MemoryHits[] = queries.map(() => ({ hits: [], floor: Infinity }));
  for (let depth = limit; ; depth *= 4) {
    lists = await Promise.all(
      lists.map(async (before, n): Promise<MemoryHits> => {
        if (before.floor === -Infinity) return before;
        const hits = await search(queries[n]!, depth);
        return { hits, floor: hits.length < depth ? -Infinity : hits.at(-1)!.score };
      }),
    );
    const floor = Math.max(...lists.map((each) => each.floor));
    const hits = lists.flatMap((each) => each.hits);
    const found = await seenOf(store, line, filter, hits);
    if (floor === -Infinity || (found.length >= limit && found[limit - 1]!.score > floor))
      return found.slice(0, limit);
  }
}

/**
 * The best facts of one memory. No fact that it did not return is better than `floor`; undefined if
 * it returned all.
 */
interface MemoryHits {
  readonly hits: readonly FactHit[];
  readonly floor: number;
}

/** The visible facts among the hits, in their visible form, best first. */
async function seenOf(
  store: FactReads,
  line: VisibilityChain,
  filter: Filter,
  hits: readonly FactHit[],
): Promise<FactHit[]> {
  const scores = new Map<string, number>();
  for (const { fact, score } of hits)
    scores.set(nameOf(fact), Math.max(score, scores.get(nameOf(fact)) ?? score));
  const partitions = new Map(
    hits.map(({ fact: { subject, predicate } }) => [
      JSON.stringify([subject, predicate]),
      { subject, predicate },
    ]),
  );
  const found: FactHit[] = [];
  for await (const page of pagesOf(store, line, filter, [...partitions.values()].sort(byNames)))
    for (const fact of page) {
      const score = scores.get(nameOf(fact));
      if (score !== undefined) found.push({ fact, score });
    }
  // Stable: facts of equal score stay in the order of a store.
  return found.sort((a, b) => b.score - a.score);
}

type Names = Pick<FactVersion, 'subject' | 'predicate'>;

async function* pagesOf(
  store: FactReads,
  line: VisibilityChain,
  filter: Filter,
  partitions: readonly Names[],
): AsyncGenerator<FactVersion[]> {
  for (const names of partitions) yield* visibleFacts(store, line, { ...filter, ...names });
}

function namesOf({ subject, predicate }: Names): Names {
  return { subject, predicate };
}

function nameOf({ subject, predicate, fact_id, system_time_start, row_kind }: FactVersion): string {
  return JSON.stringify([subject, predicate, row_kind, system_time_start, fact_id]);
}
