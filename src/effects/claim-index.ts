import { type Access, type Claim, isOfPath, isStar } from './scopes.ts';

/** A claim in the index, of the work that has this epoch. */
export interface Registration {
  readonly epoch: number;
  readonly claim: Claim;
}

/**
 * Claims by scope, and the least and the greatest epoch of those that conflict with a given one. It takes as long as the scope
 * has segments, however many claims there are: each node of a trie of segments knows the epochs of all claims at and below it,
 * ascending. Only a star in the question looks at what is beside each other.
 */
export class ClaimIndex {
  readonly #root = new Node(undefined, '');
  readonly #entries = new Map<Registration, Entry>();

  /** How many claims there are. */
  get size(): number {
    return this.#entries.size;
  }

  /** Cheapest where no claim has a greater epoch. */
  add(registration: Registration): void {
    const { tokens, rest } = registration.claim.scope;
    const entry: Entry = { epoch: registration.epoch, isLive: true, node: this.#root };
    const { access } = registration.claim;
    let node = this.#root;
    node.live++;
    node.below.add(entry, access);
    for (const token of tokens) {
      node = node.child(token);
      node.live++;
      node.below.add(entry, access);
    }
    entry.node = node;
    (rest === '/**' ? node.endsInPath() : node.ends).add(entry, access);
    this.#entries.set(registration, entry);
  }

  /** Nothing happens where it is not in the index. */
  delete(registration: Registration): void {
    const entry = this.#entries.get(registration);
    if (entry === undefined) return;
    this.#entries.delete(registration);
    entry.isLive = false;
    for (let node: Node | undefined = entry.node; node !== undefined; node = node.parent) {
      node.live--;
      if (node.live === 0) node.parent?.children.delete(node.token);
    }
  }

  /** The least epoch among all claims that conflict with this one, equal ones included; Infinity where there is none. */
  least(claim: Claim): number {
    let least = Number.POSITIVE_INFINITY;
    this.#visit(claim, (queues) => {
      least = Math.min(least, queues.least(claim.access));
    });
    return least;
  }

  /** The greatest one; -Infinity where there is none. */
  greatest(claim: Claim): number {
    let greatest = Number.NEGATIVE_INFINITY;
    this.#visit(claim, (queues) => {
      greatest = Math.max(greatest, queues.greatest(claim.access));
    });
    return greatest;
  }

  /** Shows the queues that have, among them, just the claims whose scope meets this one's. */
  #visit({ scope: { tokens, rest } }: Claim, show: (queues: Queues) => void): void {
    const descend = (node: Node, depth: number): void => {
      if (depth === tokens.length) {
        if (rest !== '/**') show(node.below);
        else showInPath(node);
        return;
      }
      const token = tokens[depth]!;
      show(node.ends);
      if (node.pathEnds !== undefined && isOfPath(token)) show(node.pathEnds);
      if (isStar(token)) {
        for (const child of node.children.values()) if (child.token[0] === token[0]) descend(child, depth + 1);
        return;
      }
      const child = node.children.get(token);
      if (child !== undefined) descend(child, depth + 1);
      const star = node.children.get(isOfPath(token) ? '/*' : ':*');
      if (star !== undefined) descend(star, depth + 1);
    };
    const showInPath = (node: Node): void => {
      show(node.ends);
      if (node.pathEnds !== undefined) show(node.pathEnds);
      for (const child of node.children.values()) if (isOfPath(child.token)) show(child.below);
    };
    descend(this.#root, 0);
  }
}

interface Entry {
  readonly epoch: number;
  isLive: boolean;
  /** Where its scope ends. */
  node: Node;
}

class Node {
  readonly children = new Map<string, Node>();
  readonly parent: Node | undefined;
  readonly token: string;
  /** Of claims that end here or below. */
  readonly below = new Queues();
  /** Of those that end here, and mean whatever is below. */
  readonly ends = new Queues();
  /** Of those that end here in `/**`. */
  pathEnds: Queues | undefined;
  live = 0;

  constructor(parent: Node | undefined, token: string) {
    this.parent = parent;
    this.token = token;
  }

  child(token: string): Node {
    let child = this.children.get(token);
    if (child === undefined) {
      child = new Node(this, token);
      this.children.set(token, child);
    }
    return child;
  }

  endsInPath(): Queues {
    this.pathEnds ??= new Queues();
    return this.pathEnds;
  }
}

/** Those of reads and those of writes, each made when there is one. */
class Queues {
  #reads: Queue | undefined;
  #writes: Queue | undefined;

  add(entry: Entry, access: Access): void {
    if (access === 'read') {
      this.#reads ??= new Queue();
      this.#reads.add(entry);
    } else {
      this.#writes ??= new Queue();
      this.#writes.add(entry);
    }
  }

  /** Of those that conflict with such an access. */
  least(access: Access): number {
    const writes = this.#writes?.least ?? Number.POSITIVE_INFINITY;
    if (access === 'read' || this.#reads === undefined) return writes;
    return Math.min(writes, this.#reads.least);
  }

  greatest(access: Access): number {
    const writes = this.#writes?.greatest ?? Number.NEGATIVE_INFINITY;
    if (access === 'read' || this.#reads === undefined) return writes;
    return Math.max(writes, this.#reads.greatest);
  }
}

/** Entries by epoch, ascending. Those that are dead are left where they are until they come first or last, or are more than the others. */
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

  get least(): number {
    const entries = this.#entries;
    while (this.#first < entries.length && !entries[this.#first]!.isLive) this.#first++;
    return this.#first < entries.length ? entries[this.#first]!.epoch : Number.POSITIVE_INFINITY;
  }

  get greatest(): number {
    const entries = this.#entries;
    while (this.#first < entries.length && !entries.at(-1)!.isLive) entries.pop();
    return this.#first < entries.length ? entries.at(-1)!.epoch : Number.NEGATIVE_INFINITY;
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
