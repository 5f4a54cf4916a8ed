import type { Instant } from '#canon';
import type { EntryKind, Hash } from '#ledger';

/** The way in which an entry derives from an earlier one. */
export type Derivation =
  /** The entry states a fact that also rests on a statement of the other one. */
  | 'belief'
  /** The proposal observed a recall of facts that rest on a statement of the other one. */
  | 'recall'
  /** The entry changed a path of the state that the other one had written. */
  | 'state'
  /** The entry decides the pending proposal of the other one. */
  | 'decision'
  /** The entry records the outcome of effects of the other one. */
  | 'outcome'
  /** A step of a delegation that the other one began or answered, or an answer after it. */
  | 'delegation'
  /** Rules, a pinned definition or a standing approval of the other one judged the call. */
  | 'permission'
  /** The branch starts with a state that the other one is part of. */
  | 'branch';

/** A name in an entry with which an incident may begin. */
export interface Mark {
  readonly kind:
    | 'writ'
    /** The holder of a used writ, or of one above it. */
    | 'principal'
    | 'approver'
    | 'tool'
    /** The hash of a pinned definition of a tool. */
    | 'definition'
    /** The source that a statement of a fact names. */
    | 'source'
    | 'action'
    /** `name@version`. */
    | 'domain';
  readonly value: string;
  /** For a source: the numbers of the statements that name it. */
  readonly statements?: readonly number[];
}

/** A statement of an entry, as the provenance of facts names it. */
export interface Write {
  readonly entry: Hash;
  readonly n: number;
}

/** A row of a fact that an entry writes, and the statements in its provenance. */
export interface WrittenRow {
  readonly row: string;
  readonly isAudit: boolean;
  readonly writes: readonly Write[];
}

/** A row of a fact, as a recall names it, and the memory that was recalled. */
export interface ObservedRow {
  readonly row: string;
  /** Absent: the shared memory. */
  readonly branch?: string;
}

/** The parts of one entry from which derivations follow. Paths are JSON pointers. */
export interface EntryLinks {
  readonly id: Hash;
  readonly trajectoryId: string;
  readonly seq: number;
  readonly kind: EntryKind;
  readonly at: Instant;
  readonly marks: readonly Mark[];
  readonly restsOn: readonly {
    readonly entry: Hash;
    readonly how: Exclude<Derivation, 'recall' | 'state' | 'permission'>;
  }[];
  readonly observed: readonly ObservedRow[];
  readonly rows: readonly WrittenRow[];
  /** The paths that the entry writes; for a pending proposal, those that it would write. */
  readonly paths: readonly string[];
  /** The paths that the entry names as its rules, pins and standing approvals. */
  readonly judgedBy: readonly string[];
  /** The entry answers the task of its trajectory, so it derives from all entries before it. */
  readonly isAnswer: boolean;
  /** For a branch: the trajectory and the position from which it inherits its state. */
  readonly inherits?: { readonly trajectoryId: string; readonly seq: number };
  /** Values of the entry that are erased, so derivations through them are unknown. */
  readonly erased: number;
}
