import { ScopeTrie, type TrieNode } from './scope-trie.ts';
import type { Access, Claim } from './scopes.ts';

/** A claim in an index, with the epoch of its work. */
export interface Registration {
  readonly epoch: number;
  readonly claim: Claim;
  readonly isLive: boolean;
}

/** Claims of active work, and the lowest epoch among those that conflict with a given claim. */
export class ClaimIndex {
  readonly #trie = new ScopeTrie(() => new Queues());
  #size = 0;

  /** Number of claims. */
  get size(): number {
    return this.#size;
  }

  /** Fastest if no claim has a greater epoch. */
  add(epoch: number, claim: Claim): Registration {
    const entry: Entry = { epoch, claim, isLive: true, place: undefined };
    entry.place = this.#trie.enter(claim.scope, (queues) => queues.add(entry, claim.access));
    this.#size++;
    return entry;
  }

  /** Removes a registration made by `add`. Does nothing if the registration was removed before. */
  delete(registration: Registration): void {
    const entry = registration as Entry;
    if (!entry.isLive) return;
    this.#size--;
    entry.isLive = false;
    const { place: end } = entry;
    (entry.claim.scope.rest === '/**' ? end!.pathEnds : end!.ends)!.trim(entry);
    for (let place = end; place !== undefined; place = place.parent) {
      place.below.live--;
      place.below.trim(entry);
      if (place.below.live === 0) this.#trie.cut(place);
    }
  }

  /**
   * The lowest epoch among all claims that conflict with this one, equal claims included. Infinity
   * if there is none.
   */
  least({ scope, access }: Claim): number {
    let least = NONE;
    this.#trie.visit(scope, (queues) => {
      least = lesser(least, queues.leastWrite);
      if (access === 'write') least = lesser(least, queues.leastRead);
    });
    return least === NONE ? Number.POSITIVE_INFINITY : least;
  }

  /**
   * The greatest epoch below `epoch` among all claims that conflict with this one. -Infinity if
   * there is none.
   */
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
  /** The place at which the claim's scope ends. */
  place: TrieNode<Queues> | undefined;
}

/** Stands for "no epoch". A small integer is stored in the field without a box. */
const NONE = -1;

/** Returns `NONE` only if both are `NONE`. */
function lesser(a: number, b: number): number {
  return a === NONE || (b !== NONE && b < a) ? b : a;
}

/**
 * The queues of reads and of writes, created on demand. Their lowest epochs are cached here and
 * answer most lookups.
 */
class Queues {
  #reads: Queue | undefined;
  #writes: Queue | undefined;
  leastRead: number = NONE;
  leastWrite: number = NONE;
  live = 0;

  add(entry: Entry, access: Access): void {
    this.live++;
    if (access === 'read') {
      if (this.#reads === undefined) this.#reads = new Queue(entry);
      else this.#reads.add(entry);
      this.leastRead = lesser(this.leastRead, entry.epoch);
    } else {
      if (this.#writes === undefined) this.#writes = new Queue(entry);
      else this.#writes.add(entry);
      this.leastWrite = lesser(this.leastWrite, entry.epoch);
    }
  }

  /** Must be called after an entry of the queues was removed. */
  trim({ epoch, claim }: Entry): void {
    if (claim.access === 'read') {
      this.#reads!.trim();
      if (epoch === this.leastRead) this.leastRead = this.#reads!.least;
    } else {
      this.#writes!.trim();
      if (epoch === this.leastWrite) this.leastWrite = this.#writes!.least;
    }
  }

  /** The greatest epoch below the given one, among entries that conflict with the access. */
  latestBefore(access: Access, epoch: number): number {
    const writes = this.#writes?.latestBefore(epoch) ?? Number.NEGATIVE_INFINITY;
    if (access === 'read' || this.#reads === undefined) return writes;
    return Math.max(writes, this.#reads.latestBefore(epoch));
  }
}

/**
 * Entries by epoch, ascending. A removed entry stays until it is first or last, or until half of
 * the entries are removed ones.
 */
class Queue {
  #entries: Entry[];
  #first = 0;
  /** Number of entries after which removed ones are collected. */
  #limit = 16;

  /** Most queues have one entry and end with it, so they start without spare capacity. */
  constructor(entry: Entry) {
    this.#entries = [entry];
  }

  add(entry: Entry): void {
    if (this.#entries.length >= this.#limit) this.#compact();
    const entries = this.#entries;
    if (entries.length === 0 || entries.at(-1)!.epoch <= entry.epoch) entries.push(entry);
    else entries.splice(this.#placeOf(entry.epoch), 0, entry);
  }

  /** Short work among long work is usually last. */
  trim(): void {
    const entries = this.#entries;
    while (this.#first < entries.length && !entries.at(-1)!.isLive) entries.pop();
  }

  get least(): number {
    const entries = this.#entries;
    while (this.#first < entries.length && !entries[this.#first]!.isLive) this.#first++;
    return this.#first < entries.length ? entries[this.#first]!.epoch : NONE;
  }

  latestBefore(epoch: number): number {
    // Epochs are integers: the index after all entries that are not greater than the previous
    // epoch.
    for (let at = this.#placeOf(epoch - 1) - 1; at >= this.#first; at--)
      if (this.#entries[at]!.isLive) return this.#entries[at]!.epoch;
    return Number.NEGATIVE_INFINITY;
  }

  /** The index after all entries that are not greater, and not before the first live entry. */
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
