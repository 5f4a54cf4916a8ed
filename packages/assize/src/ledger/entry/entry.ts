import type { Json } from '#base';
import type { Instant } from '#canon';
import type { BeliefChange } from './fact-rows.ts';
import type { Hash, Stored } from './hash.ts';
import type { Patch } from './patch.ts';

export type { Instant } from '#canon';
export type EntryKind =
  | 'root'
  | 'commit'
  | 'rejection'
  | 'pending_approval'
  | 'delegation'
  | 'branch'
  | 'key_change';

/** The reason why an intent was rejected (docs/decisions/003-what-writes-an-entry.md). */
export type RejectionReason =
  | 'invalid_authority'
  | 'policy_denied'
  | 'budget_exhausted'
  | 'precondition_failed'
  | 'unknown_tool'
  | 'type_mismatch'
  | 'unjudged_call'
  | 'invariant_rejected'
  | 'counselor_rejected'
  | 'effect_failed'
  | 'conflict'
  | 'expired'
  | 'upgraded';

/** Fields of every payload. With them an id commits to its position and to all earlier entries. */
interface Common<Kind extends EntryKind> {
  readonly kind: Kind;
  readonly trajectory_id: string;
  readonly seq: number;
  /** The id of the previous entry; null only at seq 0. */
  readonly parent: Hash | null;
  readonly at: Instant;
  readonly signature?: EntrySignature;
}

/** Ed25519 over `assize/entry/v1\n` and the canonical payload without this field. */
export interface EntrySignature {
  /** The public key, 64 hex digits. */
  readonly key: string;
  /** 128 hex digits. */
  readonly value: string;
}

export interface DomainRef {
  readonly name: string;
  readonly version: string;
  readonly hash: Hash;
}

/** A role as bound in an intent: the role's name and the values of its parameters. */
export interface RoleRef {
  readonly name: string;
  readonly params: { readonly [param: string]: string };
}

export interface ActionRecord {
  readonly name: string;
  readonly role: RoleRef;
  readonly args: Stored;
}

/** A value from outside that a proposal used, recorded by value or by oracle key. */
export interface Observation {
  readonly name: string;
  /** With a key: the hash of the answer in the oracle log, by salted reference. */
  readonly value?: Stored;
  readonly oracle_key?: Hash;
  /** The hash of that answer, in place: for a turn of a run, and in older entries. */
  readonly hash?: Hash;
}

/**
 * All changes of one commit: state, effects and facts. A fold needs only the commit and calls no
 * domain code.
 */
export interface Delta {
  readonly state: Stored<readonly Patch[]>;
  /** The effects of the commit, in call order: the idempotency key, and the call by salted hash. */
  readonly effects: readonly { readonly id: Hash; readonly effect: Stored }[];
  /** The changed facts, one change for each partition. */
  readonly beliefs: readonly BeliefChange[];
}

/** A policy's recorded answer. Replay reads the record and never calls the policy again. */
export interface PolicyRecord {
  readonly digest: Hash;
  readonly decision: 'allow' | 'deny' | 'needs_approval';
  readonly rule?: string;
}

/** Amounts by unit, whole numbers. */
export type Amounts = { readonly [unit: string]: number };

export interface CounselorRecord {
  readonly principal: string;
  /** The domain's counselor kind that authorised the principal, such as `md`. */
  readonly as: string;
  /** How the principal was identified, such as `cli`. */
  readonly method: string;
  /** The other principals that made the token of the decision. They count as the same person. */
  readonly token_by?: readonly string[];
  /** The time of an approval that is not the last: that of its entry. */
  readonly at?: Instant;
  readonly override?: true;
  /**
   * For an approval with override: the violations that the approver overrode. They failed at that
   * time, or an earlier approver of the proposal overrode them.
   */
  readonly overridden?: readonly VectorItem[];
  readonly reason?: string;
}

/** The amendment of a pending proposal by the counselor that commits it. */
export interface AmendmentRecord {
  /** The action as it was proposed. */
  readonly action: ActionRecord;
  /**
   * The RFC 6902 operations from that action to the committed one, by salted reference if the
   * arguments are sensitive. The action is `{args, role}` with its values.
   */
  readonly difference: Stored;
}

