import type { Hash, PendingPayload } from './entry.ts';
import { type EffectPendingPayload, isEffectPending, waitingEffectOf } from './settlement.ts';

/**
 * Pending approvals that nobody resolved yet, by entry id. What each entry asks of them is found without going through them: a hundred
 * thousand may be open.
 */
export class OpenPendings extends Map<Hash, PendingPayload> {
  /** Those that freeze the whole world. */
  readonly #freezing: Set<Hash> = new Set();
  /** Those that are about an effect, by the id of that. */
  readonly #waiting: Map<Hash, Hash> = new Map();

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

  override set(id: Hash, pending: PendingPayload): this {
    super.set(id, pending);
    if (pending.freezes === 'world') this.#freezing.add(id);
    if (isEffectPending(pending)) this.#waiting.set(waitingEffectOf(pending).id, id);
    return this;
  }

  override delete(id: Hash): boolean {
    const pending = this.get(id);
    if (pending === undefined) return false;
    this.#freezing.delete(id);
    if (isEffectPending(pending)) this.#waiting.delete(waitingEffectOf(pending).id);
    return super.delete(id);
  }

  override clear(): void {
    this.#freezing.clear();
    this.#waiting.clear();
    super.clear();
  }
}
