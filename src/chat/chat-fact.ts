import type { FactRow } from '#memory';
import type { FactSource } from '#runtime';
import { isErased } from './erased.ts';
import type { Match, Times } from './match.ts';
import type { SpaceAliases } from './space-aliases.ts';

/** A fact under the names of its classes. */
export interface ChatFact {
  /** The id of the fact, for `repair`. */
  readonly id: string;
  readonly space: string;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly valid_from: string;
  readonly valid_to: string;
  /** When the ledger recorded this version. */
  readonly recorded: string;
  readonly confidence: number;
  /** The statements behind it: their entries, messages and metadata. */
  readonly sources: readonly FactSource[];
  /** The names in the ledger, if they differ from those of the classes. */
  readonly stated?: Names;
  /** The facts that contradict it under other names, which no strategy has settled. */
  readonly contradictedBy?: readonly (Names & { readonly id: string })[];
  /** The version in the ledger. */
  readonly row: FactRow;
}

interface Names {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
}

/** The facts of matches. Versions that state one fact under several names are one fact. */
export async function chatFacts(matches: readonly Match[], times: Times): Promise<ChatFact[]> {
  const facts = merged(matches);
  const sources = new Map<FactRow, readonly FactSource[]>();
  for (const [space, of] of Map.groupBy(facts, ({ space }) => space)) {
    const rows = of.flatMap(({ row, also }) => [row, ...also]);
    for (const [n, found] of (await space.view.sources(rows)).entries()) sources.set(rows[n]!, found);
  }
  return Promise.all(facts.map((match) => factOf(match, times, (row) => sources.get(row) ?? [])));
}

interface MergedMatch extends Match {
  /** Later versions of the same fact, under other names. */
  readonly also: FactRow[];
}

function merged(matches: readonly Match[]): MergedMatch[] {
  const found: MergedMatch[] = [];
  for (const match of matches) {
    const same = found.find((other) => isSameFact(match, other));
    if (same === undefined) found.push({ ...match, also: [] });
    else same.also.push(match.row);
  }
  return found;
}

function isSameFact({ row, aliases: { names, predicates }, space }: Match, other: Match): boolean {
  return (
    space.space === other.space.space &&
    names.isSame(row.subject, other.row.subject) &&
    predicates.isSame(row.predicate, other.row.predicate) &&
    names.isSame(row.object, other.row.object) &&
    isRenamed(row, other.row) &&
    areAtOnce(row, other.row)
  );
}

function isRenamed(a: FactRow, b: FactRow): boolean {
  return a.subject !== b.subject || a.predicate !== b.predicate || a.object !== b.object;
}

function areAtOnce(a: FactRow, b: FactRow): boolean {
  return a.valid_from < b.valid_to && b.valid_from < a.valid_to;
}

async function factOf(
  { also, ...match }: MergedMatch,
  times: Times,
  sourcesOf: (row: FactRow) => readonly FactSource[],
): Promise<ChatFact> {
  const { row, space, aliases } = match;
  const { subject, predicate, object } = row;
  const names = namesOf(row, aliases);
  const isOther = names.subject !== subject || names.predicate !== predicate || names.object !== object;
  const others = await contradictions(match, times);
  return {
    id: row.fact_id,
    space: space.space,
    ...names,
    valid_from: row.valid_from,
    valid_to: row.valid_to,
    recorded: row.system_time_start,
    confidence: row.confidence,
    sources: [row, ...also].flatMap(sourcesOf),
    ...(isOther && { stated: { subject, predicate, object } }),
    ...(others.length > 0 && {
      contradictedBy: others.map((other) => ({ id: other.fact_id, ...namesOf(other, aliases) })),
    }),
    row,
  };
}

function namesOf({ subject, predicate, object }: FactRow, { names, predicates }: SpaceAliases): Names {
  return {
    subject: names.nameOf(subject),
    predicate: predicates.nameOf(predicate),
    object: names.nameOf(object),
  };
}

/** The other names of one fact that are compared with it. An agent may declare many. */
const COMPARED_MAX = 64;

/**
 * The facts of the same subject and predicate under other names. A store separates facts by their
 * names, so it settles no contradiction between them.
 */
async function contradictions(
  { row, space, aliases: { names, predicates } }: Match,
  { valid, system }: Times,
): Promise<readonly FactRow[]> {
  if (row.cardinality !== 'single-valued') return [];
  const keys = names
    .namesOf(row.subject)
    .flatMap((subject) => predicates.namesOf(row.predicate).map((predicate) => ({ subject, predicate })))
    .filter(({ subject, predicate }) => subject !== row.subject || predicate !== row.predicate)
    .slice(0, COMPARED_MAX);
  const found = await Promise.all(
    keys.map((key) => space.view.recall({ ...key, valid, ...(system !== undefined && { system }) })),
  );
  return found
    .flatMap(({ facts }) => facts)
    .filter((other) => !isErased(other) && areAtOnce(row, other) && !names.isSame(row.object, other.object));
}
