import { arg, checkArgument, type Json } from 'assize/internal/base';
import { instantOf, maxInstant, readInstant, type Time } from 'assize/internal/canon';
import { fuse } from 'assize/internal/memory';
import type { Clock } from 'assize/internal/oracle';
import type { SearchMode } from 'assize/internal/runtime';
import { authorsOf, type ChatFact, chatFacts } from './chat-fact.ts';
import { contextOf } from './context.ts';
import { type Cursor, cursorText, readCursor, SEARCHED_MAX, shownKey } from './cursor.ts';
import { checkFilter, type RecallFilter } from './filter.ts';
import { type Match, rowsOf } from './joined.ts';
import { listFrom } from './list.ts';
import type { ReadSpace, Times } from './match.ts';
import { searchIn } from './search.ts';

export interface RecallOptions {
  /** 1 to 16 spaces. Default: `user:USER` with a user, else that of the memory. */
  readonly spaces?: readonly string[];
  readonly user?: string;
  /** The valid time of the facts; `any`: all times. Default: now. */
  readonly at?: Time | 'any';
  /** The facts as the ledger held them then. Default: now. */
  readonly asOf?: Time;
  readonly filter?: RecallFilter;
  /** Facts of a page, from 1 to 200. Default: 20. */
  readonly limit?: number;
  /** `next` of the page before. The other options must be the same. */
  readonly cursor?: string;
  /** Maximum number of tokens of `context`. Default: no limit. */
  readonly budget?: number;
  /** Aborts the calls of an embedder. */
  readonly signal?: AbortSignal;
}

export interface ChatRecall {
  /** Best first; without a question, by space, subject, predicate and time. */
  readonly facts: readonly ChatFact[];
  /** The facts as text for a prompt. A fact that exceeds the budget is left out. */
  readonly context: string;
  readonly tokens: number;
  /**
   * The next page, if more facts match. A search ends after 1,000 facts, and a list has at most
   * 10,000 facts of one subject and predicate.
   */
  readonly next?: string;
  /** For a proposal that uses the facts, and for `basedOn` of `remember`: one for each space. */
  readonly observations: readonly RecallObservation[];
}

export interface RecallObservation {
  readonly name: 'recall';
  readonly value: Json;
  readonly sensitive: true;
}

export interface RecallPorts {
  readonly spaces: readonly ReadSpace[];
  readonly clock: Clock;
  readonly by: SearchMode;
  readonly countTokens: (text: string) => number;
}

export const SPACES_MAX = 16;
const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 200;

const isSpaces = (given: unknown): boolean =>
  Array.isArray(given) && given.length >= 1 && given.length <= SPACES_MAX;

const OPTIONS = arg.options<RecallOptions>({
  spaces: arg.optional(
    arg.all(arg.of(`a list of 1 to ${SPACES_MAX} spaces`, isSpaces), arg.list(arg.text)),
  ),
  user: arg.optional(arg.text),
  at: arg.any,
  asOf: arg.any,
  filter: arg.optional(arg.object),
  limit: arg.optional(arg.wholeFrom(1, LIMIT_MAX)),
  cursor: arg.optional(arg.text),
  budget: arg.optional(arg.whole),
  signal: arg.any,
});

/**
 * @throws ChatMemoryError `bad_argument`; MemoryError `bad_metadata`; ArgumentError `bad_argument`
 */
export function checkRecallOptions(question: string | undefined, options: RecallOptions): void {
  checkArgument(arg.optional(arg.text), question, 'question');
  checkArgument(OPTIONS, options, 'options');
  if (options.filter !== undefined) checkFilter(options.filter);
}

