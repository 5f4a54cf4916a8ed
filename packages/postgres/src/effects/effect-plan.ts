import type {
  EffectKeyRow,
  EffectRecordRow,
  EffectTransactionRow,
  EffectWrite,
  Hash,
} from 'assize/internal/ledger';
import {
  type EffectChange,
  type EffectState,
  type EffectVerdict,
  type EffectView,
  judgeEffects,
} from 'assize/internal/stores/effects.ts';
import { bytea } from '../connection/row.ts';

/**
 * The `effects` field of a refusal by `append_effects`: the stored state that a group assumed
 * wrongly.
 */
export interface EffectReport {
  /** The fences that accept writes. */
  readonly fences: readonly number[] | null;
  readonly keys: readonly (readonly [key: Hash, epoch: number, n: number])[] | null;
  readonly transactions:
    | readonly (readonly [
        epoch: number,
        trajectory: string | null,
        body: string | null,
        isOpen: boolean,
        records: readonly string[] | null,
      ])[]
    | null;
}

/** A transaction with its texts, or null if it does not exist. */
type KnownTransactionTexts = (EffectState & { readonly records: readonly string[] }) | null;

/** The effects that the server has reported while one group is written. */
export class KnownEffects {
  fences: ReadonlySet<number> | undefined;
  readonly transactions = new Map<number, KnownTransactionTexts>();
  /** Null for a key that no record uses. */
  readonly keys = new Map<Hash, EffectKeyRow | null>();

  /** `asked`: the keys that the server reports if they exist. */
  set({ fences, keys, transactions }: EffectReport, asked: readonly Hash[]): void {
    this.fences = new Set(fences);
    for (const key of asked) this.keys.set(key, null);
    for (const [key, epoch, n] of keys ?? []) this.keys.set(key, { key, epoch, n });
    for (const [epoch, trajectory_id, body, isOpen, records] of transactions ?? []) {
      const texts = records ?? [];
      const known =
        trajectory_id === null || body === null
          ? null
          : { trajectory_id, body, isOpen, places: texts.length, records: texts };
      this.transactions.set(epoch, known);
    }
  }
}

/** A transaction in its state after the group is written. */
interface PlannedTransaction {
  trajectory_id: string;
  body: string;
  isOpen: boolean;
  /** Undefined if its length was not needed. */
  places: number | undefined;
  /** The known records by index. */
  readonly records: Map<number, string>;
  /** Whether its prior state is assumed, so the server must check it. */
  readonly isGuessed: boolean;
}

/**
 * The effects of a group.
 *
 * For a transaction that the server has not reported yet, the plan assumes the state that the write
 * implies. A transaction that the write begins does not exist. Any other transaction is open, and
 * its next record has the first index of the write. The server checks the assumption, as it does
 * with heads.
 */
export class EffectPlan implements EffectView {
  readonly #known: KnownEffects;
  readonly #moved = new Map<number, PlannedTransaction>();
  readonly #keys = new Map<Hash, EffectKeyRow>();
  readonly #begun: EffectTransactionRow[] = [];
  readonly #records: EffectRecordRow[] = [];
  readonly #ended: number[] = [];
  /** The number of records that a transaction must have; null if any number is valid. */
  readonly #assumed = new Map<number, number | null>();
  readonly #asked = new Set<number>();
  readonly #askedKeys = new Set<Hash>();
  readonly #fences = new Set<number>();
  /** The write that is being checked. */
  #write: EffectWrite | undefined;

  constructor(known: KnownEffects) {
    this.#known = known;
  }

  /** Whether the plan neither writes nor asks for effects. */
  get isEmpty(): boolean {
    return this.#fences.size === 0 && !this.asks;
  }

  /** Whether the server must be asked before every write can be checked. */
  get asks(): boolean {
    return this.#asked.size > 0;
  }

