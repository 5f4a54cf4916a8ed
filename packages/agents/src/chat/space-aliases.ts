import { type MemoryView, RECALL_MAX } from 'assize/internal/runtime';
import { Aliases, type AliasPair } from './aliases.ts';
import { ALIAS, PREDICATE_ALIAS } from './domain.ts';
import { isErased } from './erased.ts';

/** The names of one space that mean one thing, of things and of predicates. */
export interface SpaceAliases {
  readonly names: Aliases;
  readonly predicates: Aliases;
}

/** Other names by their name, as options declare them. */
export interface DeclaredAliases {
  readonly names?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly predicates?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A subject and a predicate, under which a ledger keeps facts. */
export interface FactKey {
  readonly subject: string;
  readonly predicate: string;
}

/** The most keys of one fact. An agent may declare many names. */
const KEYS_MAX = 64;

/** The key of a fact under each of its names, that of the classes first. */
export function keysOf(
  { subject, predicate }: FactKey,
  { names, predicates }: SpaceAliases,
): readonly FactKey[] {
  const others = predicates.namesOf(predicate);
  const keys = names
    .namesOf(subject)
    .flatMap((subject) => others.map((predicate) => ({ subject, predicate })));
  return keys.slice(0, KEYS_MAX);
}

/**
 * The aliases of a space as of a time: those of the options, and the first `RECALL_MAX` of each
 * kind that the ledger has.
 */
export async function aliasesOf(
  view: MemoryView,
  declared: DeclaredAliases,
  times: { readonly valid: string; readonly system?: string | undefined },
): Promise<SpaceAliases> {
  const recorded = async (predicate: string): Promise<AliasPair[]> => {
    const { facts } = await view.recall({
      predicate,
      valid: times.valid,
      ...(times.system !== undefined && { system: times.system }),
      limit: RECALL_MAX,
    });
    return facts
      .filter((fact) => !isErased(fact))
      .map(({ subject, object }) => ({ alias: subject, name: object }));
  };
  const [names, predicates] = await Promise.all([recorded(ALIAS), recorded(PREDICATE_ALIAS)]);
  return {
    names: new Aliases([...pairsOf(declared.names), ...names]),
    predicates: new Aliases([...pairsOf(declared.predicates), ...predicates]),
  };
}

function pairsOf(declared: DeclaredAliases['names'] = {}): AliasPair[] {
  return Object.entries(declared).flatMap(([name, aliases]) =>
    aliases.map((alias) => ({ alias, name })),
  );
}
