import type {
  EffectKeyRow,
  EffectPage,
  EffectWrite,
  Hash,
  Lease,
  LoggedTransaction,
  OpenEffectPage,
} from 'assize/internal/ledger';
import {
  type EffectChange,
  type EffectState,
  type EffectVerdict,
  type EffectView,
  judgeEffects,
} from 'assize/internal/stores/effects.ts';

interface Transaction {
  readonly trajectory_id: string;
  readonly body: string;
  readonly records: string[];
  isOpen: boolean;
}

/** The effect log of a store in memory. */
export class MemoryEffects implements EffectView {
  readonly #transactions = new Map<number, Transaction>();
  readonly #keys = new Map<Hash, EffectKeyRow>();
  #lastEpoch = 0;
  #fence = 0;
  /** The fences that accept writes: the fence of a lease, or those of all group members. */
  readonly #fences = new Set<number>();

  /**
   * Starts a lease, or the first group membership after a lease. Writes under earlier fences are
   * refused from now on.
   */
  raise(): Pick<Lease, 'fence' | 'lastEpoch'> {
    this.#fences.clear();
    return this.join();
  }

  /** Writes nothing. @throws {StoreError} for misuse */
  judge(write: EffectWrite): EffectVerdict {
    return judgeEffects(write, this);
  }

  /** Writes the change that was checked last. Nothing may have been written since that check. */
  write({ begun, records, keys, ended }: EffectChange): void {
    for (const { epoch, trajectory_id, body } of begun) {
      this.#transactions.set(epoch, { trajectory_id, body, records: [], isOpen: true });
      this.#lastEpoch = Math.max(epoch, this.#lastEpoch);
    }
    for (const { epoch, record } of records) this.#transactions.get(epoch)!.records.push(record);
    for (const { key, epoch, n } of keys) this.#keys.set(key, Object.freeze({ key, epoch, n }));
    for (const epoch of ended) this.#transactions.get(epoch)!.isOpen = false;
  }

  /** Starts a membership in shared mode. */
  join(): Pick<Lease, 'fence' | 'lastEpoch'> {
    this.#fence += 1;
    this.#fences.add(this.#fence);
    return { fence: this.#fence, lastEpoch: this.#lastEpoch };
  }

  /** Ends a membership. Writes under its fence are refused from now on. */
  part(fence: number): void {
    this.#fences.delete(fence);
  }

  isCurrent(fence: number): boolean {
    return this.#fences.has(fence);
  }

  transaction(epoch: number): EffectState | undefined {
    const found = this.#transactions.get(epoch);
    return found && { ...found, places: found.records.length };
  }

  get wereHeld(): boolean {
    return this.#fence > 0;
  }

  record(epoch: number, place: number): string | undefined {
    return this.#transactions.get(epoch)?.records[place];
  }

  key(key: Hash): EffectKeyRow | undefined {
    return this.#keys.get(key);
  }

  open({ after = 0, limit, trajectoryId }: OpenEffectPage): LoggedTransaction[] {
    const found = [...this.#transactions].filter(
      ([epoch, { isOpen, trajectory_id }]) =>
        isOpen && epoch > after && (trajectoryId ?? trajectory_id) === trajectory_id,
    );
    const epochs = found.map(([epoch]) => epoch).sort((a, b) => a - b);
    return epochs.slice(0, limit).map((epoch) => this.of(epoch)!);
  }

  list({
    before = Number.POSITIVE_INFINITY,
    limit,
    trajectoryId,
  }: EffectPage): LoggedTransaction[] {
    const found = [...this.#transactions].filter(
      ([epoch, { trajectory_id }]) =>
        epoch < before && (trajectoryId === undefined || trajectory_id === trajectoryId),
    );
    const epochs = found.map(([epoch]) => epoch).sort((a, b) => b - a);
    return epochs.slice(0, limit).map((epoch) => this.of(epoch)!);
  }

  of(epoch: number): LoggedTransaction | undefined {
    const found = this.#transactions.get(epoch);
    if (found === undefined) return undefined;
    const { trajectory_id, body, records } = found;
    return { epoch, trajectory_id, body, records: [...records] };
  }
}