/** @throws the errors of `ChatMemory.recall` */
export async function recall(
  question: string | undefined,
  options: RecallOptions,
  ports: RecallPorts,
): Promise<ChatRecall> {
  const query = queryOf(question, options, ports);
  const cursor = options.cursor === undefined ? undefined : readCursor(options.cursor, query);
  const now = ports.clock.now();
  const times = timesOf(options, cursor, now);
  const page = await (question === undefined
    ? listed(options, cursor, times, now, ports)
    : searched(question, options, cursor, times, now, ports));
  const facts = await chatFacts(page.matches);
  const { text, tokens } = contextOf(
    facts.map((fact) => ({
      ...fact,
      authors: authorsOf(fact),
      isContested: fact.contradictedBy !== undefined,
    })),
    { budget: options.budget, countTokens: ports.countTokens },
  );
  // A clock that stands or is behind must not hide the facts of this page from the next.
  const system =
    times.system ??
    rowsOf(page.matches).reduce((at, row) => maxInstant(at, row.system_time_start), now);
  return {
    facts,
    context: text,
    tokens,
    ...(page.next && { next: cursorText({ valid: times.valid, system, ...page.next }, query) }),
    observations: [...page.queries].map(([space, asked]) => observed(asked, page.matches, space)),
  };
}

interface Page {
  readonly matches: readonly Match[];
  readonly next?: Pick<Cursor, 'shown' | 'after'> | undefined;
  readonly queries: ReadonlyMap<string, Json>;
}

/** @throws CanonError `bad_instant` */
function timesOf({ at, asOf }: RecallOptions, cursor: Cursor | undefined, now: string): Times {
  if (cursor !== undefined) return cursor;
  const valid = at === undefined ? now : at === 'any' ? at : instantOf(at);
  return { valid, ...(asOf !== undefined && { system: instantOf(asOf) }) };
}

async function listed(
  { filter = {}, limit = LIMIT_DEFAULT }: RecallOptions,
  cursor: Cursor | undefined,
  times: Times,
  now: string,
  { spaces }: RecallPorts,
): Promise<Page> {
  const { matches, end, queries } = await listFrom(spaces, {
    times,
    now,
    filter,
    after: cursor?.after,
    limit,
  });
  return { matches, queries, ...(end && { next: { after: end } }) };
}

async function searched(
  question: string,
  { filter = {}, limit = LIMIT_DEFAULT, signal }: RecallOptions,
  cursor: Cursor | undefined,
  times: Times,
  now: string,
  { spaces, by }: RecallPorts,
): Promise<Page> {
  const shown = new Set(cursor?.shown);
  const terms = { question, by, times, now, filter, shown, need: limit + 1, signal };
  const found = await Promise.all(spaces.map((space) => searchIn(space, terms)));
  const lists = found.map(({ matches }) => matches);
  const ranked = fuse(lists, ({ row }) => shownKey(row)).map(({ item }) => item);
  const matches = ranked.slice(0, limit);
  const keys = [...shown, ...matches.map(({ row }) => shownKey(row))];
  const hasNext = ranked.length > limit && keys.length + limit <= SEARCHED_MAX;
  return {
    matches,
    queries: new Map(found.map(({ query }, n) => [spaces[n]!.space, query])),
    ...(hasNext && { next: { shown: keys } }),
  };
}

/** All that decides which facts match. */
function queryOf(
  question: string | undefined,
  { at, asOf, filter }: RecallOptions,
  { spaces, by }: RecallPorts,
): Json {
  const time = (given: Time | undefined): string | null =>
    given === undefined ? null : (readInstant(given) ?? String(given));
  const { during, ...others } = filter ?? {};
  return [
    question?.toWellFormed() ?? null,
    by,
    spaces.map(({ space }) => space),
    [time(at), time(asOf), time(during?.from), time(during?.to)],
    others as Json,
  ];
}

function observed(query: Json, matches: readonly Match[], of: string): RecallObservation {
  const own = matches.filter(({ space }) => space.space === of);
  return {
    name: 'recall',
    value: { query, rows: rowsOf(own).map((row) => [row.fact_id, row.system_time_start]) },
    sensitive: true,
  };
}
