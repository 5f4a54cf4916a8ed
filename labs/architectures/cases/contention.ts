import type { Intent } from 'assize/internal/kernel';
import type { Choices } from '../draw/index.ts';
import type { Evaluator } from '../evaluator.ts';
import { allowedState, type Place, workerName } from './places.ts';

/** Two proposals that every rule allows on a state, and not one after the other. */
export interface ContendedPair {
  readonly place: Place;
  readonly first: Intent;
  /** It breaks a rule after the first one. */
  readonly second: Intent;
}

/** The most proposals of one state that are compared with each other. */
const COMPARED_MAX = 16;

/**
 * Pairs of proposals that may each stand by themselves and not together (Agentic Redux, Definition
 * A.11), by the broken rule.
 */
export async function contendedPairs(
  evaluator: Evaluator,
  places: readonly Place[],
  choices: Choices,
  pause: () => Promise<void>,
): Promise<ReadonlyMap<string, readonly ContendedPair[]>> {
  const found = new Map<string, ContendedPair[]>();
  for (const place of places) {
    const compared = comparedProposals(place, choices);
    for (const first of compared) {
      await pause();
      for (const second of compared)
        for (const rule of first === second ? [] : brokenTogether(evaluator, place, first, second))
          found.set(rule, [...(found.get(rule) ?? []), { place, first, second }]);
    }
  }
  return new Map([...found].map(([rule, pairs]) => [rule, ofTwoWorkers(pairs)]));
}

/** Some proposals of a state, of each action in turn. */
function comparedProposals({ workers }: Place, choices: Choices): readonly Intent[] {
  const groups = [...Map.groupBy([...workers.values()].flat(), ({ action }) => action).values()];
  const some = groups.map((group) => choices.some(group, COMPARED_MAX));
  const inTurn = Array.from({ length: COMPARED_MAX }, (_, i) =>
    some.flatMap((group) => group.slice(i, i + 1)),
  );
  return inTurn.flat().slice(0, COMPARED_MAX);
}

function brokenTogether(
  evaluator: Evaluator,
  { state }: Place,
  first: Intent,
  second: Intent,
): readonly string[] {
  const between = allowedState(evaluator, state, first);
  const after = between === undefined ? undefined : evaluator.evaluate(between, second);
  return after === undefined || 'refused' in after ? [] : after.broken.map(({ rule }) => rule);
}

/** The pairs of two workers, or all pairs if no pair has two. */
function ofTwoWorkers(pairs: readonly ContendedPair[]): readonly ContendedPair[] {
  const two = pairs.filter(
    ({ first, second }) => workerName(first.role) !== workerName(second.role),
  );
  return two.length > 0 ? two : pairs;
}
