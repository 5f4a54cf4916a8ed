/** The parts of the payloads of entries that the verifier reads. `formOf` has checked them. */

export type Stored = unknown;
export type Amounts = Readonly<Record<string, number>>;

export interface DomainRecord {
  readonly name: string;
  readonly version: string;
  readonly hash: string;
}

export interface ActionRecord {
  readonly name: string;
  readonly role: { readonly name: string; readonly params: Readonly<Record<string, string>> };
  readonly args: Stored;
}

export interface Observation {
  readonly name: string;
  readonly value?: Stored;
  readonly oracle_key?: string;
  readonly hash?: string;
}

export interface Result {
  readonly invariant_id: string;
  readonly result: 'pass' | 'reject' | 'escalate';
  readonly detail?: string;
}

export interface Counselor {
  readonly principal: string;
  readonly as: string;
  readonly method: string;
  readonly token_by?: readonly string[];
  readonly at?: string;
  readonly override?: true;
  readonly overridden?: readonly Result[];
  readonly reason?: string;
}

export interface PolicyRecord {
  readonly digest: string;
  readonly decision: 'allow' | 'deny' | 'needs_approval';
  readonly rule?: string;
}

export interface BeliefChange {
  readonly partition: Stored;
  readonly system_time: string;
  readonly close: readonly { readonly fact_id: string; readonly system_time_start: string }[];
  readonly insert: readonly BeliefRow[];
  readonly inherit?: { readonly until: string; readonly rows: readonly BeliefRow[] };
  readonly version: number;
}

export interface BeliefRow {
  readonly fact_id: string;
  readonly object: Stored;
  readonly valid_from: string;
  readonly valid_to: string;
  readonly row_kind: string;
  readonly resolution_id: string | null;
  readonly asserted_seq: number;
  readonly seq?: number;
  readonly system_time_start?: string;
}

export interface Delta {
  readonly state: Stored;
  readonly effects: readonly { readonly id: string; readonly effect: Stored }[];
  readonly beliefs: readonly BeliefChange[];
}

interface Placed {
  readonly trajectory_id: string;
  readonly seq: number;
  readonly parent: string | null;
  readonly at: string;
  readonly signature?: { readonly key: string; readonly value: string };
}

interface Begun extends Placed {
  readonly domain: DomainRecord;
  readonly compiler_version: string;
  readonly writs: readonly unknown[];
  readonly policy_hash?: string;
  readonly note?: string;
}

export interface Root extends Begun {
  readonly kind: 'root';
  readonly initial_state: Stored;
  readonly delegated_from?: { readonly trajectory_id: string; readonly entry_id: string };
  readonly sensitive?: readonly unknown[];
}

export interface Branch extends Begun {
  readonly kind: 'branch';
  readonly source_trajectory_id: string;
  readonly source_commit_id: string;
}

export interface Commit extends Placed {
  readonly kind: 'commit';
  readonly proposal_id: string;
  readonly writ_id: string;
  readonly parent_commit: string;
  readonly action: ActionRecord;
  readonly delta: Delta;
  readonly observations: readonly Observation[];
  readonly budget_cost: Amounts;
  readonly compiler_version: string;
  readonly epoch?: number;
  readonly key_hash?: string;
  readonly policy?: PolicyRecord;
  readonly resolves?: string;
  readonly counselor?: Counselor;
  readonly approved_by?: readonly Counselor[];
  readonly detection_vector?: readonly Result[];
  readonly amended?: { readonly action: ActionRecord; readonly difference: Stored };
}

export interface Rejection extends Placed {
  readonly kind: 'rejection';
  readonly intent: {
    readonly action: string;
    readonly role: ActionRecord['role'];
    readonly args: Stored;
    readonly observations: readonly Observation[];
    readonly calls?: Stored;
  };
  readonly detail: string;
  readonly reason: string;
  readonly proposal_id?: string;
  readonly key_hash?: string;
  readonly writ_id?: string;
  readonly policy?: PolicyRecord;
  readonly invariant_id?: string;
  readonly resolves?: string;
  readonly counselor?: Counselor;
}

export interface Proposal {
  readonly proposal_id: string;
  readonly writ_id: string;
  readonly action: ActionRecord;
  readonly observations: readonly Observation[];
  readonly at: string;
  readonly delta: Delta;
  readonly approval: Stored;
  readonly budget_cost: Amounts;
  readonly key_hash?: string;
  readonly questions?: Stored;
}

export interface Pending extends Placed {
  readonly kind: 'pending_approval';
  readonly proposal: Proposal;
  readonly digest: string;
  readonly channel: string;
  readonly detail: string;
  readonly freezes: 'world' | readonly string[];
  readonly head: string;
  readonly reason: string;
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
  readonly approved_by?: readonly Counselor[];
}

export interface Delegation extends Placed {
  readonly kind: 'delegation';
  readonly child_trajectory_id: string;
  readonly task: string;
  readonly writ: unknown;
  readonly begins?: {
    readonly domain: DomainRecord;
    readonly initial_state: Stored;
    readonly sensitive?: unknown[];
  };
  readonly concludes?: string;
  readonly child_head?: string;
  readonly final_answer?: Stored;
  readonly budget_cost?: Amounts;
}

export interface KeyChange extends Placed {
  readonly kind: 'key_change';
  readonly to: string;
  readonly reason: string;
}

export type Payload = Root | Branch | Commit | Rejection | Pending | Delegation | KeyChange;

/** An entry of a bundle: its id is the hash of its text. The text is canonical and has its form. */
export interface Entry {
  readonly id: string;
  readonly index: number;
  readonly text: string;
  readonly payload: Payload;
}
