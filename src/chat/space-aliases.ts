import type { MemoryView } from '#runtime';
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

/** More aliases than one read has are not used. */
const ALIASES_MAX = 10_000;

/** The aliases of a space as of a time: those of the options, and those that the ledger has. */
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
      limit: ALIASES_MAX,
    });
    return facts.filter((fact) => !isErased(fact)).map(({ subject, object }) => ({ alias: subject, name: object }));
  };
  const [names, predicates] = await Promise.all([recorded(ALIAS), recorded(PREDICATE_ALIAS)]);
  return {
    names: new Aliases([...pairsOf(declared.names), ...names]),
    predicates: new Aliases([...pairsOf(declared.predicates), ...predicates]),
  };
}

function pairsOf(declared: DeclaredAliases['names'] = {}): AliasPair[] {
  return Object.entries(declared).flatMap(([name, aliases]) => aliases.map((alias) => ({ alias, name })));
}
