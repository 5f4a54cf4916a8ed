import type { StatementAuthor } from 'assize/internal/kernel';
import type { FactRow } from 'assize/internal/memory';
import type { FactSource } from 'assize/internal/runtime';
import { type Match, rowsOf } from './joined.ts';
import type { SpaceAliases } from './space-aliases.ts';

/** A fact under the names of its classes. */
export interface ChatFact {
  /**
   * The id of the fact, for `repair`. Under several names it is that of one version, the same in
   * every recall as of one time.
   */
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
  /** The statements behind it: their entries, messages, authors and metadata. */
  readonly sources: readonly FactSource[];
  /** The names in the ledger, if they differ from those of the classes. */
  readonly stated?: Names;
  /**
   * The facts that contradict it under other names, and what other users stated in its place. No
   * strategy settles these.
   */
  readonly contradictedBy?: readonly (Names & {
    readonly id: string;
    readonly authors: readonly StatementAuthor[];
  })[];
  /** The version in the ledger. */
  readonly row: FactRow;
}

interface Names {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
}

/** The facts of matches, with the statements behind all of their versions. */
export async function chatFacts(matches: readonly Match[]): Promise<ChatFact[]> {
  const sources = new Map<FactRow, readonly FactSource[]>();
  for (const [space, of] of Map.groupBy(matches, ({ space }) => space)) {
    const rows = rowsOf(of);
    for (const [n, found] of (await space.view.sources(rows)).entries())
      sources.set(rows[n]!, found);
  }
  return Promise.all(matches.map((match) => factOf(match, (row) => sources.get(row) ?? [])));
}

async function factOf(
  match: Match,
  sourcesOf: (row: FactRow) => readonly FactSource[],
): Promise<ChatFact> {
  const { row, space, aliases, joined } = match;
  const { subject, predicate, object } = row;
  const names = namesOf(row, aliases);
  const isOther =
    names.subject !== subject || names.predicate !== predicate || names.object !== object;
  const others = await joined.contradicting(row);
  return {
    id: row.fact_id,
    space: space.space,
    ...names,
    valid_from: row.valid_from,
    valid_to: row.valid_to,
    recorded: row.system_time_start,
    confidence: row.confidence,
    sources: rowsOf([match]).flatMap(sourcesOf),
    ...(isOther && { stated: { subject, predicate, object } }),
    ...(others.length > 0 && {
      contradictedBy: (await space.view.sources(others)).map((sources, n) => ({
        ...{
          id: others[n]!.fact_id,
          ...namesOf(others[n]!, aliases),
          authors: authorsOf({ sources }),
        },
      })),
    }),
    row,
  };
}

/** The authors of a fact, each once. Empty: unknown. */
export function authorsOf({ sources }: Pick<ChatFact, 'sources'>): readonly StatementAuthor[] {
  const authors = sources.flatMap(({ author }) => author ?? []);
  return [
    ...new Map(
      authors.map(({ role, name }) => [
        `${role} ${name ?? ''}`,
        { role, ...(name !== undefined && { name }) },
      ]),
    ).values(),
  ];
}

function namesOf(
  { subject, predicate, object }: FactRow,
  { names, predicates }: SpaceAliases,
): Names {
  return {
    subject: names.nameOf(subject),
    predicate: predicates.nameOf(predicate),
    object: names.nameOf(object),
  };
}
