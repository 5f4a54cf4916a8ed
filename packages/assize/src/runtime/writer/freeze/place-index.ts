import type { Pattern } from '#kernel';

type Segment = Pattern['segments'][number];

interface Node<T> {
  readonly values: Set<T>;
  readonly below: Map<Segment, Node<T>>;
  /** The child of `below` under a star. */
  star: Node<T> | undefined;
}

/**
 * Finds the values with a pattern that overlaps a given pattern (`overlaps`). The cost follows the
 * depth of the pattern and the number of matches, never the number of values. The trie of scopes
 * (`effects/scope-trie.ts`) cannot store these patterns, because a field of a state may be named
 * `*`.
 */
export class PlaceIndex<T> {
  readonly #root: Node<T> = node();

  add({ segments }: Pattern, value: T): void {
    let here = this.#root;
    for (const segment of segments) {
      let next = here.below.get(segment);
      if (next === undefined) {
        next = node();
        here.below.set(segment, next);
        if (typeof segment !== 'string') here.star = next;
      }
      here = next;
    }
    here.values.add(value);
  }

  /** Removes the value from exactly that pattern, and removes empty branches. */
  remove({ segments }: Pattern, value: T): void {
    const trail: Node<T>[] = [this.#root];
    for (const segment of segments) {
      const next = trail.at(-1)?.below.get(segment);
      if (next === undefined) return;
      trail.push(next);
    }
    trail.at(-1)?.values.delete(value);
    for (let n = segments.length; n > 0; n--) {
      const { values, below } = trail[n] as Node<T>;
      if (values.size > 0 || below.size > 0) return;
      const [above, segment] = [trail[n - 1] as Node<T>, segments[n - 1] as Segment];
      above.below.delete(segment);
      if (typeof segment !== 'string') above.star = undefined;
    }
  }

  /** Passes every value with an overlapping pattern to `found`, at least once. */
  match({ segments }: Pattern, found: (value: T) => void): void {
    walk(this.#root, segments, 0, found);
  }
}

function node<T>(): Node<T> {
  return { values: new Set(), below: new Map(), star: undefined };
}

function walk<T>(
  here: Node<T>,
  segments: readonly Segment[],
  depth: number,
  found: (value: T) => void,
): void {
  for (const value of here.values) found(value);
  const segment = segments[depth];
  if (typeof segment !== 'string') {
    // Past the pattern's end, or under its star, everything matches.
    for (const next of here.below.values()) walk(next, segments, depth + 1, found);
    return;
  }
  const named = here.below.get(segment);
  if (named !== undefined) walk(named, segments, depth + 1, found);
  if (here.star !== undefined) walk(here.star, segments, depth + 1, found);
}
