import { toPointer } from '#canon';
import { compileScope, isWhole, type Pattern, type Scope, scopeAt } from './footprint.ts';

/**
 * The places of a state that somebody's proposal rests on. What happens at one of them, below one or above one changes what
 * they were read as; what happens beside them does not.
 */
export class Premise {
  readonly #places: readonly (readonly string[])[];
  readonly #scope: Scope;

  constructor(places: readonly (readonly string[])[]) {
    this.#places = places;
    this.#scope = compileScope(places.map((segments) => ({ segments, append: false })));
  }

  /** Whether a change at this path is one of what is at, below or above one of the places. Costs the path's length. */
  isMetBy(path: readonly string[]): boolean {
    let here: Scope = this.#scope;
    for (const key of path) {
      if (here.all) return true;
      const below = scopeAt(here, key);
      if (below === undefined) return false;
      here = below;
    }
    return true;
  }

  /** The first place of which a footprint hides something, as a pointer: whether that changed is not to be told either. */
  hiddenFrom(footprint: readonly Pattern[]): string | undefined {
    const sight = compileScope(footprint);
    const hidden = this.#places.find((place) => !isWhole(at(sight, place)));
    return hidden && toPointer(hidden);
  }
}

const NOTHING: Scope = compileScope([]);

function at(scope: Scope, path: readonly string[]): Scope {
  let here = scope;
  for (const key of path) here = scopeAt(here, key) ?? NOTHING;
  return here;
}
