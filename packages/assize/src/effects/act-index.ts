import { ScopeTrie, type TrieNode } from './scope-trie.ts';
import type { Access, Claim } from './scopes.ts';

/** Number of acts after which the index searches for entries that no work needs any more. */
const SWEEP_AFTER = 1_024;

/**
 * The greatest epoch of conflicting work that has acted on a resource. The index stores one number
 * per place, for any number of acts.
 */
export class ActIndex {
  readonly #trie = new ScopeTrie<Latest>(() => ({ read: 0, write: 0 }));
  /** Places with acts, ordered by the last act. */
  readonly #places = new Set<TrieNode<Latest>>();
  #limit = SWEEP_AFTER;

  /** Records an act. Acts of epochs up to `oldest` are evicted eventually. */
  add(epoch: number, { scope, access }: Claim, oldest: number): void {
    const place = this.#trie.enter(scope, (latest) => {
      latest[access] = Math.max(latest[access], epoch);
    });
    this.#places.add(place);
    if (this.#places.size > this.#limit) this.#sweep(oldest);
  }

  /** The greatest epoch of a conflicting act; 0 if none is known. */
  greatest({ scope, access }: Claim): number {
    let greatest = 0;
    this.#trie.visit(scope, ({ read, write }) => {
      greatest = Math.max(greatest, write, access === 'write' ? read : 0);
    });
    return greatest;
  }

  /** The cost is amortised over the acts since the last sweep. */
  #sweep(oldest: number): void {
    for (const place of this.#places) {
      if (latestOf(place.below) > oldest) continue;
      this.#places.delete(place);
      for (let at: TrieNode<Latest> | undefined = place; at !== undefined; at = at.parent) {
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
