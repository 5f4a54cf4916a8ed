import type { Json } from '#base';
import type { ProposedCall } from '../domain/call.ts';
import type { ActionSpec, Binding } from '../domain/domain.ts';
import type { MemoryStatement } from '../domain/memory-spec.ts';
import type { RoleParams } from '../domain/role.ts';

/** The intent of an agent, untyped. */
export interface Intent {
  readonly action: string;
  readonly role: { readonly name: string; readonly params: RoleParams };
  readonly args: Json;
}

/** Whole amounts by unit. */
export type Cost = { readonly [unit: string]: number };

/**
 * The reason why an intent did not compile or was refused, in the words of the ledger
 * (docs/decisions/003-what-writes-an-entry.md).
 */
export interface Refusal {
  readonly reason:
    | 'unknown_tool'
    | 'type_mismatch'
    | 'invalid_authority'
    | 'policy_denied'
    | 'budget_exhausted'
    | 'precondition_failed'
    | 'unjudged_call'
    | 'invariant_rejected';
  readonly detail: string;
  readonly invariantId?: string;
  readonly policy?: PolicyRuling;
}

/** A policy's answer, for the record. */
export interface PolicyRuling {
  readonly digest: string;
  readonly decision: 'allow' | 'deny' | 'needs_approval';
  readonly rule?: string;
}

/**
 * The kernel's questions to writs, budget and policy. The answers are synchronous and use only
 * known facts.
 */
export interface Authority {
  admits(claim: {
    action: string;
    scopes: readonly string[];
  }): { ok: true; needsApproval: boolean } | { ok: false; detail: string };
  decides(claim: {
    action: string;
    scopes: readonly string[];
    role: Intent['role'];
    args: Json;
    /** The changing calls of the proposal, if it has some. */
    calls?: readonly ProposedCall[];
  }): { ruling: PolicyRuling; detail: string } | undefined;
  affords(cost: Cost): { ok: true } | { ok: false; detail: string };
  /**
   * A reason that comes with the action and requires approval, independent of the action's own
   * needs.
   */
  approvalDemand?(): ApprovalDemand | undefined;
}

/**
 * Approval is required by the policy or the writ, for an effect that can be neither compensated nor
 * buffered, or for a statement that contradicts the facts.
 */
export interface ApprovalDemand {
  readonly reason:
    | 'policy_needs_approval'
    | 'writ_requires_approval'
    | 'irreversible'
    | 'contradiction';
  readonly detail: string;
  /**
   * The kind of counselor that must resolve it, in addition to the kinds that the action and the
   * rules name.
   */
  readonly channel?: string;
}

/** The parts of a policy's question that are known before the calls. */
export interface UndecidedClaim {
  readonly scopes: readonly string[];
  readonly needsApproval: boolean;
}

/** An intent that compiled: typed and authorised. */
export interface Compiled {
  readonly name: string;
  readonly action: ActionSpec;
  readonly role: Intent['role'];
  /** After parsing: the recorded value that `apply` receives. */
  readonly args: Json;
  readonly binding: Binding;
  readonly cost: Cost;
  /** The statements that are recorded with it. */
  readonly statements: readonly MemoryStatement[];
  readonly policy?: PolicyRuling;
  /** The question to the policy, if the calls that the action declares are part of it. */
  readonly undecided?: UndecidedClaim;
  /** Applies regardless of the results of the invariants, unless an invariant rejects. */
  readonly approvalDemand?: ApprovalDemand;
}
