import { contains, overlaps, type Pattern } from 'assize/internal/kernel';
import type { Component, Ontology, ProcessClass } from './ontology.ts';
import { boundPattern, paramsOf, wholePattern } from './paths.ts';

/**
 * Footprints in components, by term. A component inside another one is accessed with it: `/orders`
 * contains `/orders/*`. Create one instance for all queries on an ontology: the instance reads each
 * path once, and compares any two components.
 */
export class Footprints {
  readonly #components: ReadonlyMap<string, Component>;
  /** By component: the places of its paths. */
  readonly #places: ReadonlyMap<string, readonly Pattern[]>;
  /** By component: the parameters of each of its paths. */
  readonly #params: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** By component: itself and those inside it. */
  readonly #within: Map<string, readonly string[]> = new Map();

  constructor({ components }: Ontology) {
    this.#components = new Map(components.map((component) => [component.term, component]));
    const places = components.map(({ term, paths }) => [term, paths.map(wholePattern)] as const);
    this.#places = new Map(places);
    this.#params = new Map(
      components.map(({ term, paths }) => [term, paths.map((path) => paramsOf([path]))]),
    );
    for (const [outer, around] of places) {
      const inside = places.filter(
        ([inner, within]) =>
          inner === outer ||
          (within.length > 0 && within.every((place) => contains(around, place))),
      );
      this.#within.set(
        outer,
        inside.map(([term]) => term),
      );
    }
  }

  /** The components and all that is inside them. */
  closed(terms: Iterable<string>): Set<string> {
    return new Set([...terms].flatMap((term) => this.#within.get(term) ?? []));
  }

  /** The components that a process reads or writes, and those inside them (Definition A.5). */
  of({ reads, writes }: ProcessClass): Set<string> {
    return this.closed([...reads, ...writes]);
  }

  /** The components among some that have a place in common with one of the others. */
  meeting(some: Iterable<string>, others: Iterable<string>): string[] {
    const places = [...others].flatMap((term) => this.#places.get(term) ?? []);
    return [...some].filter((term) =>
      this.#places.get(term)?.some((place) => places.some((one) => overlaps(place, one))),
    );
  }

  /**
   * Whether a worker that accesses some components accesses all of the others. The worker has one
   * value of each parameter; the others have one value of each in `forEach`, and all values of the
   * rest.
   */
  confines(
    accessed: Iterable<string>,
    others: Iterable<string>,
    forEach: readonly string[],
  ): boolean {
    const own = this.pathsOf(accessed).map((path) => boundPattern(path, paramsOf([path])));
    return this.pathsOf(others).every((path) => contains(own, boundPattern(path, forEach)));
  }

  /**
   * The parameters with two values whose accesses to these components are in the same check
   * of a rule: the rule joins their values, or a component does not depend on them.
   */
  crossing(
    params: readonly string[],
    accessed: Iterable<string>,
    forEach: readonly string[],
  ): string[] {
    const paths = [...accessed].flatMap((term) => this.#params.get(term) ?? []);
    if (paths.length === 0) return [];
    return params.filter(
      (param) => !forEach.includes(param) || paths.some((own) => !own.includes(param)),
    );
  }

  pathsOf(terms: Iterable<string>): string[] {
    return [...terms].flatMap((term) => this.#components.get(term)?.paths ?? []);
  }
}

/**
 * The paths of a process's reads. Of a component with an append path (`…/-`), only the reading
 * paths.
 */
export function readPaths(components: readonly Component[]): string[] {
  return components.flatMap(({ paths }) => ofSort(paths, (path) => !path.endsWith('/-')));
}

/** The paths of a process's writes. Of a component with an append path, only the append paths. */
export function writePaths(components: readonly Component[]): string[] {
  return components.flatMap(({ paths }) => ofSort(paths, (path) => path.endsWith('/-')));
}

function ofSort(paths: readonly string[], wanted: (path: string) => boolean): readonly string[] {
  const found = paths.filter(wanted);
  return found.length > 0 ? found : paths;
}
