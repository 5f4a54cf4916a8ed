import type { Json } from 'assize/internal/base';
import { canonicalize, copyJson, WORLD_LIMITS } from 'assize/internal/canon';
import { detailOf, type Finding } from 'assize/internal/kernel';
import type { DomainRef, Hash } from 'assize/internal/ledger';

/** The part of an entry that the current domain makes differently. */
export type DifferenceKind =
  /** The outcome: committed, rejected or escalated, with reason and invariant. */
  | 'ruling'
  /** The state changes, as RFC 6902 operations. */
  | 'delta'
  | 'cost'
  /** The changes of the approval mark. */
  | 'approval'
  /** The channel for the resolution. */
  | 'channel'
  | 'deputies'
  /** A time after the one that the rules name. */
  | 'expires'
  /** The number of required approvals. */
  | 'approvals'
  | 'freezes'
  /** The digest of the submitted proposal. */
  | 'digest'
  /** The violated invariants of an initial state or a counselor's commit. */
  | 'vector'
  /** The basis of a counselor's commit: the counselor, and whether an invariant was overridden. */
  | 'counselor'
  /** The difference between a proposal and its amendment. */
  | 'amendment'
  /** The answer of the given policy. */
  | 'policy'
  /** The initial state does not match the domain's schema. */
  | 'state'
  /** An observation by oracle key cannot be read: the entry was not run again. */
  | 'observation';

/** The position of an entry. */
export interface EntryPlace {
  readonly trajectory_id: string;
  readonly seq: number;
  readonly entry_id: Hash;
}

/** One difference from the record. */
export interface Difference extends EntryPlace {
  readonly what: DifferenceKind;
  readonly recorded: Json;
  readonly now: Json;
}

/** An invariant that fails after an entry, although it passed before and was not overridden. */
export interface BrokenInvariant extends EntryPlace {
  readonly invariant_id: string;
  readonly detail: string;
}

/** The reason why something was not run again. */
export type TakenAsRecorded =
  | 'writ'
  | 'policy'
  | 'budget'
  | 'counselor_rejected'
  | 'expired'
  /** A counselor's replacement. */
  | 'counselors_own_state'
  | 'delegation'
  /** The fact changes of a commit. */
  | 'beliefs'
  /**
   * Erased values, erasures, and entries that cannot be run again or come out otherwise without the
   * erased values.
   */
  | 'erased'
  /** Migrations, whose functions are not in the domain, and the proposals that upgrades closed. */
  | 'upgrade'
  /** Refusals for effects and conflicts. No domain decides these. */
  | 'other';

/** The result of a deep replay. */
export interface DeepReplayReport {
  readonly trajectory_id: string;
  /** Whether everything that was run again came out as recorded: no differences. */
  readonly same: boolean;
  /**
   * Whether no commit without an override broke an invariant, checked one by one and, at the end,
   * on the whole state.
   */
  readonly preserved: boolean;
  /** The domain that ran, and the recorded one. */
  readonly domain: DomainRef;
  readonly recorded_domain: DomainRef;
  /** Number of replayed entries, including those of sources. */
  readonly entries: number;
  /**
   * Number of entries with a ruling that was run again, in whole or up to a part taken as recorded.
   */
  readonly compared: number;
  /** Number of parts taken as recorded, by reason. */
  readonly taken_as_recorded: { readonly [Why in TakenAsRecorded]?: number };
  /** Rulings that are the same in other words. */
  readonly reworded: number;
  /** Number of differences; the first of them are listed. */
  readonly difference_count: number;
  readonly differences: readonly Difference[];
  readonly broken_count: number;
  readonly broken: readonly BrokenInvariant[];
}

/** Collects the findings of a deep replay. */
export class Findings {
  compared: number = 0;
  reworded: number = 0;
  readonly takenAsRecorded: { [Why in TakenAsRecorded]?: number } = {};
  readonly #limit: number;
  readonly #differences: Difference[] = [];
  readonly #broken: BrokenInvariant[] = [];
  #differenceCount: number = 0;
  #brokenCount: number = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get differenceCount(): number {
    return this.#differenceCount;
  }

  /**
   * Notes a difference. The values are copied, because they belong to a state that changes later.
   */
  differs(place: EntryPlace, what: DifferenceKind, recorded: unknown, now: unknown): void {
    if (this.#differenceCount++ >= this.#limit) return;
    this.#differences.push({
      ...place,
      what,
      recorded: copyJson(recorded, WORLD_LIMITS),
      now: copyJson(now, WORLD_LIMITS),
    });
  }

  /** Notes a difference, if there is one. */
  compare(place: EntryPlace, what: DifferenceKind, recorded: unknown, now: unknown): void {
    if (!isSame(recorded, now)) this.differs(place, what, recorded, now);
  }

  breaks(place: EntryPlace, findings: readonly Finding[]): void {
    for (const finding of findings) {
      if (this.#brokenCount++ >= this.#limit) continue;
      this.#broken.push({ ...place, invariant_id: finding.rule.id, detail: detailOf(finding) });
    }
  }

  takeAsRecorded(why: TakenAsRecorded): void {
    this.takenAsRecorded[why] = (this.takenAsRecorded[why] ?? 0) + 1;
  }

  /**
   * Replaces the differences after the first `count` by one note that they are taken as recorded,
   * for erased values.
   */
  takeDifferencesAsRecorded(count: number): void {
    this.#differenceCount = count;
    this.#differences.length = Math.min(this.#differences.length, count);
    this.takeAsRecorded('erased');
  }

  report(
    trajectoryId: string,
    domain: DomainRef,
    recorded: DomainRef,
    entries: number,
  ): DeepReplayReport {
    return {
      trajectory_id: trajectoryId,
      same: this.#differenceCount === 0,
      preserved: this.#brokenCount === 0,
      domain: refOf(domain),
      recorded_domain: refOf(recorded),
      entries,
      compared: this.compared,
      taken_as_recorded: this.takenAsRecorded,
      reworded: this.reworded,
      difference_count: this.#differenceCount,
      differences: this.#differences,
      broken_count: this.#brokenCount,
      broken: this.#broken,
    };
  }
}

/** Whether two values have one canonical text. */
export function isSame(a: unknown, b: unknown): boolean {
  return canonicalize(a, WORLD_LIMITS) === canonicalize(b, WORLD_LIMITS);
}

export function refOf({ name, version, hash }: DomainRef): DomainRef {
  return { name, version, hash };
}
