import type { EffectKeyRow, EffectRecordRow, EffectTransactionRow, EffectWrite, Hash } from '#ledger';
import {
  type EffectChange,
  type EffectState,
  type EffectVerdict,
  type EffectView,
  judgeEffects,
} from '../../effects.ts';
import { bytea } from '../connection/row.ts';

/** The `effects` field of what `append_effects` refused: the stored state that a group assumed wrongly. */
export interface EffectNews {
  /** Under which something may be written. */
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

/** A transaction with its texts, or that there is none. */
type Known = (EffectState & { readonly records: readonly string[] }) | null;

/** What the server has said of effects while one group is written. */
export class KnownEffects {
  fences: ReadonlySet<number> | undefined;
  readonly transactions = new Map<number, Known>();
  /** Null for one that stands for nothing. */
  readonly keys = new Map<Hash, EffectKeyRow | null>();

  /** `asked`: keys that are told if they are there. */
  learn({ fences, keys, transactions }: EffectNews, asked: readonly Hash[]): void {
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

/** A transaction as it will be when the group is written. */
interface Moved {
  trajectory_id: string;
  body: string;
  isOpen: boolean;
  /** Undefined where nothing had to be known of it. */
  places: number | undefined;
  /** By place, as far as they are known. */
  readonly records: Map<number, string>;
  /** What it was before is taken for granted, and the server has to see to it. */
  readonly isGuessed: boolean;
}

/**
 * The effects of a group. Of a transaction that the server has said nothing of yet, a write is taken at its word: that it is
 * not there where the write begins it, and else that it is open and goes on at the first place that the write adds to it.
 * The server checks that, as it does with heads.
 */
export class EffectPlan implements EffectView {
  readonly #known: KnownEffects;
  readonly #moved = new Map<number, Moved>();
  readonly #keys = new Map<Hash, EffectKeyRow>();
  readonly #begun: EffectTransactionRow[] = [];
  readonly #records: EffectRecordRow[] = [];
  readonly #ended: number[] = [];
  /** Records that a transaction must have; null where it does not matter. */
  readonly #assumed = new Map<number, number | null>();
  readonly #asked = new Set<number>();
  readonly #askedKeys = new Set<Hash>();
  readonly #fences = new Set<number>();
  /** What is being judged. */
  #write: EffectWrite | undefined;

  constructor(known: KnownEffects) {
    this.#known = known;
  }

  /** Nothing of effects is to be written or asked. */
  get isEmpty(): boolean {
    return this.#fences.size === 0 && !this.asks;
  }

  /** The server has to be asked before all can be judged. */
  get asks(): boolean {
    return this.#asked.size > 0;
  }

  /**
   * What becomes of a write after those that were accepted; undefined where the server has to be asked first.
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

  /** Keys of which the server says where they stand, when it refuses. */
  get namedKeys(): readonly Hash[] {
    return [...this.#keys.keys(), ...this.#askedKeys];
  }

  /** To be called with what was judged last. */
  accept(write: EffectWrite, { begun, records, keys, ended }: EffectChange): void {
    this.#fences.add(write.fence);
    const isNew = new Set(begun.map(({ epoch }) => epoch));
    for (const { epoch, trajectory_id, body } of begun) {
      this.#moved.set(epoch, { trajectory_id, body, isOpen: true, places: 0, records: new Map(), isGuessed: false });
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

  /** Parameters of `append_effects`, after those of `append_erasing`. */
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
    // One that has ended can't be open again, so there is nothing to see to.
    if (!moved.isGuessed && !this.#moved.has(epoch) && moved.isOpen) this.#assumed.set(epoch, moved.places!);
    this.#moved.set(epoch, moved);
  }

  /** Nothing of what it is judged by is taken for granted. */
  #isKnown(write: EffectWrite): boolean {
    const isKnownKey = ({ key }: EffectKeyRow): boolean => this.#keys.has(key) || this.#known.keys.has(key);
    const isGuess = (epoch: number): boolean =>
      this.#moved.get(epoch)?.isGuessed ?? !this.#known.transactions.has(epoch);
    return this.#known.fences !== undefined && !epochsOf(write).some(isGuess) && (write.keys ?? []).every(isKnownKey);
  }

  /** Before the group, as the server has said or as the write has it. */
  #before(epoch: number): Moved | undefined {
    const known = this.#known.transactions.get(epoch);
    if (known === null) return undefined;
    if (known !== undefined) return { ...known, records: new Map(known.records.entries()), isGuessed: false };
    if (this.#write!.begun?.some((row) => row.epoch === epoch)) return undefined;
    return { trajectory_id: '', body: '', isOpen: true, places: undefined, records: new Map(), isGuessed: true };
  }
}

function epochsOf({ begun = [], records = [], keys = [], ended = [] }: EffectWrite): number[] {
  return [...begun, ...records, ...keys].map(({ epoch }) => epoch).concat(ended);
}

/** Where the write goes on with a transaction. */
function firstPlace({ records = [] }: EffectWrite, epoch: number): number | undefined {
  return records.find((row) => row.epoch === epoch)?.place;
}