  /**
   * The result of a write after the accepted ones. Undefined if the server must be asked first.
   *
   * @throws {StoreError} for misuse
   */
  judge(write: EffectWrite): EffectVerdict | undefined {
    this.#write = write;
    try {
      return judgeEffects(write, this);
    } catch (error) {
      if (this.#isKnown(write)) throw error;
      for (const epoch of epochsOf(write)) this.#asked.add(epoch);
      for (const { key } of write.keys ?? []) this.#askedKeys.add(key);
      return undefined;
    }
  }

  /** The keys with places that the server reports with a refusal. */
  get namedKeys(): readonly Hash[] {
    return [...this.#keys.keys(), ...this.#askedKeys];
  }

  /** Call this with the write that was checked last. */
  accept(write: EffectWrite, { begun, records, keys, ended }: EffectChange): void {
    this.#fences.add(write.fence);
    const isNew = new Set(begun.map(({ epoch }) => epoch));
    for (const { epoch, trajectory_id, body } of begun) {
      this.#moved.set(epoch, {
        trajectory_id,
        body,
        isOpen: true,
        places: 0,
        records: new Map(),
        isGuessed: false,
      });
    }
    for (const epoch of new Set(epochsOf(write))) if (!isNew.has(epoch)) this.#assume(epoch, write);
    for (const { epoch, place, record } of records) {
      const moved = this.#moved.get(epoch)!;
      moved.records.set(place, record);
      moved.places = place + 1;
    }
    for (const row of keys) this.#keys.set(row.key, row);
    for (const epoch of ended) this.#moved.get(epoch)!.isOpen = false;
    this.#begun.push(...begun);
    this.#records.push(...records);
    this.#ended.push(...ended);
  }

  isCurrent(fence: number): boolean {
    return this.#known.fences === undefined || this.#known.fences.has(fence);
  }

  transaction(epoch: number): EffectState | undefined {
    const moved = this.#moved.get(epoch) ?? this.#before(epoch);
    return moved && { ...moved, places: moved.places ?? firstPlace(this.#write!, epoch) ?? 0 };
  }

  record(epoch: number, place: number): string | undefined {
    return (this.#moved.get(epoch) ?? this.#before(epoch))?.records.get(place);
  }

  key(key: Hash): EffectKeyRow | undefined {
    return this.#keys.get(key) ?? this.#known.keys.get(key) ?? undefined;
  }

  /** The parameters of `append_effects`, after those of `append_erasing`. */
  values(): unknown[] {
    const keys = [...this.#keys.values()];
    return [
      [...this.#fences],
      this.#begun.map(({ epoch }) => epoch),
      this.#begun.map(({ trajectory_id }) => trajectory_id),
      this.#begun.map(({ body }) => body),
      [...this.#assumed.keys()],
      [...this.#assumed.values()],
      this.#records.map(({ epoch }) => epoch),
      this.#records.map(({ place }) => place),
      this.#records.map(({ record }) => record),
      keys.map(({ key }) => bytea(key)),
      keys.map(({ epoch }) => epoch),
      keys.map(({ n }) => n),
      this.#ended,
      [...this.#asked],
      [...this.#askedKeys].map(bytea),
    ];
  }

  #assume(epoch: number, write: EffectWrite): void {
    const moved = this.#moved.get(epoch) ?? this.#before(epoch)!;
    if (moved.isGuessed && moved.places === undefined) {
      moved.places = firstPlace(write, epoch);
      this.#assumed.set(epoch, moved.places ?? null);
    }
    // An ended transaction never opens again, so the server need not check it.
    if (!moved.isGuessed && !this.#moved.has(epoch) && moved.isOpen)
      this.#assumed.set(epoch, moved.places!);
    this.#moved.set(epoch, moved);
  }

  /** Whether the check of the write needs no assumption. */
  #isKnown(write: EffectWrite): boolean {
    const isKnownKey = ({ key }: EffectKeyRow): boolean =>
      this.#keys.has(key) || this.#known.keys.has(key);
    const isGuess = (epoch: number): boolean =>
      this.#moved.get(epoch)?.isGuessed ?? !this.#known.transactions.has(epoch);
    return (
      this.#known.fences !== undefined &&
      !epochsOf(write).some(isGuess) &&
      (write.keys ?? []).every(isKnownKey)
    );
  }

  /** The state before the group, as the server has reported it or as the write implies it. */
  #before(epoch: number): PlannedTransaction | undefined {
    const known = this.#known.transactions.get(epoch);
    if (known === null) return undefined;
    if (known !== undefined)
      return { ...known, records: new Map(known.records.entries()), isGuessed: false };
    if (this.#write!.begun?.some((row) => row.epoch === epoch)) return undefined;
    return {
      trajectory_id: '',
      body: '',
      isOpen: true,
      places: undefined,
      records: new Map(),
      isGuessed: true,
    };
  }
}

function epochsOf({ begun = [], records = [], keys = [], ended = [] }: EffectWrite): number[] {
  return [...begun, ...records, ...keys].map(({ epoch }) => epoch).concat(ended);
}

/** The index at which the write continues a transaction. */
function firstPlace({ records = [] }: EffectWrite, epoch: number): number | undefined {
  return records.find((row) => row.epoch === epoch)?.place;
}
