import { TransientMap } from '#base';
import type { Hash } from '#ledger';

/** A commit that memory accepted. */
export interface RecentCommit {
  readonly id: Hash;
  /** The paths that the commit changed. */
  readonly paths: readonly (readonly string[])[];
}

/**
 * The commits that memory accepted, for followers. It keeps the commits since the oldest follower
 * began, and none without followers.
 */
export class RecentCommits {
  /** The position at which each follower began, in that order, so the first is the lowest. */
  readonly #followers: TransientMap<object, number> = new TransientMap();
  #commits: RecentCommit[] = [];
  /** The number of commits dropped before the kept ones. */
  #forgotten = 0;

  /** The number of followers. */
  get followers(): number {
    return this.#followers.size;
  }

  /** The number of kept commits. */
  get size(): number {
    return this.#commits.length;
  }

  add(commit: RecentCommit): void {
    if (this.#followers.size > 0) this.#commits.push(commit);
  }

  /** Follows from now on, also if it has followed before, until `unfollow`. */
  follow(who: object): void {
    this.#followers.delete(who);
    this.#followers.set(who, this.#forgotten + this.#commits.length);
    this.#forget();
  }

  unfollow(who: object): void {
    if (this.#followers.delete(who)) this.#forget();
  }

  /** The commits accepted since `who` follows; empty if it does not follow. */
  *since(who: object): Iterable<RecentCommit> {
    const from = this.#followers.get(who);
    if (from === undefined) return;
    for (let at = from - this.#forgotten; at < this.#commits.length; at++) yield this.#commits[at]!;
  }

  /**
   * Drops the commits that all followers have seen. Drops them in bulk, because each single removal
   * would move the others.
   */
  #forget(): void {
    const end = this.#forgotten + this.#commits.length;
    const [first = end] = this.#followers.values();
    const seen = first - this.#forgotten;
    if (seen === 0 || seen < this.#commits.length / 2) return;
    this.#commits = this.#commits.slice(seen);
    this.#forgotten = first;
  }
}
