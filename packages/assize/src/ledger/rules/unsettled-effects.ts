import { TransientMap } from '#base';
import type { CommitPayload } from '../entry/entry.ts';
import type { Hash } from '../entry/hash.ts';
import type { SettledCommit } from '../entry/settlement.ts';

/** The unsettled effects of one commit. */
interface UnsettledCommit {
  readonly writ_id: Hash;
  readonly effects: Set<Hash>;
}

/** As JSON, the oldest commit first. */
export type UnsettledEffectsState = readonly {
  readonly commit: Hash;
  readonly writ_id: Hash;
  readonly effects: readonly Hash[];
}[];

/**
 * Effects named by commits of one chain and not yet settled. A branch starts with none, because its
 * source records the outcome of the source's effects.
 */
export class UnsettledEffects {
  readonly #commits: TransientMap<Hash, UnsettledCommit> = new TransientMap();

  static from(state: UnsettledEffectsState): UnsettledEffects {
    const unsettled = new UnsettledEffects();
    for (const { commit, writ_id, effects } of state)
      unsettled.#commits.set(commit, { writ_id, effects: new Set(effects) });
    return unsettled;
  }

  state(): UnsettledEffectsState {
    return [...this.#commits].map(([commit, { writ_id, effects }]) => ({
      commit,
      writ_id,
      effects: [...effects],
    }));
  }

  copy(): UnsettledEffects {
    return UnsettledEffects.from(this.state());
  }

  /** Registers a commit that the chain has accepted. */
  record(commit: Hash, { writ_id, delta }: CommitPayload): void {
    if (delta.effects.length === 0) return;
    this.#commits.set(commit, { writ_id, effects: new Set(delta.effects.map(({ id }) => id)) });
  }

  /** The unsettled effects of a commit. */
  forCommit(commit: Hash): ReadonlySet<Hash> {
    return this.#commits.get(commit)?.effects ?? NONE;
  }

  /** The writ of a commit with unsettled effects. */
  writOf(commit: Hash): Hash | undefined {
    return this.#commits.get(commit)?.writ_id;
  }

  /**
   * The reason why effects cannot be settled: no commit named them, or they were settled before.
   * Undefined if they can.
   */
  fault(settled: readonly SettledCommit[]): string | undefined {
    const seen = new Set<string>();
    for (const { commit, effects } of settled) {
      const left = this.forCommit(commit);
      for (const { id } of effects) {
        const isFirst = seen.size < seen.add(`${commit} ${id}`).size;
        if (!isFirst || !left.has(id)) return `${id} is not an unsettled effect of ${commit}`;
      }
    }
    return undefined;
  }

  /** Registers a settlement that the chain has accepted, after `fault` returned undefined. */
  settle(settled: readonly SettledCommit[]): void {
    for (const { commit, effects } of settled) {
      const left = this.#commits.get(commit)?.effects;
      for (const { id } of effects) left?.delete(id);
      if (left?.size === 0) this.#commits.delete(commit);
    }
  }
}

const NONE: ReadonlySet<Hash> = new Set();
