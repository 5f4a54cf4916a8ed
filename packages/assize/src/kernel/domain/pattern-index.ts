import { ANY, type Pattern } from './footprint.ts';

interface Node<T> {
  /**
   * A list for few values: it is faster to iterate. A set for many values: it removes one value
   * fast.
   */
  values: T[] | Set<T>;
  keys: Map<string, Node<T>>;
  any: Node<T> | undefined;
}

/**
 * Finds the values with a pattern that overlaps a path: the pattern is a prefix of the path, or the
 * path of the pattern. The cost follows the depth of the path and the number of matches, never the
 * number of patterns.
 */
export class PatternIndex<T> {
  readonly #root: Node<T> = node();
  #depth: number = 0;

  /** Segments of the longest pattern that was ever added. */
  get depth(): number {
    return this.#depth;
  }

  add(pattern: Pattern, value: T): void {
    this.#depth = Math.max(this.#depth, pattern.segments.length);
    let here = this.#root;
    for (const segment of pattern.segments) {
      if (segment === ANY) {
        here.any ??= node();
        here = here.any;
      } else {
        let next = here.keys.get(segment);
        if (next === undefined) {
          next = node();
          here.keys.set(segment, next);
        }
        here = next;
      }
    }
    if (Array.isArray(here.values)) {
      here.values.push(value);
      if (here.values.length > FEW) here.values = new Set(here.values);
    } else here.values.add(value);
  }

  /** Removes one value from exactly that pattern. Empty branches are removed. */
  remove(pattern: Pattern, value: T): void {
    const trail: { parent: Node<T>; segment: string | typeof ANY }[] = [];
    let here = this.#root;
    for (const segment of pattern.segments) {
      const next = segment === ANY ? here.any : here.keys.get(segment);
      if (next === undefined) return;
      trail.push({ parent: here, segment });
      here = next;
    }
    takeOut(here.values, value);
    for (let i = trail.length - 1; i >= 0; i--) {
      if (sizeOf(here.values) > 0 || here.keys.size > 0 || here.any !== undefined) return;
      const { parent, segment } = trail[i] as (typeof trail)[number];
      if (segment === ANY) parent.any = undefined;
      else parent.keys.delete(segment);
      here = parent;
    }
  }

  /** Calls `found` with every value that overlaps the path, at least once each. */
  match(path: readonly string[], found: (value: T) => void): void {
    walk(this.#root, path, 0, found);
  }
}

const FEW = 16;

function takeOut<T>(values: T[] | Set<T>, value: T): void {
  if (!Array.isArray(values)) {
    values.delete(value);
    return;
  }
  const at = values.indexOf(value);
  if (at >= 0) values.splice(at, 1);
}

function sizeOf(values: readonly unknown[] | ReadonlySet<unknown>): number {
  return Array.isArray(values) ? values.length : (values as ReadonlySet<unknown>).size;
}

function node<T>(): Node<T> {
  return { values: [], keys: new Map(), any: undefined };
}

function walk<T>(
  here: Node<T>,
  path: readonly string[],
  depth: number,
  found: (value: T) => void,
): void {
  if (depth === path.length) {
    below(here, found);
    return;
  }
  for (const value of here.values) found(value);
  // A new key would have to be hashed only to be searched in an empty map.
  const exact = here.keys.size === 0 ? undefined : here.keys.get(path[depth] as string);
  if (exact !== undefined) walk(exact, path, depth + 1, found);
  if (here.any !== undefined) walk(here.any, path, depth + 1, found);
}

function below<T>(here: Node<T>, found: (value: T) => void): void {
  for (const value of here.values) found(value);
  for (const next of here.keys.values()) below(next, found);
  if (here.any !== undefined) below(here.any, found);
}
