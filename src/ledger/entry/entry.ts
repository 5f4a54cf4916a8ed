import type { Json } from '#base';
import type { Instant } from '#canon';
import type { BeliefChange } from './fact-rows.ts';
import type { Hash, Stored } from './hash.ts';
import type { Patch } from './patch.ts';

export type { Instant } from '#canon';
export type EntryKind = 'root' | 'commit' | 'rejection' | 'pending_approval' | 'delegation' | 'branch';

/** Why an intent did not become an effect (DESIGN §5). */
export type RejectionReason =
  | 'invalid_authority'
  | 'policy_denied'
  | 'budget_exhausted'
  | 'precondition_failed'
  | 'unknown_tool'
  | 'type_mismatch'
  | 'invariant_rejected'
  | 'counselor_rejected'
  | 'effect_failed'
  | 'conflict'
  | 'expired';

/** Members that every payload has, so that an id commits to its place and to all that came before. */
interface Common<Kind extends EntryKind> {
  readonly kind: Kind;
  readonly trajectory_id: string;
  readonly seq: number;
  /** The id of the entry before; null only at seq 0. */
  readonly parent: Hash | null;
  readonly at: Instant;
  readonly signature?: EntrySignature;
}

/** Ed25519 over `assize/entry/v1\n` and the canonical payload without this member. */
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

/** A role as bound in an intent: its name and the values of its parameters. */
export interface RoleRef {
  readonly name: string;
  readonly params: { readonly [param: string]: string };
}

export interface ActionRecord {
  readonly name: string;
  readonly role: RoleRef;
  readonly args: Stored;
}

/** What came from outside and was used: by value, or by oracle key. */
export interface Observation {
  readonly name: string;
  /** Beside a key: the hash of the answer in the oracle log, by salted reference. */
  readonly value?: Stored;
  readonly oracle_key?: Hash;
  /** Of that answer, in place: where it is a turn of a run, and in entries of before. */
  readonly hash?: Hash;
}

/** What one commit changes, all floors together. A commit suffices to fold; folding calls no domain code. */
export interface Delta {
  readonly state: Stored<readonly Patch[]>;
  /** What tools did or do with it, in the order of their calls: the idempotency key, and what is called, by salted hash. */
  readonly effects: readonly { readonly id: Hash; readonly effect: Stored }[];
  /** What of beliefs it changes, a partition each. */
  readonly beliefs: readonly BeliefChange[];
}

/** A policy's answer as recorded; replay reads it and never asks again. */
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
  readonly override?: true;
  /** Of an approval with override that is not the last: what did not pass then. A commit has the whole vector. */
  readonly overridden?: readonly VectorItem[];
  readonly reason?: string;
}

/** One invariant's result on a state, in the order of declaration. */
export interface VectorItem {
  readonly invariant_id: string;
  readonly result: 'pass' | 'reject' | 'escalate';
  readonly detail?: string;
}

/** What an agent asked for, as recorded with a refusal. */
export interface IntentRecord {
  readonly action: string;
  readonly role: RoleRef;
  readonly args: Stored;
  readonly observations: readonly Observation[];
}

/** The exact proposal that waits for a person. */
export interface ProposalRecord {
  readonly proposal_id: Hash;
  readonly writ_id: Hash;
  readonly action: ActionRecord;
  readonly observations: readonly Observation[];
  readonly at: Instant;
  readonly delta: Delta;
  /** What the approval mark adds, shown with the placeholder `$counselor` for who approves. */
  readonly approval: Stored<readonly Patch[]>;
  readonly budget_cost: Amounts;
  /** What has to be chosen, where what it says contradicts what is believed: a salted reference. */
  readonly questions?: Stored;
  /** When it was said, where a judge was asked first and that took time: what is said without a time of its own is so from then on. */
  readonly said_at?: Instant;
  /** As in the commit or rejection that it becomes. */
  readonly key_hash?: Hash;
}

