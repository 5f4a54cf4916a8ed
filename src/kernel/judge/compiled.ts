import type { Json } from '#base';
import type { ActionSpec, Binding } from '../domain/domain.ts';
import type { Saying } from '../domain/memory-spec.ts';
import type { RoleParams } from '../domain/role.ts';

/** What an agent asks for, untyped. */
export interface Intent {
  readonly action: string;
  readonly role: { readonly name: string; readonly params: RoleParams };
  readonly args: Json;
}

/** Whole amounts by unit. */
export type Cost = { readonly [unit: string]: number };

/** Why an intent did not compile, or was refused; the ledger's words (DESIGN §5). */
export interface Refusal {
  readonly reason:
    | 'unknown_tool'
    | 'type_mismatch'
    | 'invalid_authority'
    | 'policy_denied'
    | 'budget_exhausted'
    | 'precondition_failed'
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

/** What the kernel asks of writs, budget and policy; answered at once, from what is already known. */
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
  }): { ruling: PolicyRuling; detail: string } | undefined;
  affords(cost: Cost): { ok: true } | { ok: false; detail: string };
  /** What comes with the action, and a person has to be asked about, whatever the action itself needs. */
  holdsBack?(): HeldBack | undefined;
}

/**
 * Held back for a person by the policy or the writ, because it does what can be neither undone nor held, or because what it says
 * contradicts what is believed.
 */
export interface HeldBack {
  readonly reason: 'policy_needs_approval' | 'writ_requires_approval' | 'irreversible' | 'contradiction';
  readonly detail: string;
  /** The kind of counselor that it wants to be asked, besides those that the action and the rules name. */
  readonly channel?: string;
}

/** An intent that compiled: typed and authorised. */
export interface Compiled {
  readonly name: string;
  readonly action: ActionSpec;
  readonly role: Intent['role'];
  /** After parsing: what is recorded and what `apply` gets. */
  readonly args: Json;
  readonly binding: Binding;
  readonly cost: Cost;
  /** What is to be believed with it, or not any more. */
  readonly sayings: readonly Saying[];
  readonly policy?: PolicyRuling;
  /** Whatever the invariants say (unless one rejects). */
  readonly heldBack?: HeldBack;
}
