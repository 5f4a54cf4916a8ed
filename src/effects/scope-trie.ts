import type { Name } from '#authority';
import { ChurnMap } from '#canon';
import { isOfPath, isStar } from './scopes.ts';

/** Where scopes with the same first segments come together, and what is kept of them. */
export interface Place<Slot> {
  readonly parent: Place<Slot> | undefined;
  /** The segment that leads here. */
  readonly token: string;
  /** Most places have none. */
  children: ChurnMap<string, Place<Slot>> | undefined;
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
    const showEnds = (place: Place<Slot>, isInPath: boolean): void => {
      if (place.ends !== undefined) show(place.ends);
      if (isInPath && place.pathEnds !== undefined) show(place.pathEnds);
    };
    const descend = (place: Place<Slot>, depth: number): void => {
      if (depth === tokens.length) {
        if (rest !== '/**') {
          show(place.below);
          return;
        }
        showEnds(place, true);
        for (const child of place.children?.values() ?? []) if (isOfPath(child.token)) show(child.below);
        return;
      }
      const token = tokens[depth]!;
      showEnds(place, isOfPath(token));
      if (isStar(token)) {
        for (const child of place.children?.values() ?? []) if (child.token[0] === token[0]) descend(child, depth + 1);
        return;
      }
      const child = place.children?.get(token);
      if (child !== undefined) descend(child, depth + 1);
      const star = place.children?.get(isOfPath(token) ? '/*' : ':*');
      if (star !== undefined) descend(star, depth + 1);
    };
    descend(this.#root, 0);
  }

  /** Takes a place with all that is below out of the trie. */
  cut(place: Place<Slot>): void {
    if (place.parent === undefined) this.#root = this.#place(undefined, '');
    else place.parent.children?.delete(place.token);
  }

  #place(parent: Place<Slot> | undefined, token: string): Place<Slot> {
    return { parent, token, children: undefined, below: this.#make(), ends: undefined, pathEnds: undefined };
  }
}
