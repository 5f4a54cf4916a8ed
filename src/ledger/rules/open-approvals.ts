import type { Instant, PendingPayload } from '../entry/entry.ts';
import type { Hash } from '../entry/hash.ts';
import { type EffectPendingPayload, isEffectPending, waitingEffectOf } from '../entry/settlement.ts';

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
  /** Those in whose place another one waits, as one more person has approved, with that. */
  readonly #next: Map<Hash, Hash> = new Map();
  /** Those that expire, the soonest first, and of one instant in the order in which they came. */
  readonly #expiring: Expiring[] = [];
  #came = 0;
  readonly #expiringById: Map<Hash, Expiring> = new Map();
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

  /** The one that waits in the place of another, by the id of that. */
  inPlaceOf(id: Hash): readonly [Hash, PendingPayload] | undefined {
    const next = this.#next.get(id);
    return next === undefined ? undefined : [next, this.get(next) as PendingPayload];
  }

  /** Of those that have expired by then, the one that did so first. */
  dueAt(at: Instant): readonly [Hash, PendingPayload] | undefined {
    const [soonest] = this.#expiring;
    if (soonest === undefined || at < soonest.expires) return undefined;
    return [soonest.id, this.get(soonest.id) as PendingPayload];
  }

  /** From now on, one at a time. It is told of what is open already, first. */
  follow(follower: OpenFollower): void {
    this.#follower = follower;
    for (const [id, pending] of this) follower.added(id, pending);
  }

  override set(id: Hash, pending: PendingPayload): this {
    this.delete(id);
    super.set(id, pending);
    if (pending.freezes === 'world') this.#freezing.add(id);
    if (isEffectPending(pending)) this.#waiting.set(waitingEffectOf(pending).id, id);
    const { expires, resolves } = pending;
    if (resolves !== undefined) this.#next.set(resolves, id);
    if (expires !== undefined) {
      const expiring = { expires, came: this.#came++, id };
      this.#expiring.splice(placeOf(expiring, this.#expiring), 0, expiring);
      this.#expiringById.set(id, expiring);
    }
    this.#follower?.added(id, pending);
    return this;
  }

  override delete(id: Hash): boolean {
    const pending = this.get(id);
    if (pending === undefined) return false;
    this.#freezing.delete(id);
    if (isEffectPending(pending)) this.#waiting.delete(waitingEffectOf(pending).id);
    if (pending.resolves !== undefined) this.#next.delete(pending.resolves);
    const expiring = this.#expiringById.get(id);
    if (expiring !== undefined) this.#expiring.splice(placeOf(expiring, this.#expiring), 1);
    this.#expiringById.delete(id);
    this.#follower?.removed(id);
    return super.delete(id);
  }

  override clear(): void {
    for (const id of this.keys()) this.#follower?.removed(id);
    this.#freezing.clear();
    this.#waiting.clear();
    this.#next.clear();
    this.#expiring.length = 0;
    this.#expiringById.clear();
    super.clear();
  }
}

interface Expiring {
  readonly expires: Instant;
  readonly came: number;
  readonly id: Hash;
}

/** Where it stands, or is to stand. */
function placeOf({ expires, came }: Expiring, inOrder: readonly Expiring[]): number {
  let [low, high] = [0, inOrder.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = inOrder[middle]!;
    if (other.expires < expires || (other.expires === expires && other.came < came)) low = middle + 1;
    else high = middle;
  }
  return low;
}
