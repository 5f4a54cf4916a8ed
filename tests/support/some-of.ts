import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { cases } from './cases.ts';

/**
 * A part of a list, for tests that walk a list to its end: as much of it as `cases` takes, evenly
 * spread. `npm run test:all` has the whole list. The seed of the run chooses the items, so that
 * other commits try others. With `kindOf`, every kind of item has a part of its own.
 */
export function someOf<T>(list: readonly T[], kindOf: (item: T) => unknown = () => undefined): T[] {
  const next = seededNumbers(Number(process.env['ASSIZE_SEED'] ?? 0));
  const kinds = Map.groupBy(list.keys(), (place) => kindOf(list[place]!));
  const kept = new Set(
    [...kinds.values()].flatMap((places) => spread(places, cases(places.length), next)),
  );
  return list.filter((_, place) => kept.has(place));
}

/**
 * One random item of each of so many equal sections. Items at a fixed distance would have something
 * in common in a list of combinations.
 */
export function spread<T>(
  items: readonly T[],
  count: number,
  next: (below: number) => number,
): T[] {
  if (count >= items.length) return [...items];
  const start = (section: number): number => Math.floor((section * items.length) / count);
  return Array.from({ length: count }, (_, n) => items[start(n) + next(start(n + 1) - start(n))]!);
}
