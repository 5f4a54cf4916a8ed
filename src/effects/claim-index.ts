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
    const { place: end } = entry;
    (entry.claim.scope.rest === '/**' ? end!.pathEnds : end!.ends)!.trim(entry);
    for (let place = end; place !== undefined; place = place.parent) {
      place.below.live--;
      place.below.trim(entry);
      if (place.below.live === 0) this.#trie.cut(place);
    }
  }

  /** The least epoch among all claims that conflict with this one, equal ones included; Infinity where there is none. */
  least({ scope, access }: Claim): number {
    let least = NONE;
    this.#trie.visit(scope, (queues) => {
      least = lesser(least, queues.leastWrite);
      if (access === 'write') least = lesser(least, queues.leastRead);
    });
    return least === NONE ? Number.POSITIVE_INFINITY : least;
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

/** No epoch: a small integer, which a field holds by itself. */
const NONE = -1;

/** `NONE` only where both are. */
function lesser(a: number, b: number): number {
  return a === NONE || (b !== NONE && b < a) ? b : a;
}

/** Those of reads and those of writes, each made when there is one. Their least epochs are here, where most who ask look no further. */
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

  /** To be called when an entry of them is dead now. */
  trim({ epoch, claim }: Entry): void {
    if (claim.access === 'read') {
      this.#reads!.trim();
      if (epoch === this.leastRead) this.leastRead = this.#reads!.least;
    } else {
      this.#writes!.trim();
      if (epoch === this.leastWrite) this.leastWrite = this.#writes!.least;
    }
  }

  /** The greatest below an epoch, of those that conflict with such an access. */
  latestBefore(access: Access, epoch: number): number {
    const writes = this.#writes?.latestBefore(epoch) ?? Number.NEGATIVE_INFINITY;
    if (access === 'read' || this.#reads === undefined) return writes;
    return Math.max(writes, this.#reads.latestBefore(epoch));
  }
}

/** Entries by epoch, ascending. Those that are dead are left where they are until they come first or last, or are as many as the others. */
class Queue {
  #entries: Entry[];
  #first = 0;
  /** So many entries are looked through for dead ones. */
  #limit = 16;

  /** Most have one, and are gone with it: there is no room for more at first. */
  constructor(entry: Entry) {
    this.#entries = [entry];
  }

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
    return this.#first < entries.length ? entries[this.#first]!.epoch : NONE;
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
