import type { Name } from '#authority';
import { type Access, type Claim, continues, covers, isStar } from './scopes.ts';

/** So many claims are looked through one by one: most work has fewer. */
const FEW = 16;

/** Claims that come and go, and whether another one lies inside of one of them (`covers`), however many there are. */
export class ClaimSet implements Iterable<Claim> {
  readonly #all: Set<Claim>;
  /** Undefined while there are few. */
  #tree: Tree | undefined;

  constructor(claims: Iterable<Claim> = []) {
    this.#all = new Set(claims);
    this.#growTree();
  }

  [Symbol.iterator](): Iterator<Claim> {
    return this.#all.values();
  }

  add(claim: Claim): void {
    if (this.#all.has(claim)) return;
    this.#all.add(claim);
    if (this.#tree === undefined) this.#growTree();
    else this.#tree.add(claim);
  }

  /** Takes one out that is the same, word for word, and answers with it; undefined where there is none. */
  take(claim: Claim): Claim | undefined {
    const same = this.#tree === undefined ? sameAmong(this.#all, claim) : this.#tree.take(claim);
    if (same !== undefined) this.#all.delete(same);
    return same;
  }

  covers(claim: Claim): boolean {
    return this.#tree === undefined ? covers(this.#all, claim) : this.#tree.covers(claim);
  }

  #growTree(): void {
    if (this.#all.size <= FEW) return;
    this.#tree = new Tree();
    for (const claim of this.#all) this.#tree.add(claim);
  }
}

function sameAmong(claims: Iterable<Claim>, { access, scope }: Claim): Claim | undefined {
  for (const each of claims) if (each.access === access && each.scope.text === scope.text) return each;
  return undefined;
}

/** Where scopes with the same first segments come together. */
interface Place {
  readonly below: Map<string, Place>;
  /** Of scopes that end here, by what they end in. */
  readonly ends: Map<Name['rest'], Ends>;
}

type Ends = Readonly<Record<Access, Claim[]>>;

/** Claims by the segments of their scopes. What covers another one is on its own way down, or beside it where a star stands for a segment. */
class Tree {
  readonly #root: Place = newPlace();

  add(claim: Claim): void {
    let place = this.#root;
    for (const token of claim.scope.tokens) {
      let next = place.below.get(token);
      if (next === undefined) {
        next = newPlace();
        place.below.set(token, next);
      }
      place = next;
    }
    const { rest } = claim.scope;
    let ends = place.ends.get(rest);
    if (ends === undefined) {
      ends = { read: [], write: [] };
      place.ends.set(rest, ends);
    }
    ends[claim.access].push(claim);
  }

  take({ access, scope }: Claim): Claim | undefined {
    let place: Place | undefined = this.#root;
    for (const token of scope.tokens) place = place?.below.get(token);
    return place?.ends.get(scope.rest)?.[access].pop();
  }

  covers(claim: Claim): boolean {
    return coversFrom(this.#root, 0, claim);
  }
}

function newPlace(): Place {
  return { below: new Map(), ends: new Map() };
}

/** `depth`: how many segments have led to the place. */
function coversFrom(place: Place, depth: number, claim: Claim): boolean {
  const { tokens, rest } = claim.scope;
  const next = tokens[depth];
  for (const [end, { read, write }] of place.ends)
    if (continues(end, next ?? rest) && (write.length > 0 || (claim.access === 'read' && read.length > 0))) return true;
  if (next === undefined) return false;
  const same = place.below.get(next);
  if (same !== undefined && coversFrom(same, depth + 1, claim)) return true;
  const star = isStar(next) ? undefined : place.below.get(`${next[0]}*`);
  return star !== undefined && coversFrom(star, depth + 1, claim);
}
