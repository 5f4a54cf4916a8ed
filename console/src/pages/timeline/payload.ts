/** The payloads of entries that the page shows (packages/assize/src/ledger/entry/entry.ts). */

/** A value, or a reference to a value that is stored elsewhere. */
type Stored = unknown;
export type Amounts = Readonly<Record<string, number>>;

export interface RoleRef {
  readonly name: string;
  readonly params: Readonly<Record<string, string>>;
}

export interface ActionRecord {
  readonly name: string;
  readonly role: RoleRef;
  readonly args: Stored;
}

export interface Observation {
  readonly name: string;
  readonly value?: Stored;
  readonly oracle_key?: string;
}

/** One operation on a state (RFC 6902). */
export interface Patch {
  readonly op: string;
  readonly path: string;
  readonly value?: Stored;
}

export interface Delta {
  readonly state: Stored;
  readonly effects: readonly { readonly id: string; readonly effect: Stored }[];
  readonly beliefs: readonly BeliefChange[];
}

/** The change of one partition of the memory. */
export interface BeliefChange {
  readonly partition: { readonly $blob: string };
  readonly version: number;
  readonly insert: readonly unknown[];
  readonly close: readonly unknown[];
}

export interface PolicyRecord {
  readonly decision: string;
  readonly rule?: string;
}

/** The result of one rule on a state. */
export interface VectorItem {
  readonly invariant_id: string;
  readonly result: 'pass' | 'reject' | 'escalate';
  readonly detail?: string;
}

export interface CounselorRecord {
  readonly principal: string;
  readonly as: string;
  readonly method: string;
  readonly token_by?: readonly string[];
  readonly at?: string;
  readonly override?: true;
  readonly overridden?: readonly VectorItem[];
  readonly reason?: string;
}

interface DomainRef {
  readonly name: string;
  readonly version: string;
}

interface Begun {
  readonly at: string;
  readonly domain: DomainRef;
  readonly compiler_version: string;
  readonly writs: readonly unknown[];
  readonly note?: string;
}

export interface Payloads {
  readonly root: Begun & {
    readonly kind: 'root';
    readonly initial_state: Stored;
    readonly delegated_from?: { readonly trajectory_id: string };
  };
  readonly branch: Begun & { readonly kind: 'branch'; readonly source_commit_id: string };
  readonly commit: {
    readonly kind: 'commit';
    readonly at: string;
    readonly writ_id: string;
    readonly action: ActionRecord;
    readonly delta: Delta;
    readonly observations: readonly Observation[];
    readonly budget_cost: Amounts;
    readonly policy?: PolicyRecord;
    readonly resolves?: string;
    readonly counselor?: CounselorRecord;
    readonly approved_by?: readonly CounselorRecord[];
    readonly detection_vector?: readonly VectorItem[];
    readonly amended?: { readonly action: ActionRecord };
  };
  readonly rejection: {
    readonly kind: 'rejection';
    readonly at: string;
    readonly writ_id?: string;
    readonly intent: {
      readonly action: string;
      readonly role: RoleRef;
      readonly args: Stored;
      readonly observations: readonly Observation[];
    };
    readonly reason: string;
    readonly detail: string;
    readonly policy?: PolicyRecord;
    readonly invariant_id?: string;
    readonly resolves?: string;
    readonly counselor?: CounselorRecord;
  };
  readonly pending_approval: {
    readonly kind: 'pending_approval';
    readonly at: string;
    readonly proposal: {
      readonly writ_id: string;
      readonly action: ActionRecord;
      readonly observations: readonly Observation[];
      readonly delta: Delta;
      readonly budget_cost: Amounts;
    };
    readonly channel: string;
    readonly reason: string;
    readonly detail: string;
    readonly policy?: PolicyRecord;
    readonly invariant_id?: string;
    readonly expires?: string;
    readonly deputies?: readonly {
      readonly of: string;
      readonly kind: string;
      readonly from: string;
    }[];
    readonly approvals?: number;
    readonly resolves?: string;
    readonly approved_by?: readonly CounselorRecord[];
  };
  readonly delegation: {
    readonly kind: 'delegation';
    readonly at: string;
    readonly child_trajectory_id: string;
    readonly task: string;
    readonly concludes?: string;
    readonly child_head?: string;
    readonly final_answer?: Stored;
    readonly budget_cost?: Amounts;
  };
  readonly key_change: {
    readonly kind: 'key_change';
    readonly at: string;
    readonly to: string;
    readonly reason: string;
  };
}

/** Whether the runtime took an action on its own, such as a settlement. */
export function isOfRuntime({ role }: Pick<ActionRecord, 'role'>): boolean {
  return role.name === 'assize';
}
