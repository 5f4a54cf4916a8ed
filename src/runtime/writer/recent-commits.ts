import { ChurnMap } from '#base';
import type { Hash } from '#ledger';

/** A commit that memory accepted. */
export interface Accepted {
  readonly id: Hash;
  /** What it changed. */
  readonly paths: readonly (readonly string[])[];
}

/** What memory accepts, for those who follow it: as much as the one has seen who began first of them, and nothing where there is none. */
export class AcceptedLog {
  /** Where each began, in that order: so the first is the least. */
  readonly #followers: ChurnMap<object, number> = new ChurnMap();
  #commits: Accepted[] = [];
  /** How many there were before those. */
  #forgotten = 0;

  /** How many follow. */
  get followers(): number {
    return this.#followers.size;
  }

  /** How many commits are kept. */
  get size(): number {
    return this.#commits.length;
  }

  add(commit: Accepted): void {
    if (this.#followers.size > 0) this.#commits.push(commit);
  }

  /** From now on, also where it has followed before; until `unfollow`. */
  follow(who: object): void {
    this.#followers.delete(who);
    this.#followers.set(who, this.#forgotten + this.#commits.length);
    this.#forget();
  }

  unfollow(who: object): void {
    if (this.#followers.delete(who)) this.#forget();
  }

  /** What was accepted since it follows; nothing where it does not. */
  *since(who: object): Iterable<Accepted> {
    const from = this.#followers.get(who);
    if (from === undefined) return;
    for (let at = from - this.#forgotten; at < this.#commits.length; at++) yield this.#commits[at]!;
  }

  /** What all have seen; not one by one, which would move the others each time. */
  #forget(): void {
    const end = this.#forgotten + this.#commits.length;
    const [first = end] = this.#followers.values();
    const seen = first - this.#forgotten;
    if (seen === 0 || seen < this.#commits.length / 2) return;
    this.#commits = this.#commits.slice(seen);
    this.#forgotten = first;
  }
}
