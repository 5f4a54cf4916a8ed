import { type Place, ScopeTrie } from './scope-trie.ts';
import type { Access, Claim } from './scopes.ts';

/** A claim of the work that has this epoch, as it stands in an index. */
export interface Registration {
  readonly epoch: number;
  readonly claim: Claim;
  readonly isLive: boolean;
}

/** Claims of live work, and the least epoch of those that conflict with a given one. */
export class ClaimIndex {
  readonly #trie = new ScopeTrie(() => new Queues());
  #size = 0;

  /** How many claims there are. */
  get size(): number {
    return this.#size;
  }

  /** Cheapest where no claim has a greater epoch. */
  add(epoch: number, claim: Claim): Registration {
    const entry: Entry = { epoch, claim, isLive: true, place: undefined };
    entry.place = this.#trie.enter(claim.scope, (queues) => queues.add(entry, claim.access));
    this.#size++;
    return entry;
  }

  /** One that `add` has made here; nothing happens where it is not there any more. */
  delete(registration: Registration): void {
    const entry = registration as Entry;
    if (!entry.isLive) return;
    this.#size--;
    entry.isLive = false;
    const { scope, access } = entry.claim;
    const { place: end } = entry;
    (scope.rest === '/**' ? end!.pathEnds : end!.ends)!.trim(access);
    for (let place = end; place !== undefined; place = place.parent) {
      place.below.live--;
      place.below.trim(access);
      if (place.below.live === 0) this.#trie.cut(place);
    }
  }

  /** The least epoch among all claims that conflict with this one, equal ones included; Infinity where there is none. */
  least({ scope, access }: Claim): number {
    let least = Number.POSITIVE_INFINITY;
    this.#trie.visit(scope, (queues) => {
      least = Math.min(least, queues.least(access));
    });
    return least;
  }

  /** The greatest epoch below `epoch` among all claims that conflict with this one; -Infinity where there is none. */
  latestBefore({ scope, access }: Claim, epoch: number): number {
    let latest = Number.NEGATIVE_INFINITY;
    this.#trie.visit(scope, (queues) => {
      latest = Math.max(latest, queues.latestBefore(access, epoch));
    });
    return latest;
  }
}

interface Entry extends Registration {
  isLive: boolean;
  /** Where its scope ends. */
  place: Place<Queues> | undefined;
}

/** Those of reads and those of writes, each made when there is one. */
class Queues {
  #reads: Queue | undefined;
  #writes: Queue | undefined;
  live = 0;

  add(entry: Entry, access: Access): void {
    this.live++;
    if (access === 'read') {
      this.#reads ??= new Queue();
      this.#reads.add(entry);
    } else {
      this.#writes ??= new Queue();
      this.#writes.add(entry);
    }
  }

  /** To be called when an entry is dead now. */
  trim(access: Access): void {
    (access === 'read' ? this.#reads : this.#writes)?.trim();
  }

  /** Of those that conflict with such an access. */
  least(access: Access): number {
    const writes = this.#writes?.least ?? Number.POSITIVE_INFINITY;
    if (access === 'read' || this.#reads === undefined) return writes;
    return Math.min(writes, this.#reads.least);
  }

  /** The same, of the greatest below an epoch. */
  latestBefore(access: Access, epoch: number): number {
    const writes = this.#writes?.latestBefore(epoch) ?? Number.NEGATIVE_INFINITY;
    if (access === 'read' || this.#reads === undefined) return writes;
    return Math.max(writes, this.#reads.latestBefore(epoch));
  }
}

/** Entries by epoch, ascending. Those that are dead are left where they are until they come first or last, or are as many as the others. */
class Queue {
  #entries: Entry[] = [];
  #first = 0;
  /** So many entries are looked through for dead ones. */
  #limit = 16;

  add(entry: Entry): void {
    if (this.#entries.length >= this.#limit) this.#compact();
    const entries = this.#entries;
    if (entries.length === 0 || entries.at(-1)!.epoch <= entry.epoch) entries.push(entry);
    else entries.splice(this.#placeOf(entry.epoch), 0, entry);
  }

  /** Short work among long work is mostly last. */
  trim(): void {
    const entries = this.#entries;
    while (this.#first < entries.length && !entries.at(-1)!.isLive) entries.pop();
  }

  get least(): number {
    const entries = this.#entries;
    while (this.#first < entries.length && !entries[this.#first]!.isLive) this.#first++;
    return this.#first < entries.length ? entries[this.#first]!.epoch : Number.POSITIVE_INFINITY;
  }

  latestBefore(epoch: number): number {
    // Epochs are whole numbers: behind those that are not greater than the one before.
    for (let at = this.#placeOf(epoch - 1) - 1; at >= this.#first; at--)
      if (this.#entries[at]!.isLive) return this.#entries[at]!.epoch;
    return Number.NEGATIVE_INFINITY;
  }

  /** Behind those that are not greater, and not before the first that may be live. */
  #placeOf(epoch: number): number {
    let [low, high] = [this.#first, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#entries[middle]!.epoch <= epoch) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compact(): void {
    this.#entries = this.#entries.filter(({ isLive }) => isLive);
    this.#first = 0;
    this.#limit = Math.max(16, 2 * this.#entries.length);
  }
}
