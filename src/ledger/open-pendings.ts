import type { Hash, Instant, PendingPayload } from './entry.ts';
import { type EffectPendingPayload, isEffectPending, waitingEffectOf } from './settlement.ts';

/** Who goes by what is open: it is told of what comes and goes, so that it need not go through all of it. */
export interface OpenFollower {
  added(id: Hash, pending: PendingPayload): void;
  removed(id: Hash): void;
}

/**
 * Pending approvals that nobody resolved yet, by entry id. What each entry asks of them is found without going through them: a hundred
 * thousand may be open.
 */
export class OpenPendings extends Map<Hash, PendingPayload> {
  /** Those that freeze the whole world. */
  readonly #freezing: Set<Hash> = new Set();
  /** Those that are about an effect, by the id of that. */
  readonly #waiting: Map<Hash, Hash> = new Map();
  /** When they expire, of those that do. */
  readonly #expiring: Map<Hash, Instant> = new Map();
  /** None of them expires before. */
  #soonest: Instant | undefined;
  #follower: OpenFollower | undefined;

  /** The first that freezes the whole world. */
  get freezing(): Hash | undefined {
    const [first] = this.#freezing;
    return first;
  }

  /** The one that is about an effect. */
  waitingFor(effect: Hash): readonly [Hash, EffectPendingPayload] | undefined {
    const id = this.#waiting.get(effect);
    return id === undefined ? undefined : [id, this.get(id) as EffectPendingPayload];
  }

  /** The first that has expired by then. They are gone through only where one may have. */
  dueAt(at: Instant): readonly [Hash, PendingPayload] | undefined {
    if (this.#soonest === undefined || at < this.#soonest) return undefined;
    let soonest: Instant | undefined;
    for (const [id, expires] of this.#expiring) {
      if (at >= expires) return [id, this.get(id) as PendingPayload];
      if (soonest === undefined || expires < soonest) soonest = expires;
    }
    this.#soonest = soonest;
    return undefined;
  }

  /** From now on, one at a time. It is told of what is open already, first. */
  follow(follower: OpenFollower): void {
    this.#follower = follower;
    for (const [id, pending] of this) follower.added(id, pending);
  }

  override set(id: Hash, pending: PendingPayload): this {
    super.set(id, pending);
    if (pending.freezes === 'world') this.#freezing.add(id);
    if (isEffectPending(pending)) this.#waiting.set(waitingEffectOf(pending).id, id);
    const { expires } = pending;
    if (expires !== undefined) {
      this.#expiring.set(id, expires);
      if (this.#soonest === undefined || expires < this.#soonest) this.#soonest = expires;
    }
    this.#follower?.added(id, pending);
    return this;
  }

  override delete(id: Hash): boolean {
    const pending = this.get(id);
    if (pending === undefined) return false;
    this.#freezing.delete(id);
    if (isEffectPending(pending)) this.#waiting.delete(waitingEffectOf(pending).id);
    this.#expiring.delete(id);
    this.#follower?.removed(id);
    return super.delete(id);
  }

  override clear(): void {
    for (const id of this.keys()) this.#follower?.removed(id);
    this.#freezing.clear();
    this.#waiting.clear();
    this.#expiring.clear();
    this.#soonest = undefined;
    super.clear();
  }
}
