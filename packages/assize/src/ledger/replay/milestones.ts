import type { Chain } from '../rules/chain.ts';
import { type Folded, share } from './fold.ts';

/** Entries between two milestones, as long as a trajectory has few of them. */
const APART = 5_000;
/** With more milestones, each second one is dropped. A state that changes much shares little. */
const MOST = 32;
/** Before the points of the last calls there are more: a reader goes back entry by entry. */
const NEAR = 2_000;
const NEAR_APART = 500;
const NEAR_MOST = 8;
/** Trajectories with milestones: those of the last calls. */
const TRAJECTORIES = 2;

/** A replay up to an entry. Its state is shared. */
interface Milestone {
  readonly chain: Chain;
  readonly fold: Folded;
}

interface Kept {
  apart: number;
  far: Milestone[];
  readonly near: Milestone[];
}

/**
 * Replays up to some entries of long trajectories, so that the state at any entry of one is found
 * without a replay of all entries before.
 */
export class Milestones {
  readonly #kept: Map<string, Kept> = new Map();

  /** The last milestone at or before an entry, as a replay that the caller may continue. */
  before(trajectoryId: string, seq: number): Milestone | undefined {
    const kept = this.#kept.get(trajectoryId);
    if (kept === undefined) return undefined;
    this.#kept.delete(trajectoryId);
    this.#kept.set(trajectoryId, kept);
    const found = [...kept.far, ...kept.near].filter(({ chain }) => chain.seq <= seq + 1);
    const last = found.reduce<Milestone | undefined>(
      (best, one) => (best === undefined || one.chain.seq > best.chain.seq ? one : best),
      undefined,
    );
    return last && copyOf(last);
  }

  /** Offers a replay between two pages. The caller continues it. */
  offer(chain: Chain, fold: Folded, target: number): void {
    const kept = this.#keptOf(chain.trajectoryId);
    const { far, near } = kept;
    if (target - chain.seq < NEAR) {
      if (near.some((one) => Math.abs(one.chain.seq - chain.seq) < NEAR_APART)) return;
      near.push(copyOf({ chain, fold }));
      if (near.length > NEAR_MOST) near.shift();
    } else if (far.every((one) => Math.abs(one.chain.seq - chain.seq) >= kept.apart)) {
      far.push(copyOf({ chain, fold }));
      if (far.length <= MOST) return;
      kept.apart *= 2;
      kept.far = far.toSorted((a, b) => a.chain.seq - b.chain.seq).filter((_, n) => n % 2 === 1);
    }
  }

  #keptOf(trajectoryId: string): Kept {
    let kept = this.#kept.get(trajectoryId);
    if (kept !== undefined) return kept;
    if (this.#kept.size >= TRAJECTORIES)
      this.#kept.delete(this.#kept.keys().next().value as string);
    kept = { apart: APART, far: [], near: [] };
    this.#kept.set(trajectoryId, kept);
    return kept;
  }
}

function copyOf({ chain, fold }: Milestone): Milestone {
  return { chain: chain.copy(), fold: share(fold) };
}
