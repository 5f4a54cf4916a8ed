import { TransientMap } from '#base';
import { ClaimIndex, type Registration } from './claim-index.ts';
import { ClaimSet } from './claim-set.ts';
import { Coordinator, type Stale, type Work } from './coordinator.ts';
import type { Claim } from './scopes.ts';

interface Shared {
  readonly work: Work;
  claims: ClaimSet;
  /** Stale claims. They are not registered and must be released. Undefined if there are none. */
  late: ClaimSet | undefined;
  /** The work started in this process, so its acts are visible here. */
  readonly isHere: boolean;
  /** The fence of the owner. */
  fence: number;
  /** The work needs a human decision, and no process resumes it. */
  isParked: boolean;
  /** Claims that stay blocked until the human decision is made and carried out. */
  doubts: Registration[];
}

/**
 * The active work of all members of a store's group, derived from their published events. All
 * members apply the events in one order and so agree on the state. Work with a higher epoch
 * therefore waits for lower epochs in every process. An engine in exclusive mode publishes events
 * to itself.
 *
 * The view may lag behind. Work with a lower epoch was registered before the own epoch was
 * assigned, and so is known here. Work with a lower epoch that claims more later is stale if work
 * with a higher epoch has the claim. That holds even before the other work has acted, because its
 * acts are not visible here.
 */
export class SharedWork {
  readonly coordinator: Coordinator;
  readonly #fence: number;
  readonly #doubts = new ClaimIndex();
  readonly #works = new TransientMap<number, Shared>();

  /** `fence`: the owner of the view. `last`, `isOrdered`: same as for `Coordinator`. */
  constructor(fence: number, last = 0, isOrdered = true) {
    this.#fence = fence;
    this.coordinator = new Coordinator(last, isOrdered);
  }

  /** Epochs that this member must continue. */
  *ownEpochs(): Iterable<number> {
    for (const [epoch, { fence, isParked }] of this.#works)
      if (fence === this.#fence && !isParked) yield epoch;
  }

  /** Epochs that need a human decision, of any owner. */
  parked(): number[] {
    return [...this.#works].filter(([, { isParked }]) => isParked).map(([epoch]) => epoch);
  }

  isParked(epoch: number): boolean {
    return this.#works.get(epoch)?.isParked === true;
  }

  workOf(epoch: number): Work | undefined {
    return this.#works.get(epoch)?.work;
  }

  /** The epoch of the unresolved work that blocks the claim. */
  doubtAt(claim: Claim): number | undefined {
    if (this.#doubts.size === 0) return undefined;
    const epoch = this.#doubts.least(claim);
    return Number.isFinite(epoch) ? epoch : undefined;
  }

  /**
   * Applies the start of work. `isHere`: this member started it. Work of an ended member that this
   * member adopted before it applied the start counts as its own.
   */
  register(
    epoch: number,
    fence: number,
    claims: readonly Claim[],
    isHere = fence === this.#fence,
  ): Work {
    const work = this.coordinator.resume(epoch, claims);
    const shared = {
      work,
      claims: new ClaimSet(claims),
      late: undefined,
      isHere,
      fence,
      isParked: false,
      doubts: [],
    };
    this.#works.set(epoch, shared);
    if (!isHere) this.#assumeActed(work, claims);
    return work;
  }

  /**
   * Applies more claims, or returns why they are stale. Stale claims are not registered and must be
   * released. Claims that the work already has never become stale, even if a higher epoch waits for
   * it.
   */
  claim(epoch: number, claims: readonly Claim[]): Stale | undefined {
    const shared = this.#works.get(epoch);
    if (shared === undefined) return undefined;
    const { work, isHere } = shared;
    if (isHere) {
      const fresh = claims.filter((claim) => !shared.claims.covers(claim));
      const stale = this.coordinator.expand(work, fresh);
      if (stale !== undefined) {
        shared.late ??= new ClaimSet();
        for (const claim of claims) shared.late.add(claim);
        return stale;
      }
    }
    this.coordinator.claim(work, claims);
    if (!isHere) this.#assumeActed(work, claims);
    for (const claim of claims) shared.claims.add(claim);
    return undefined;
  }

  release(epoch: number, claims: readonly Claim[]): void {
    const shared = this.#works.get(epoch);
    if (shared === undefined) return;
    const released = claims.flatMap((claim) => {
      const isLate = shared.late?.remove(claim) !== undefined;
      return isLate ? [] : (shared.claims.remove(claim) ?? []);
    });
    this.coordinator.release(shared.work, released);
  }

  /**
   * Marks the work as unresolved. Other work no longer waits for it, and its claims are blocked.
   * `kept`: the claims to keep, inside its present claims; all others are released.
   */
  park(epoch: number, kept?: readonly Claim[]): void {
    const shared = this.#works.get(epoch);
    if (shared === undefined) return;
    shared.isParked = true;
    if (kept !== undefined) shared.claims = new ClaimSet(kept);
    for (const doubt of shared.doubts) this.#doubts.delete(doubt);
    shared.doubts = Array.from(shared.claims, (claim) => this.#doubts.add(epoch, claim));
    this.coordinator.end(shared.work);
  }

  /** Resumes unresolved work, unless another member already does. */
  adopt(epoch: number, fence: number): boolean {
    const shared = this.#works.get(epoch);
    if (shared?.isParked !== true) return false;
    shared.isParked = false;
    shared.fence = fence;
    return true;
  }

  end(epoch: number): void {
    const shared = this.#works.get(epoch);
    if (shared === undefined) return;
    this.coordinator.end(shared.work);
    for (const doubt of shared.doubts) this.#doubts.delete(doubt);
    this.#works.delete(epoch);
  }

  /** All work of the member `gone` now belongs to another member. */
  reassign(gone: number, fence: number): void {
    for (const shared of this.#works.values()) if (shared.fence === gone) shared.fence = fence;
  }

  #assumeActed(work: Work, claims: readonly Claim[]): void {
    for (const claim of claims) this.coordinator.recordAct(work, claim);
  }
}