/** The result of one invariant on a state, in declaration order. */
export interface VectorItem {
  readonly invariant_id: string;
  readonly result: 'pass' | 'reject' | 'escalate';
  readonly detail?: string;
}

/** The intent of a caller, as a rejection records it. */
export interface IntentRecord {
  readonly action: string;
  readonly role: RoleRef;
  readonly args: Stored;
  readonly observations: readonly Observation[];
  /** The changing tool calls that the proposal would have made, by salted hash. */
  readonly calls?: Stored;
}

/** The exact proposal that is pending approval. */
export interface ProposalRecord {
  readonly proposal_id: Hash;
  readonly writ_id: Hash;
  readonly action: ActionRecord;
  readonly observations: readonly Observation[];
  readonly at: Instant;
  readonly delta: Delta;
  /**
   * The patches that the marks of all approvals add, with the placeholders `$counselor-1` and so on
   * for the approvers, and `$counselor` for the last one.
   */
  readonly approval: Stored<readonly Patch[]>;
  readonly budget_cost: Amounts;
  /** The choices to make if the proposal contradicts current facts, as a salted reference. */
  readonly questions?: Stored;
  /**
   * The time of the statements, if a judge was called first. A statement without its own time is
   * valid from this time.
   */
  readonly said_at?: Instant;
  /** The same hash as in the resulting commit or rejection. */
  readonly key_hash?: Hash;
}

export interface RootPayload extends Common<'root'> {
  readonly domain: DomainRef;
  readonly initial_state: Stored;
  readonly compiler_version: string;
  readonly policy_hash?: Hash;
  readonly writs: readonly Json[];
  /**
   * The delegation that created the trajectory. The first item of `writs` is then the delegated
   * writ.
   */
  readonly delegated_from?: DelegatedFrom;
  readonly detection_vector?: readonly VectorItem[];
  readonly note?: string;
  /** The sensitive parts of the initial state, added to the state first. */
  readonly sensitive?: readonly Patch[];
}

/** The delegating trajectory and its delegation entry. */
export interface DelegatedFrom {
  readonly trajectory_id: string;
  readonly entry_id: Hash;
}

export interface BranchPayload extends Common<'branch'> {
  readonly source_trajectory_id: string;
  /** A commit of the source, or its root or branch entry if the source has no commit yet. */
  readonly source_commit_id: Hash;
  readonly domain: DomainRef;
  readonly compiler_version: string;
  readonly policy_hash?: Hash;
  readonly writs: readonly Json[];
  readonly detection_vector?: readonly VectorItem[];
  readonly note: string;
}

export interface CommitPayload extends Common<'commit'> {
  readonly proposal_id: Hash;
  /**
   * The caller's idempotency key, hashed with principal and trajectory. The key belongs to one
   * proposal.
   */
  readonly key_hash?: Hash;
  readonly writ_id: Hash;
  readonly parent_commit: Hash;
  readonly action: ActionRecord;
  readonly delta: Delta;
  /** The epoch of the tool transaction that the entry commits. Absent for other commits. */
  readonly epoch?: number;
  readonly observations: readonly Observation[];
  readonly budget_cost: Amounts;
  readonly compiler_version: string;
  readonly policy?: PolicyRecord;
  readonly resolves?: Hash;
  readonly counselor?: CounselorRecord;
  /** The earlier approvers of a proposal that needs several approvals, in order. */
  readonly approved_by?: readonly CounselorRecord[];
  readonly detection_vector?: readonly VectorItem[];
  /** Present if the counselor has amended the proposal. `action` is then the amended action. */
  readonly amended?: AmendmentRecord;
}

export interface RejectionPayload extends Common<'rejection'> {
  readonly proposal_id?: Hash;
  readonly key_hash?: Hash;
  readonly writ_id?: Hash;
  readonly intent: IntentRecord;
  readonly reason: RejectionReason;
  readonly detail: string;
  readonly policy?: PolicyRecord;
  readonly invariant_id?: string;
  readonly resolves?: Hash;
  readonly counselor?: CounselorRecord;
}

