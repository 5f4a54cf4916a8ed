import type { Json } from 'assize/internal/base';
import type { FactRow } from 'assize/internal/memory';
import { type MemoryView, RECALL_MAX, type RecallQuery } from 'assize/internal/runtime';
import { filtered, type RecallFilter, storedFilter } from './filter.ts';
import { isSameVersion, JoinedFacts, type Match } from './joined.ts';
import { isShown, nameTimes, type ReadSpace, type Times } from './match.ts';

/** A place in a list: after `n` facts of a subject and predicate of the space with that number. */
export interface ListPlace {
  readonly space: number;
  readonly subject: string;
  readonly predicate: string;
  readonly n: number;
}

export interface ListTerms {
  readonly times: Times;
  readonly now: string;
  readonly filter: RecallFilter;
  readonly after?: ListPlace | undefined;
  readonly limit: number;
}

export interface ListedPage {
  readonly matches: readonly Match[];
  /** The place of the last one, if more facts match. */
  readonly end?: ListPlace;
  /** The query of each space that was read. */
  readonly queries: ReadonlyMap<string, Json>;
}

/** Rows of one read. */
const PAGE = 500;

/**
 * A page of all facts, by space, subject, predicate and time. A page costs the same wherever it is.
 *
 * @throws the errors of `MemoryView.recall`
 */
export async function listFrom(
  spaces: readonly ReadSpace[],
  terms: ListTerms,
): Promise<ListedPage> {
  const { times, now, filter, after, limit } = terms;
  const matches: Match[] = [];
  const queries = new Map<string, Json>();
  let end: ListPlace | undefined;
  for (const [number, space] of spaces.entries()) {
    if (number < (after?.space ?? 0)) continue;
    const aliases = await space.aliasesAt(nameTimes(times, now));
    const joined = new JoinedFacts(space.view, aliases, times, filter);
    const asked = {
      ...storedFilter(filter, aliases),
      valid: times.valid,
      ...(times.system !== undefined && { system: times.system }),
    };
    const onQuery = (query: Json): unknown => queries.set(space.space, query);
    for await (const part of partsAfter(
      space.view,
      asked,
      number === after?.space ? after : undefined,
      onQuery,
    )) {
      const wanted = part.rows.flatMap((row, at) =>
        isShown(row) ? [{ row, n: part.first + at + 1 }] : [],
      );
      const kept = new Set(
        await filtered(
          wanted.map(({ row }) => row),
          filter,
          aliases,
          space.view,
        ),
      );
      for (const { row, n } of wanted) {
        if (!kept.has(row)) continue;
        const fact = await joined.of(row);
        // A fact of several versions is listed once, at the version that stands for it.
        if (!isSameVersion(fact.row, row)) continue;
        if (matches.length === limit) return { matches, end: end!, queries };
        matches.push({ ...fact, space, aliases, joined });
        end = { space: number, subject: row.subject, predicate: row.predicate, n };
      }
    }
  }
  return { matches, queries };
}

interface Part {
  /** Of one subject and predicate. */
  readonly rows: readonly FactRow[];
  /** How many of its rows come before. */
  readonly first: number;
}

/** The rest of the facts, one subject and predicate at a time. */
async function* partsAfter(
  view: MemoryView,
  asked: RecallQuery,
  place: ListPlace | undefined,
  onQuery: (query: Json) => unknown,
): AsyncGenerator<Part> {
  const whole = async ({
    subject,
    predicate,
  }: Pick<FactRow, 'subject' | 'predicate'>): Promise<readonly FactRow[]> =>
    (await view.recall({ ...asked, subject, predicate, limit: RECALL_MAX })).facts;
  let after = place && { subject: place.subject, predicate: place.predicate };
  if (place !== undefined) yield { rows: (await whole(place)).slice(place.n), first: place.n };
  for (;;) {
    const { facts, isTruncated, observation } = await view.recall({
      ...asked,
      ...(after && { after }),
      limit: PAGE,
    });
    onQuery((observation.value as { readonly query: Json }).query);
    const parts = [
      ...Map.groupBy(facts, ({ subject, predicate }) =>
        JSON.stringify([subject, predicate]),
      ).values(),
    ];
    const cut = isTruncated ? parts.pop() : undefined;
    for (const rows of parts) yield { rows, first: 0 };
    if (cut === undefined) return;
    const { subject, predicate } = cut[0]!;
    yield { rows: await whole({ subject, predicate }), first: 0 };
    after = { subject, predicate };
  }
}
