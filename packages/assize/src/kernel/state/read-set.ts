import { toPointer } from '#canon';
import { compileScope, isWhole, type Pattern, type Scope, scopeAt } from '../domain/footprint.ts';
import { isIndex } from '../domain/list-index.ts';

/**
 * The paths that a proposal depends on. A change at, below or above one of them invalidates the
 * read. A change next to them does not.
 */
export class ReadSet {
  readonly #places: readonly (readonly string[])[];
  readonly #scope: Scope;

  constructor(places: readonly (readonly string[])[]) {
    this.#places = places;
    this.#scope = compileScope(places.map((segments) => ({ segments, append: false })));
  }

  /**
   * Whether a change at this path is at, below or above one of the places. Costs the path's length.
   */
  overlaps(path: readonly string[]): boolean {
    let here: Scope = this.#scope;
    for (const key of path) {
      if (here.all) return true;
      const below = scopeAt(here, key);
      if (below === undefined) return false;
      here = below;
    }
    return true;
  }

  /**
   * The first place that a footprint partly hides, as a pointer. The proposal must not learn
   * whether that place changed.
   */
  hiddenFrom(footprint: readonly Pattern[]): string | undefined {
    const sight = compileScope(footprint);
    const hidden = this.#places.find((place) => !isWhole(at(sight, place)));
    return hidden && toPointer(hidden);
  }

  /**
   * The first place that names a part of a list other than an element, such as its end (`-`) or
   * `length`, as a pointer. No change ever has such a path.
   */
  noElement(state: unknown): string | undefined {
    const place = this.#places.find((keys) => isNoElement(state, keys));
    return place && toPointer(place);
  }
}

function isNoElement(state: unknown, place: readonly string[]): boolean {
  let here = state;
  for (const key of place) {
    if (Array.isArray(here) && !isIndex(key)) return true;
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return false;
    here = (here as Record<string, unknown>)[key];
  }
  return false;
}

const NOTHING: Scope = compileScope([]);

function at(scope: Scope, path: readonly string[]): Scope {
  let here = scope;
  for (const key of path) here = scopeAt(here, key) ?? NOTHING;
  return here;
}
