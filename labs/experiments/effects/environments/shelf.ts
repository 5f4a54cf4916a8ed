import { type Delivery, declareTool, type Tool } from 'assize/internal/effects';
import { z } from 'zod';

/** The item at a place, and the branch that put it there. */
interface Put {
  readonly by: string;
  readonly key: string;
}

// Created once for all instances: the schema compiles its input check.
const PUT = z.strictObject({ place: z.string(), by: z.string() });

/**
 * A store that branches share. A reader sees the current items, and an overwritten item can be
 * restored.
 */
export class Shelf {
  /** How often a branch has written over what another had put there that was not settled yet. */
  conflicts = 0;
  readonly #places = new Map<string, Put>();
  readonly #before = new Map<string, Put | undefined>();
  /** The branches that ever put an item, whether or not it is still there. */
  readonly #seen = new Set<string>();
  /** The branches with items that stay. */
  readonly #settled = new Set<string>();

  /** The branches with present items, by place. */
  look(): ReadonlyMap<string, string> {
    return new Map([...this.#places].map(([place, { by }]) => [place, by]));
  }

  /** Settles the items of a branch: from now on they belong to no particular branch. */
  settle(by: string): void {
    this.#settled.add(by);
  }

  /** How many have put something that was to be seen and was not to stay. */
  get unsettled(): number {
    return [...this.#seen].filter((by) => !this.#settled.has(by)).length;
  }

  put(place: string, by: string, key: string): void {
    this.#seen.add(by);
    const there = this.#places.get(place);
    if (there !== undefined && there.by !== by && !this.#settled.has(there.by)) this.conflicts++;
    this.#before.set(key, there);
    this.#places.set(place, { by, key });
  }

  snapshot(): ReadonlyMap<string, Put> {
    return new Map(this.#places);
  }

  restore(snapshot: ReadonlyMap<string, Put>): void {
    this.#places.clear();
    for (const [place, put] of snapshot) this.#places.set(place, put);
  }

  /** Its one tool; branches may use it in one place at the same time. */
  tool(delivery: Delivery): Tool {
    return declareTool({
      name: 'shelf.put',
      input: PUT,
      class: { reversibility: 'reversible', delivery, sink: 'queryable' },
      writes: ['shelf:{place}'],
      parallel: true,
      execute: ({ place, by }, { key }) => {
        this.put(place, by, key);
        return null;
      },
      reconcile: (_, { key }) =>
        this.#before.has(key) ? { happened: true, result: null } : { happened: false },
      compensate: ({ place }, _result, { key }) => {
        const before = this.#before.get(key);
        this.#before.delete(key);
        // Only while it stands as it was left.
        if (this.#places.get(place)?.key !== key) return { undone: 'all' };
        if (before === undefined) this.#places.delete(place);
        else this.#places.set(place, before);
        return { undone: 'all' };
      },
    });
  }
}