export interface RootPayload extends Common<'root'> {
  readonly domain: DomainRef;
  readonly initial_state: Stored;
  readonly compiler_version: string;
  readonly policy_hash?: Hash;
  readonly writs: readonly Json[];
  /** The delegation that the trajectory was begun by. The first of `writs` is then the one that was delegated. */
  readonly delegated_from?: DelegatedFrom;
  readonly detection_vector?: readonly VectorItem[];
  readonly note?: string;
  /** The sensitive parts of the initial state: what is added to it before anything else. */
  readonly sensitive?: readonly Patch[];
}

/** The trajectory that delegated, and its entry that says so. */
export interface DelegatedFrom {
  readonly trajectory_id: string;
  readonly entry_id: Hash;
}

export interface BranchPayload extends Common<'branch'> {
  readonly source_trajectory_id: string;
  /** A commit of the source, or its root or branch entry where there is none yet. */
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
  /** The caller's idempotency key, hashed with principal and trajectory: it is for one proposal. */
  readonly key_hash?: Hash;
  readonly writ_id: Hash;
  readonly parent_commit: Hash;
  readonly action: ActionRecord;
  readonly delta: Delta;
  readonly observations: readonly Observation[];
  readonly budget_cost: Amounts;
  readonly compiler_version: string;
  readonly policy?: PolicyRecord;
  readonly resolves?: Hash;
  readonly counselor?: CounselorRecord;
  readonly detection_vector?: readonly VectorItem[];
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

export interface PendingPayload extends Common<'pending_approval'> {
  readonly proposal: ProposalRecord;
  /** Hash of what will run: proposal, its time, delta, approval mark. */
  readonly digest: Hash;
  readonly channel: string;
  /** The last two: of an effect (see `settlement.ts`). */
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
  /** `world`, or the pointers of the closure that is frozen. */
  readonly freezes: 'world' | readonly string[];
  /** The head this was judged on. */
  readonly head: Hash;
  readonly expires?: Instant;
  /** How many people must approve, where it takes more than one: 2 to 8. */
  readonly approvals?: number;
  /** The pending that this one goes on from, with one approval more; `approved_by` is then there (see `approvals.ts`). */
  readonly resolves?: Hash;
  /** Who approved so far, the first one first. */
  readonly approved_by?: readonly CounselorRecord[];
}

/**
 * One step of a delegation; `child_trajectory_id`, `task` and `writ` are the same in all three:
 *
 * - the start, in the parent: neither `concludes` nor what comes with it. The child's root names it as `delegated_from`.
 * - the answer, in the child, and the last entry there: `concludes` names the start.
 * - the conclusion, in the parent: `concludes` names the start, `child_head` pins the answer, the rest is as it is there.
 */
export interface DelegationPayload extends Common<'delegation'> {
  readonly child_trajectory_id: string;
  readonly task: string;
  /** What the child may do, made of a writ of the parent; its budget is set aside there from the start on. */
  readonly writ: Json;
  /** In a start: what the child begins with, so that its root can be written whoever comes first. */
  readonly begins?: ChildBeginning;
  readonly concludes?: Hash;
  readonly child_head?: Hash;
  readonly final_answer?: Stored;
  /** What was spent of the writ's budget in the child, and below it; the rest is free again. */
  readonly budget_cost?: Amounts;
}

export interface ChildBeginning {
  readonly domain: DomainRef;
  readonly initial_state: Stored;
  /** As in a root. */
  readonly sensitive?: readonly Patch[];
}

export type Payload =
  | RootPayload
  | CommitPayload
  | RejectionPayload
  | PendingPayload
  | DelegationPayload
  | BranchPayload;

/** An entry with its payload read. */
export interface Entry<P extends Payload = Payload> {
  readonly id: Hash;
  readonly trajectory_id: string;
  readonly parent: Hash | null;
  readonly seq: number;
  readonly kind: P['kind'];
  readonly payload: P;
}

/** An entry as stored: the payload is its canonical text, which is what the id hashes. */
export interface EntryRow {
  readonly id: Hash;
  readonly trajectory_id: string;
  readonly parent: Hash | null;
  readonly seq: number;
  readonly kind: EntryKind;
  readonly payload: string;
}
