import type { Name } from '#authority';
import { TransientMap } from '#base';
import { isOfPath, isStar } from './scopes.ts';

/** The place of scopes with the same first segments, and the data stored there. */
export interface TrieNode<Slot> {
  readonly parent: TrieNode<Slot> | undefined;
  /** The segment that leads to this place. */
  readonly token: string;
  /** Most places have no children. */
  children: TransientMap<string, TrieNode<Slot>> | undefined;
  /** The child that is a star, cached to avoid a lookup. */
  pathStar: TrieNode<Slot> | undefined;
  nameStar: TrieNode<Slot> | undefined;
  /** Data of scopes that end here or below. */
  readonly below: Slot;
  /** Data of scopes that end here and include all scopes below. */
  ends: Slot | undefined;
  /** Data of scopes that end here in `/**` and include the path below. */
  pathEnds: Slot | undefined;
}

/**
 * A trie of segments. All overlapping scopes are on the scope's own path, however many others
 * exist. Only a star in the scope inspects siblings.
 */
export class ScopeTrie<Slot> {
  readonly #make: () => Slot;
  #root: TrieNode<Slot>;

  constructor(make: () => Slot) {
    this.#make = make;
    this.#root = this.#place(undefined, '');
  }

  /** Shows all slots on the path of this scope, and returns the place at which the scope ends. */
  enter({ tokens, rest }: Name, show: (slot: Slot) => void): TrieNode<Slot> {
    let place = this.#root;
    show(place.below);
    for (const token of tokens) {
      let child = place.children?.get(token);
      if (child === undefined) {
        child = this.#place(place, token);
        place.children ??= new TransientMap();
        place.children.set(token, child);
        setStar(place, token, child);
      }
      place = child;
      show(place.below);
    }
    if (rest === '/**') {
      place.pathEnds ??= this.#make();
      show(place.pathEnds);
    } else {
      place.ends ??= this.#make();
      show(place.ends);
    }
    return place;
  }

  /** Shows slots that together cover exactly the scopes that overlap this one (`scopesOverlap`). */
  visit({ tokens, rest }: Name, show: (slot: Slot) => void): void {
    this.#descend(this.#root, tokens, 0, rest, show);
  }

  /** `from`: number of tokens that lead to the place. */
  #descend(
    from: TrieNode<Slot>,
    tokens: readonly string[],
    depth: number,
    rest: Name['rest'],
    show: (slot: Slot) => void,
  ): void {
    let place = from;
    for (let at = depth; at < tokens.length; at++) {
      const token = tokens[at]!;
      const isInPath = isOfPath(token);
      if (place.ends !== undefined) show(place.ends);
      if (isInPath && place.pathEnds !== undefined) show(place.pathEnds);
      if (isStar(token)) {
        for (const child of place.children?.values() ?? [])
          if (child.token[0] === token[0]) this.#descend(child, tokens, at + 1, rest, show);
        return;
      }
      const star = isInPath ? place.pathStar : place.nameStar;
      if (star !== undefined) this.#descend(star, tokens, at + 1, rest, show);
      const child = place.children?.get(token);
      if (child === undefined) return;
      place = child;
    }
    if (rest !== '/**') {
      show(place.below);
      return;
    }
    if (place.ends !== undefined) show(place.ends);
    if (place.pathEnds !== undefined) show(place.pathEnds);
    for (const child of place.children?.values() ?? [])
      if (isOfPath(child.token)) show(child.below);
  }

  /** Removes a place and all places below it from the trie. */
  cut(place: TrieNode<Slot>): void {
    if (place.parent === undefined) {
      this.#root = this.#place(undefined, '');
      return;
    }
    place.parent.children?.delete(place.token);
    setStar(place.parent, place.token, undefined);
  }

  #place(parent: TrieNode<Slot> | undefined, token: string): TrieNode<Slot> {
    return {
      parent,
      token,
      children: undefined,
      pathStar: undefined,
      nameStar: undefined,
      below: this.#make(),
      ends: undefined,
      pathEnds: undefined,
    };
  }
}

function setStar<Slot>(
  parent: TrieNode<Slot>,
  token: string,
  child: TrieNode<Slot> | undefined,
): void {
  if (!isStar(token)) return;
  if (isOfPath(token)) parent.pathStar = child;
  else parent.nameStar = child;
}
