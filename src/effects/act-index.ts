import { type Place, ScopeTrie } from './scope-trie.ts';
import type { Access, Claim } from './scopes.ts';

/** After so many acts places are looked through for those that nobody needs any more. */
const SWEEP_AFTER = 1_024;

/** The greatest epoch that has acted anywhere, of work that conflicts: one number a place, however much was done there. */
export class ActIndex {
  readonly #trie = new ScopeTrie<Latest>(() => ({ read: 0, write: 0 }));
  /** Places where something was done, by what was done last. */
  readonly #places = new Set<Place<Latest>>();
  #limit = SWEEP_AFTER;

  /** Notes an act. Forgets acts of epochs up to `oldest`, sooner or later. */
  add(epoch: number, { scope, access }: Claim, oldest: number): void {
    const place = this.#trie.enter(scope, (latest) => {
      latest[access] = Math.max(latest[access], epoch);
    });
    this.#places.add(place);
    if (this.#places.size > this.#limit) this.#sweep(oldest);
  }

  /** The greatest epoch of an act that conflicts; 0 where none is known. */
  greatest({ scope, access }: Claim): number {
    let greatest = 0;
    this.#trie.visit(scope, ({ read, write }) => {
      greatest = Math.max(greatest, write, access === 'write' ? read : 0);
    });
    return greatest;
  }

  /** In time that the acts since the last sweep have paid for. */
  #sweep(oldest: number): void {
    for (const place of this.#places) {
      if (latestOf(place.below) > oldest) continue;
      this.#places.delete(place);
      for (let at: Place<Latest> | undefined = place; at !== undefined; at = at.parent) {
        if (latestOf(at.below) > oldest) break;
        this.#trie.cut(at);
      }
    }
    this.#limit = Math.max(SWEEP_AFTER, 2 * this.#places.size);
  }
}

type Latest = Record<Access, number>;

function latestOf({ read, write }: Latest): number {
  return Math.max(read, write);
}
