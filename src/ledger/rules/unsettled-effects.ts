import { ChurnMap } from '#base';
import type { CommitPayload } from '../entry/entry.ts';
import type { Hash } from '../entry/hash.ts';
import type { SettledCommit } from '../entry/settlement.ts';

/** What is left of one commit. */
interface Left {
  readonly writ_id: Hash;
  readonly effects: Set<Hash>;
}

/** As JSON, the oldest commit first. */
export type UnsettledState = readonly {
  readonly commit: Hash;
  readonly writ_id: Hash;
  readonly effects: readonly Hash[];
}[];

/**
 * The effects that commits of one chain have named, and of which it does not say yet what became of them. A branch begins
 * with none: what its source has at work is for its source to tell.
 */
export class Unsettled {
  readonly #commits: ChurnMap<Hash, Left> = new ChurnMap();

  static from(state: UnsettledState): Unsettled {
    const unsettled = new Unsettled();
    for (const { commit, writ_id, effects } of state)
      unsettled.#commits.set(commit, { writ_id, effects: new Set(effects) });
    return unsettled;
  }

  state(): UnsettledState {
    return [...this.#commits].map(([commit, { writ_id, effects }]) => ({ commit, writ_id, effects: [...effects] }));
  }

  copy(): Unsettled {
    return Unsettled.from(this.state());
  }

  /** A commit that the chain has accepted. */
  note(commit: Hash, { writ_id, delta }: CommitPayload): void {
    if (delta.effects.length === 0) return;
    this.#commits.set(commit, { writ_id, effects: new Set(delta.effects.map(({ id }) => id)) });
  }

  /** What of a commit is not settled yet. */
  of(commit: Hash): ReadonlySet<Hash> {
    return this.#commits.get(commit)?.effects ?? NONE;
  }

  /** The writ that a commit names of which something is left. */
  writOf(commit: Hash): Hash | undefined {
    return this.#commits.get(commit)?.writ_id;
  }

  /** Why these can't be settled: no commit named one, or it was settled before; undefined where they can. */
  fault(settled: readonly SettledCommit[]): string | undefined {
    const seen = new Set<string>();
    for (const { commit, effects } of settled) {
      const left = this.of(commit);
      for (const { id } of effects) {
        const isFirst = seen.size < seen.add(`${commit} ${id}`).size;
        if (!isFirst || !left.has(id))
          return `${id} is no effect of ${commit} of which is not said yet what became of it`;
      }
    }
    return undefined;
  }

  /** What the chain has accepted, after `fault` said nothing. */
  settle(settled: readonly SettledCommit[]): void {
    for (const { commit, effects } of settled) {
      const left = this.#commits.get(commit)?.effects;
      for (const { id } of effects) left?.delete(id);
      if (left?.size === 0) this.#commits.delete(commit);
    }
  }
}

const NONE: ReadonlySet<Hash> = new Set();
