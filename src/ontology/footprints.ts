import type { Component, Ontology, ProcessClass } from './ontology.ts';
import { liesUnder, meets } from './paths.ts';

/** Footprints in components, by term. A component inside another one is touched with it: `/orders` has `/orders/*` in it. */
export class Footprints {
  readonly #components: ReadonlyMap<string, Component>;
  /** By component: itself and those inside it. */
  readonly #within: Map<string, readonly string[]> = new Map();

  constructor({ components }: Ontology) {
    this.#components = new Map(components.map((component) => [component.term, component]));
    for (const outer of components) {
      const inside = components.filter(
        (inner) =>
          inner === outer || (inner.paths.length > 0 && inner.paths.every((path) => liesUnder(path, outer.paths))),
      );
      this.#within.set(
        outer.term,
        inside.map(({ term }) => term),
      );
    }
  }

  /** The components and all that is inside them. */
  closed(terms: Iterable<string>): Set<string> {
    return new Set([...terms].flatMap((term) => this.#within.get(term) ?? []));
  }

  /** What is read or written during a process, and what is inside of it (Definition A.5). */
  of({ reads, writes }: ProcessClass): Set<string> {
    return this.closed([...reads, ...writes]);
  }

  /** The components among some that have a place in common with one of the others. */
  meeting(some: Iterable<string>, others: Iterable<string>): string[] {
    const paths = this.pathsOf(others);
    return [...some].filter((term) => this.pathsOf([term]).some((path) => paths.some((other) => meets(path, other))));
  }

  pathsOf(terms: Iterable<string>): string[] {
    return [...terms].flatMap((term) => this.#components.get(term)?.paths ?? []);
  }
}

/**
 * The paths of what a process reads: of a component that can also be appended to (`…/-`), those that read it.
 */
export function readPaths(components: readonly Component[]): string[] {
  return components.flatMap(({ paths }) => ofSort(paths, (path) => !path.endsWith('/-')));
}

/** The paths of what a process writes: where a component has one that appends, it is appended to. */
export function writePaths(components: readonly Component[]): string[] {
  return components.flatMap(({ paths }) => ofSort(paths, (path) => path.endsWith('/-')));
}

function ofSort(paths: readonly string[], wanted: (path: string) => boolean): readonly string[] {
  const found = paths.filter(wanted);
  return found.length > 0 ? found : paths;
}
