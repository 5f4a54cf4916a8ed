import { isAssizeError } from '#base';
import { copyJson, WORLD_LIMITS } from '#canon';
import type { Domain, PatchOperation, Reservation } from '#kernel';
import {
  type Chain,
  type Hash,
  type Instant,
  isBlobRef,
  isEffectPending,
  isExpired,
  type Patch,
  type PendingPayload,
  type Stored,
} from '#ledger';
import { type NeedsFacts, needs } from '../records/needs.ts';
import type { PendingSources } from '../records/pending-proposal.ts';
import { readOperations } from '../records/stored-values.ts';

/** An open approval of a domain with `freeze: 'reserve'`, as the kernel judges with it. */
export interface OpenReservation extends Reservation {
  readonly id: Hash;
  readonly pending: PendingPayload;
}

/** Reads values of entries that the store may not have yet, as `Writer.readValues`. */
type ReadValues = <T>(read: () => Promise<T>) => Promise<T>;

/**
 * The operations that the open approvals of a trajectory would commit
 * (docs/decisions/009-freeze.md). The class reads no value while no approval is open.
 */
export class Reservations {
  readonly #sources: PendingSources;
  readonly #reading: ReadValues;
  /** A pending payload never changes, so its operations are read once. */
  #read: WeakMap<PendingPayload, OpenReservation> = new WeakMap();

  constructor(sources: PendingSources, reading: ReadValues) {
    this.#sources = sources;
    this.#reading = reading;
  }

  /**
   * The open approvals at that time, oldest first, except the given one. An expired approval
   * reserves nothing. `needs`: their values must be read first.
   */
  of({ open }: Chain, domain: Domain, at: Instant, but?: Hash): readonly OpenReservation[] | NeedsFacts {
    if (open.size === 0 || domain.freeze !== 'reserve' || Object.keys(domain.counselors).length === 0) return [];
    const reservations: OpenReservation[] = [];
    for (const [id, pending] of open) {
      if (id === but || isEffectPending(pending) || isExpired(pending, at)) continue;
      const known = this.#read.get(pending) ?? this.#readInline(id, pending);
      if (known === undefined) return needs(() => this.#readAll(open));
      reservations.push(known);
    }
    return reservations;
  }

  /** After an erasure, which may have erased values of open approvals. */
  forget(): void {
    this.#read = new WeakMap();
  }

  #readInline(id: Hash, pending: PendingPayload): OpenReservation | undefined {
    const { delta, approval } = pending.proposal;
    if (!isInline(delta.state) || !isInline(approval)) return undefined;
    return this.#keep(id, pending, [...delta.state, ...approval] as PatchOperation[]);
  }

  async #readAll(open: Chain['open']): Promise<void> {
    for (const [id, pending] of open) {
      if (isEffectPending(pending) || this.#read.has(pending)) continue;
      this.#keep(id, pending, await this.#reading(() => this.#operationsOf(pending)));
    }
  }

  /** An approval with an erased value cannot be committed, so it reserves nothing. */
  async #operationsOf(pending: PendingPayload): Promise<PatchOperation[]> {
    const { delta, approval } = pending.proposal;
    const { replayer } = this.#sources;
    try {
      return [
        ...(await readOperations(pending, delta.state, replayer)),
        ...(await readOperations(pending, approval, replayer)),
      ];
    } catch (error) {
      if (isAssizeError(error, 'erased')) return [];
      throw error;
    }
  }

  #keep(id: Hash, pending: PendingPayload, operations: readonly PatchOperation[]): OpenReservation {
    const kept = { id, pending, operations: copyJson(operations, WORLD_LIMITS) as unknown as PatchOperation[] };
    this.#read.set(pending, kept);
    return kept;
  }
}

function isInline(stored: Stored<readonly Patch[]>): stored is readonly Patch[] {
  return !isBlobRef(stored) && stored.every((patch) => !('value' in patch) || !isBlobRef(patch.value));
}