export interface DeputyRecord {
  readonly of: string;
  readonly kind: string;
  readonly from: Instant;
}

export interface PendingPayload extends Common<'pending_approval'> {
  readonly proposal: ProposalRecord;
  /** Hash of the proposal to run: proposal, time, delta and approval mark. */
  readonly digest: Hash;
  readonly channel: string;
  /** The last two reasons belong to effects (see `settlement.ts`). */
  readonly reason:
    | 'invariant_escalated'
    | 'policy_needs_approval'
    | 'writ_requires_approval'
    | 'irreversible'
    | 'contradiction'
    | 'in_doubt'
    | 'unresolved';
  readonly detail: string;
  readonly policy?: PolicyRecord;
  readonly invariant_id?: string;
  /** `world` for the whole state, or the pointers of the frozen closure. */
  readonly freezes: 'world' | readonly string[];
  /** The head on which the kernel adjudicated the proposal. */
  readonly head: Hash;
  readonly expires?: Instant;
  /** The kinds that may decide in place of a kind of the channel, each from its time on. */
  readonly deputies?: readonly DeputyRecord[];
  /** The number of required approvals, if more than one: 2 to 8. */
  readonly approvals?: number;
  /**
   * The pending entry that this entry replaces with one more approval. `approved_by` is then
   * present (see `approvals.ts`).
   */
  readonly resolves?: Hash;
  /** The approvers so far, in order. */
  readonly approved_by?: readonly CounselorRecord[];
}

/**
 * One step of a delegation. `child_trajectory_id`, `task` and `writ` are the same in all three
 * steps:
 *
 * - the start, in the parent: has neither `concludes` nor the fields that depend on it. The child's
 *   root names the start as `delegated_from`.
 * - the answer, in the child, as its last entry: `concludes` names the start.
 * - the conclusion, in the parent: `concludes` names the start, and `child_head` pins the answer.
 *   The other fields equal those of the answer.
 */
export interface DelegationPayload extends Common<'delegation'> {
  readonly child_trajectory_id: string;
  readonly task: string;
  /**
   * The child's writ, attenuated from a writ of the parent. The parent reserves its budget from the
   * start on.
   */
  readonly writ: Json;
  /** In a start: the child's initial values, so any process can write the child's root. */
  readonly begins?: ChildBeginning;
  readonly concludes?: Hash;
  readonly child_head?: Hash;
  readonly final_answer?: Stored;
  /**
   * The amounts spent from the writ's budget in the child and its descendants. The rest is
   * refunded.
   */
  readonly budget_cost?: Amounts;
}

export interface ChildBeginning {
  readonly domain: DomainRef;
  readonly initial_state: Stored;
  /** Same as `sensitive` of a root. */
  readonly sensitive?: readonly Patch[];
}

/**
 * Another key signs every later entry of the trajectory. The entry is signed by the key before it,
 * or by the new key if no earlier entry is signed.
 */
export interface KeyChangePayload extends Common<'key_change'> {
  /** The public key, 64 hex digits. */
  readonly to: string;
  readonly reason: string;
}

export type Payload =
  | RootPayload
  | CommitPayload
  | RejectionPayload
  | PendingPayload
  | DelegationPayload
  | BranchPayload
  | KeyChangePayload;

/** An entry with its parsed payload. */
export interface Entry<P extends Payload = Payload> {
  readonly id: Hash;
  readonly trajectory_id: string;
  readonly parent: Hash | null;
  readonly seq: number;
  readonly kind: P['kind'];
  readonly payload: P;
}

/** An entry as stored. The payload is canonical text, and the id is the hash of that text. */
export interface EntryRow {
  readonly id: Hash;
  readonly trajectory_id: string;
  readonly parent: Hash | null;
  readonly seq: number;
  readonly kind: EntryKind;
  readonly payload: string;
  /** Why the store does not vouch for the entry: its seal is missing or does not hold. */
  readonly unsealed?: string;
}
