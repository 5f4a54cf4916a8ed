import type { Name } from '#authority';
import { type Access, type Claim, continues, covers, isStar } from './scopes.ts';

/** Up to this number of claims a linear search is used. Most work has fewer. */
const FEW = 16;

/**
 * A changing set of claims. `covers` finds quickly whether one of them contains another claim, for
 * any number of claims.
 */
export class ClaimSet implements Iterable<Claim> {
  readonly #all: Set<Claim>;
  /** Undefined while the set is small. */
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

  /** Removes and returns an identical claim. Undefined if there is none. */
  remove(claim: Claim): Claim | undefined {
    const same = this.#tree === undefined ? sameAmong(this.#all, claim) : this.#tree.remove(claim);
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
  for (const each of claims)
    if (each.access === access && each.scope.text === scope.text) return each;
  return undefined;
}

/** The place of scopes with the same first segments. */
interface ScopeNode {
  readonly below: Map<string, ScopeNode>;
  /** Claims with scopes that end here, by the form of their end. */
  readonly ends: Map<Name['rest'], Ends>;
}

type Ends = Readonly<Record<Access, Claim[]>>;

/**
 * Claims by the segments of their scopes. A covering claim is on the path of the covered one, or
 * next to it at a star.
 */
class Tree {
  readonly #root: ScopeNode = newPlace();

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

  remove({ access, scope }: Claim): Claim | undefined {
    let place: ScopeNode | undefined = this.#root;
    for (const token of scope.tokens) place = place?.below.get(token);
    return place?.ends.get(scope.rest)?.[access].pop();
  }

  covers(claim: Claim): boolean {
    return coversFrom(this.#root, 0, claim);
  }
}

function newPlace(): ScopeNode {
  return { below: new Map(), ends: new Map() };
}

/** `depth`: number of segments that lead to the place. */
function coversFrom(place: ScopeNode, depth: number, claim: Claim): boolean {
  const { tokens, rest } = claim.scope;
  const next = tokens[depth];
  for (const [end, { read, write }] of place.ends)
    if (
      continues(end, next ?? rest) &&
      (write.length > 0 || (claim.access === 'read' && read.length > 0))
    )
      return true;
  if (next === undefined) return false;
  const same = place.below.get(next);
  if (same !== undefined && coversFrom(same, depth + 1, claim)) return true;
  const star = isStar(next) ? undefined : place.below.get(`${next[0]}*`);
  return star !== undefined && coversFrom(star, depth + 1, claim);
}
