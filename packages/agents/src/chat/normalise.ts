import { isAssizeError } from 'assize/internal/base';
import type { Memory, MemoryView } from 'assize/internal/runtime';
import type { StatedFact } from './outcome.ts';
import { type FactKey, keysOf, type SpaceAliases } from './space-aliases.ts';

/**
 * The facts under the names of their classes, so a reworded statement is the same statement. If the
 * memory has facts under other names of a class alone, from before the alias was declared, those
 * names are used: then the new fact confirms them, or contradicts them by their strategy. A fact
 * that its message stated before, in these words, stays as it is and changes nothing.
 *
 * @throws the errors of `MemoryView.recall`
 */
export async function normalised(
  facts: readonly StatedFact[],
  aliases: SpaceAliases,
  memory: Memory,
): Promise<readonly StatedFact[]> {
  const named = await Promise.all(
    facts.map(async (fact): Promise<StatedFact> => {
      const keys = keysOf(fact, aliases);
      const names = aliases.names.namesOf(fact.object);
      if (keys.length === 1 && names.length === 1) return { ...fact, ...keys[0]! };
      if (await wasStated(fact, memory)) return fact;
      const { key, objects } = await recordedKey(keys, memory);
      const object =
        names.length === 1 ? fact.object : (names.find((name) => objects.has(name)) ?? names[0]!);
      return { ...fact, ...key, object };
    }),
  );
  // Two wordings of one message are one statement.
  return [...new Map(named.map((fact) => [identityOf(fact), fact])).values()];
}

/** An alias of a predicate is not a predicate of the domain, so nothing was stated under it. */
async function wasStated(fact: StatedFact, memory: Memory): Promise<boolean> {
  try {
    return await memory.wasAsserted(fact);
  } catch (error) {
    if (isAssizeError(error, 'unknown_predicate')) return false;
    throw error;
  }
}

/** The first key with facts, and their objects; without facts the first key. */
async function recordedKey(
  keys: readonly FactKey[],
  view: MemoryView,
): Promise<{ readonly key: FactKey; readonly objects: ReadonlySet<string> }> {
  for (const key of keys) {
    const { facts } = await view.recall({ ...key, valid: 'any' });
    if (facts.length > 0) return { key, objects: new Set(facts.map(({ object }) => object)) };
  }
  return { key: keys[0]!, objects: new Set() };
}

function identityOf({ subject, predicate, object, valid, source }: StatedFact): string {
  return JSON.stringify([subject, predicate, object, valid.from, valid.to, source]);
}
