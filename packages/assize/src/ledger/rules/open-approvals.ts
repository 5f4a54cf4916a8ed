import type { Instant, PendingPayload } from '../entry/entry.ts';
import type { Hash } from '../entry/hash.ts';
import {
  type EffectPendingPayload,
  isEffectPending,
  pendingEffectOf,
} from '../entry/settlement.ts';

/** Whether an approval comes too late at that time, also before the expiry is recorded. */
export function isExpired({ expires }: PendingPayload, at: Instant): boolean {
  return expires !== undefined && at >= expires;
}

/** A listener for changes of the open entries, so that it need not scan all of them. */
export interface OpenApprovalListener {
  added(id: Hash, pending: PendingPayload): void;
  removed(id: Hash): void;
}

/**
 * Unresolved pending approvals, by entry id. Lookups never scan the list, because a hundred
 * thousand approvals can be open.
 */
export class OpenApprovals extends Map<Hash, PendingPayload> {
  /** Approvals that freeze the whole state. */
  readonly #freezing: Set<Hash> = new Set();
  /** Approvals about an effect, by the effect's id. */
  readonly #waiting: Map<Hash, Hash> = new Map();
  /**
   * Replaced approvals: each further approval creates a new pending entry in place of the previous
   * one.
   */
  readonly #next: Map<Hash, Hash> = new Map();
  /** Approvals that expire, soonest first. Equal instants keep their order of arrival. */
  readonly #expiring: Expiring[] = [];
  #came = 0;
  readonly #byWrit: Map<Hash, number> = new Map();
  readonly #expiringById: Map<Hash, Expiring> = new Map();
  #follower: OpenApprovalListener | undefined;

  /** The first approval that freezes the whole state. */
  get freezing(): Hash | undefined {
    const [first] = this.#freezing;
    return first;
  }

  /** The approval about an effect. */
  waitingFor(effect: Hash): readonly [Hash, EffectPendingPayload] | undefined {
    const id = this.#waiting.get(effect);
    return id === undefined ? undefined : [id, this.get(id) as EffectPendingPayload];
  }

  /** The approval that replaces another one, by the replaced id. */
  inPlaceOf(id: Hash): readonly [Hash, PendingPayload] | undefined {
    const next = this.#next.get(id);
    return next === undefined ? undefined : [next, this.get(next) as PendingPayload];
  }

  /** The approvals that have expired at that time, earliest first, at most that many. */
  dueAt(at: Instant, most: number): (readonly [Hash, PendingPayload])[] {
    const due: (readonly [Hash, PendingPayload])[] = [];
    for (const { expires, id } of this.#expiring) {
      if (due.length === most || at < expires) break;
      due.push([id, this.get(id) as PendingPayload]);
    }
    return due;
  }

  /** The earliest expiry of an open approval. */
  get nextExpiry(): Instant | undefined {
    return this.#expiring[0]?.expires;
  }

  /** The number of proposals that wait, by the writ that each was proposed under. */
  get countsByWrit(): ReadonlyMap<Hash, number> {
    return this.#byWrit;
  }

  /** Sets the only listener. The listener first receives all approvals that are already open. */
  follow(follower: OpenApprovalListener): void {
    this.#follower = follower;
    for (const [id, pending] of this) follower.added(id, pending);
  }

  override set(id: Hash, pending: PendingPayload): this {
    this.delete(id);
    super.set(id, pending);
    if (pending.freezes === 'world') this.#freezing.add(id);
    if (isEffectPending(pending)) this.#waiting.set(pendingEffectOf(pending).id, id);
    else this.#count(pending, 1);
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
    if (isEffectPending(pending)) this.#waiting.delete(pendingEffectOf(pending).id);
    else this.#count(pending, -1);
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
    this.#byWrit.clear();
    super.clear();
  }

  #count({ proposal }: PendingPayload, by: 1 | -1): void {
    const count = (this.#byWrit.get(proposal.writ_id) ?? 0) + by;
    if (count === 0) this.#byWrit.delete(proposal.writ_id);
    else this.#byWrit.set(proposal.writ_id, count);
  }
}

interface Expiring {
  readonly expires: Instant;
  readonly came: number;
  readonly id: Hash;
}

/** The index of an item, or the index at which to insert it. */
function placeOf({ expires, came }: Expiring, inOrder: readonly Expiring[]): number {
  let [low, high] = [0, inOrder.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = inOrder[middle]!;
    if (other.expires < expires || (other.expires === expires && other.came < came))
      low = middle + 1;
    else high = middle;
  }
  return low;
}
