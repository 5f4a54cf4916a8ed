import type { StatementMetadata } from '#kernel';
import type { MemoryView } from '#runtime';
import type { StatedFact } from './outcome.ts';
import type { SpaceAliases } from './space-aliases.ts';

/** A fact to assert, with what is noted about it. */
export type NotedFact = StatedFact & { readonly metadata?: StatementMetadata };

/**
 * The facts under the names of their classes, so a reworded statement is the same statement. An
 * object has the name under which the memory already believes it: an object recorded before its
 * alias was declared is confirmed, and not contradicted.
 *
 * @throws the errors of `MemoryView.recall`
 */
export async function normalised(
  facts: readonly StatedFact[],
  aliases: SpaceAliases,
  view: MemoryView,
): Promise<readonly StatedFact[]> {
  const named = await Promise.all(
    facts.map(async (fact): Promise<StatedFact> => {
      const subject = aliases.names.nameOf(fact.subject);
      const predicate = aliases.predicates.nameOf(fact.predicate);
      const names = aliases.names.namesOf(fact.object);
      if (names.length === 1) return { ...fact, subject, predicate };
      const { facts: known } = await view.recall({ subject, predicate, valid: 'any' });
      const recorded = new Set(known.map(({ object }) => object));
      return { ...fact, subject, predicate, object: names.find((name) => recorded.has(name)) ?? names[0]! };
    }),
  );
  // Two wordings of one message are one statement.
  return [...new Map(named.map((fact) => [identityOf(fact), fact])).values()];
}

function identityOf({ subject, predicate, object, valid, source }: StatedFact): string {
  return JSON.stringify([subject, predicate, object, valid.from, valid.to, source]);
}
