import type { Json } from 'assize/internal/base';
import { RECALL_MAX, type RecallQuery, type SearchMode } from 'assize/internal/runtime';
import { shownKey } from './cursor.ts';
import { filtered, type RecallFilter, storedFilter } from './filter.ts';
import { type JoinedFact, JoinedFacts, type Match } from './joined.ts';
import { isShown, nameTimes, type ReadSpace, type Times } from './match.ts';
import type { SpaceAliases } from './space-aliases.ts';

export interface SearchTerms {
  readonly question: string;
  readonly by: SearchMode;
  readonly times: Times;
  readonly now: string;
  readonly filter: RecallFilter;
  /** The facts of earlier pages, by `shownKey`. */
  readonly shown: ReadonlySet<string>;
  /** How many facts are enough. */
  readonly need: number;
  readonly signal?: AbortSignal | undefined;
}

/** Characters of other names that a question also asks by. */
const ADDED_NAMES_MAX = 1_000;

/**
 * The best facts of a space for a question, without those of earlier pages. Reads more until enough
 * pass the filter.
 *
 * @throws the errors of `MemoryView.recall`
 */
export async function searchIn(
  space: ReadSpace,
  { question, by, times, now, filter, shown, need, signal }: SearchTerms,
): Promise<{ readonly matches: readonly Match[]; readonly query: Json }> {
  const aliases = await space.aliasesAt(nameTimes(times, now));
  const asked: RecallQuery = {
    ...storedFilter(filter, aliases),
    valid: times.valid,
    ...(times.system !== undefined && { system: times.system }),
    text: expanded(question, aliases),
    by,
    ...(signal !== undefined && { signal }),
  };
  const joined = new JoinedFacts(space.view, aliases, times, filter);
  const noted = new Map<string, boolean>();
  for (let depth = 2 * (need + shown.size); ; depth *= 4) {
    const { facts, isTruncated, observation } = await space.view.recall({
      ...asked,
      limit: Math.min(depth, RECALL_MAX),
    });
    const rows = facts.filter((row) => isShown(row) && !shown.has(shownKey(row)));
    const kept = await filtered(rows, filter, aliases, space.view, noted);
    const found = new Map<string, JoinedFact>();
    for (const fact of await Promise.all(kept.map((row) => joined.of(row)))) {
      const key = shownKey(fact.row);
      if (!shown.has(key) && !found.has(key)) found.set(key, fact);
    }
    if (found.size < need && isTruncated && depth < RECALL_MAX) continue;
    const { query } = observation.value as { readonly query: Json };
    const best = [...found.values()].slice(0, need);
    return { matches: best.map((fact) => ({ ...fact, space, aliases, joined })), query };
  }
}

/** A question also asks by the other names of each thing that it mentions. */
function expanded(question: string, { names, predicates }: SpaceAliases): string {
  const others = [...names.otherNamesIn(question), ...predicates.otherNamesIn(question)].join(' ');
  return others === ''
    ? question
    : `${question} ${others.slice(0, ADDED_NAMES_MAX).toWellFormed()}`;
}
