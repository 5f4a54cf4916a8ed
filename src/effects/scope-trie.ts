import type { Name } from '#authority';
import { ChurnMap } from '#base';
import { isOfPath, isStar } from './scopes.ts';

/** Where scopes with the same first segments come together, and what is kept of them. */
export interface Place<Slot> {
  readonly parent: Place<Slot> | undefined;
  /** The segment that leads here. */
  readonly token: string;
  /** Most places have none. */
  children: ChurnMap<string, Place<Slot>> | undefined;
  /** Those of them that are stars, so that they need not be looked up. */
  pathStar: Place<Slot> | undefined;
  nameStar: Place<Slot> | undefined;
  /** Of scopes that end here or below. */
  readonly below: Slot;
  /** Of those that end here, and mean whatever is below. */
  ends: Slot | undefined;
  /** Of those that end here in `/**`, and mean what is below in the path. */
  pathEnds: Slot | undefined;
}

/**
 * A trie of segments. What a scope meets is found on its own way down, however many others there are; only a star in it looks
 * at what is beside each other.
 */
export class ScopeTrie<Slot> {
  readonly #make: () => Slot;
  #root: Place<Slot>;

  constructor(make: () => Slot) {
    this.#make = make;
    this.#root = this.#place(undefined, '');
  }

  /** Shows all slots that tell of this scope, and answers with the place where it ends. */
  enter({ tokens, rest }: Name, show: (slot: Slot) => void): Place<Slot> {
    let place = this.#root;
    show(place.below);
    for (const token of tokens) {
      let child = place.children?.get(token);
      if (child === undefined) {
        child = this.#place(place, token);
        place.children ??= new ChurnMap();
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

  /** Shows slots that tell, together, of just the scopes that meet this one (`scopesMeet`). */
  visit({ tokens, rest }: Name, show: (slot: Slot) => void): void {
    this.#descend(this.#root, tokens, 0, rest, show);
  }

  /** `from`: how many of the tokens have led to the place. */
  #descend(
    from: Place<Slot>,
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
    for (const child of place.children?.values() ?? []) if (isOfPath(child.token)) show(child.below);
  }

  /** Takes a place with all that is below out of the trie. */
  cut(place: Place<Slot>): void {
    if (place.parent === undefined) {
      this.#root = this.#place(undefined, '');
      return;
    }
    place.parent.children?.delete(place.token);
    setStar(place.parent, place.token, undefined);
  }

  #place(parent: Place<Slot> | undefined, token: string): Place<Slot> {
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

function setStar<Slot>(parent: Place<Slot>, token: string, child: Place<Slot> | undefined): void {
  if (!isStar(token)) return;
  if (isOfPath(token)) parent.pathStar = child;
  else parent.nameStar = child;
}
