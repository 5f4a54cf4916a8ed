import type { Json } from '#base';
import { canonicalize, copyJson, WORLD_LIMITS } from '#canon';
import { detailOf, type Finding } from '#kernel';
import type { DomainRef, Hash } from '#ledger';

/** What of an entry the domain makes otherwise now. */
export type DifferenceKind =
  /** What became of it: committed, rejected or escalated, with reason and invariant. */
  | 'ruling'
  /** The state changes, as RFC 6902 operations. */
  | 'delta'
  | 'cost'
  /** What the approval mark adds. */
  | 'approval'
  /** Who is to resolve it. */
  | 'channel'
  /** How many people must approve it. */
  | 'approvals'
  | 'freezes'
  /** The hash of what was put up for approval. */
  | 'digest'
  /** The invariants that do not pass, at a beginning or after a counselor's commit. */
  | 'vector'
  /** What a counselor's commit rests on: who they are, and whether they overrode an invariant. */
  | 'counselor'
  /** What the policy that was given answers. */
  | 'policy'
  /** The state that the trajectory begins with does not fit the domain's schema. */
  | 'state'
  /** An observation by oracle key can't be read back: the entry was not run again. */
  | 'observation';

/** Where an entry stands. */
export interface EntryPlace {
  readonly trajectory_id: string;
  readonly seq: number;
  readonly entry_id: Hash;
}

/** One thing that is not as recorded. */
export interface Difference extends EntryPlace {
  readonly what: DifferenceKind;
  readonly recorded: Json;
  readonly now: Json;
}

/** An invariant that does not pass after an entry, although it passed before and nobody overrode it. */
export interface Broken extends EntryPlace {
  readonly invariant_id: string;
  readonly detail: string;
}

/** Why something was not run again. */
export type TakenAsRecorded =
  | 'writ'
  | 'policy'
  | 'budget'
  | 'counselor_rejected'
  | 'expired'
  /** What a person committed in the proposal's place. */
  | 'counselors_own_state'
  | 'delegation'
  /** What a commit changed of beliefs. */
  | 'beliefs'
  /** What was erased, an erasure itself, and what can't be run again, or comes out otherwise, without it. */
  | 'erased'
  /** Refusals for effects and conflicts, which no domain decides. */
  | 'other';

/** What a deep replay found. */
export interface DeepReplayReport {
  readonly trajectory_id: string;
  /** All that was run again came out as recorded: there is no difference. */
  readonly same: boolean;
  /** No commit without an override broke an invariant, judged one by one and, at the end, on the whole state. */
  readonly preserved: boolean;
  /** The domain that ran, and the one that is recorded. */
  readonly domain: DomainRef;
  readonly recorded_domain: DomainRef;
  /** Entries that were gone through, those of sources included. */
  readonly entries: number;
  /** Entries whose ruling was run again, in whole or up to what is taken as recorded. */
  readonly compared: number;
  /** How often something was taken as recorded, by why. */
  readonly taken_as_recorded: { readonly [Why in TakenAsRecorded]?: number };
  /** Rulings that are the same in other words. */
  readonly reworded: number;
  /** How many differences there are; the first of them are listed. */
  readonly difference_count: number;
  readonly differences: readonly Difference[];
  readonly broken_count: number;
  readonly broken: readonly Broken[];
}

/** Collects what a deep replay finds. */
export class Findings {
  compared: number = 0;
  reworded: number = 0;
  readonly taken: { [Why in TakenAsRecorded]?: number } = {};
  readonly #limit: number;
  readonly #differences: Difference[] = [];
  readonly #broken: Broken[] = [];
  #differenceCount: number = 0;
  #brokenCount: number = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get differenceCount(): number {
    return this.#differenceCount;
  }

  /** Notes a difference. The values are copied: they are, or become, part of a state, and will change. */
  differs(place: EntryPlace, what: DifferenceKind, recorded: unknown, now: unknown): void {
    if (this.#differenceCount++ >= this.#limit) return;
    this.#differences.push({
      ...place,
      what,
      recorded: copyJson(recorded, WORLD_LIMITS),
      now: copyJson(now, WORLD_LIMITS),
    });
  }

  /** Notes a difference where there is one. */
  compare(place: EntryPlace, what: DifferenceKind, recorded: unknown, now: unknown): void {
    if (!isSame(recorded, now)) this.differs(place, what, recorded, now);
  }

  breaks(place: EntryPlace, findings: readonly Finding[]): void {
    for (const finding of findings) {
      if (this.#brokenCount++ >= this.#limit) continue;
      this.#broken.push({ ...place, invariant_id: finding.rule.id, detail: detailOf(finding) });
    }
  }

  takes(why: TakenAsRecorded): void {
    this.taken[why] = (this.taken[why] ?? 0) + 1;
  }

  /** Takes as recorded, for what was erased, what the differences are about that came after so many. */
  takesInstead(count: number): void {
    this.#differenceCount = count;
    this.#differences.length = Math.min(this.#differences.length, count);
    this.takes('erased');
  }

  report(trajectoryId: string, domain: DomainRef, recorded: DomainRef, entries: number): DeepReplayReport {
    return {
      trajectory_id: trajectoryId,
      same: this.#differenceCount === 0,
      preserved: this.#brokenCount === 0,
      domain: refOf(domain),
      recorded_domain: refOf(recorded),
      entries,
      compared: this.compared,
      taken_as_recorded: this.taken,
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
