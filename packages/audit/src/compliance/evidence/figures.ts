import type { PendingPayload, RejectionReason } from 'assize/internal/ledger';

/** The reasons why a proposal asks a person, without the two of effects. */
export type EscalationReason = Exclude<PendingPayload['reason'], 'in_doubt' | 'unresolved'>;

/** The numbers of entries that a reading of the log counts. */
export type Figure =
  /** Entries, signed or not, and the beginnings of trajectories. */
  | 'entries'
  | 'signed'
  | 'unsigned'
  | 'roots'
  | 'branches'
  /** Rulings. A refusal counts under its reason. */
  | 'commits'
  | `refused:${RejectionReason}`
  | `escalated:${EscalationReason}`
  /** A commit or refusal that records the answer of a policy. */
  | 'policy_judged'
  /** Decisions of principals on proposals. An approval that is not the last counts too. */
  | 'approvals'
  | 'amendments'
  /** Those of principals that may be people, by their names. `several`: of at least two of them. */
  | 'people:approvals'
  | 'people:refusals'
  | 'people:amendments'
  | 'people:several'
  | 'people:halts'
  | 'people:resumes'
  /** Decisions on proposals, and stops, by principals with the name of a program. */
  | 'programs:decisions'
  | 'programs:halts'
  | 'overrides_with_reason'
  | 'overrides_without_reason'
  /** A proposal that several principals approved. */
  | 'approved_by_several'
  /** An approval by the requester, or by a grantor of its writ. */
  | 'self_approvals'
  /** An approval of a proposal whose requester the store does not name. */
  | 'requester_unknown'
  /** Stops, and narrower authority. Adopted copies in other trajectories do not count. */
  | 'halts'
  | 'resumes'
  | 'revocations'
  | 'delegations'
  | 'key_changes'
  /** Changes of the rules: another version of a domain, rules of the gateway, tool definitions. */
  | 'upgrades'
  | 'rule_changes'
  | 'pinned_tools'
  /** Approved responses to incidents, and the recorded outcomes of their steps. */
  | 'responses'
  | 'response_steps'
  /** Commits that name effects, and the outcomes of single effects. */
  | 'with_effects'
  | 'undone'
  | 'accepted'
  | 'in_doubt'
  | 'operator_decisions'
  /** Commits that change facts, and erasures. */
  | 'with_facts'
  | 'erasures';

export const ESCALATION_REASONS: readonly EscalationReason[] = [
  'invariant_escalated',
  'policy_needs_approval',
  'writ_requires_approval',
  'irreversible',
  'contradiction',
];
