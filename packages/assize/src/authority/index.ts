/**
 * Authority: writs, their attenuation, budgets, and the port to policies.
 *
 * Guarantees: a child writ is never wider than its parent on any axis. A use is allowed only by a
 * chain of signatures that ends in a configured key. A use that is not granted, not understood or
 * not evaluated is refused. The spending under a writ never exceeds its budget. Every answer
 * depends on the arguments alone.
 *
 * Never: reads a clock, draws a random number, does I/O, or takes a key, a root or a time from an
 * agent's input.
 *
 * Imports canon only. The caller folds revocations and costs from the ledger and passes them in.
 */
export { type Amounts, costItems, isAmount } from './amounts.ts';
export { type Attenuation, attenuate, delegateWrit, type Widening, widening } from './attenuate.ts';
export type { Axis } from './axis.ts';
export {
  type BudgetAnswer,
  BudgetLedger,
  type BudgetShortfall,
  type Reservation,
} from './budget.ts';
export {
  checkWrit,
  createWritVerifier,
  DEFAULT_CACHE_SIZE,
  isSubject,
  type VerifiedWrit,
  type WritCheck,
  type WritDelegation,
  type WritRefusal,
  type WritRefusalCode,
  type WritUse,
  type WritVerifier,
  type WritVerifierOptions,
} from './check.ts';
export { allHold, compileCondition, type Test } from './condition.ts';
export { AuthorityError, type AuthorityErrorCode } from './errors.ts';
export {
  contains,
  covers,
  MAX_NAME_LENGTH,
  type Name,
  normalizeAction,
  normalizeScope,
  overlaps,
  readScope,
  segment,
} from './grammar.ts';
export {
  failClosedPolicy,
  type Policy,
  type PolicyDecision,
  type PolicyQuery,
  type Verdict,
} from './policy.ts';
export { parseRuleTable } from './read-rule-table.ts';
export {
  effectScope,
  haltScope,
  mayHalt,
  mayResolveEffect,
  mayRevoke,
  revokeScope,
} from './rights.ts';
export type { CallPattern, Condition, Rule, RuleTable } from './rule.ts';
export { ruleTable } from './rule-table.ts';
export { isToolName, isToolPattern, matchesTool } from './tool-pattern.ts';
export {
  issueWrit,
  MAX_DEPTH,
  MAX_ITEMS,
  MAX_TEXT,
  parseWrit,
  type Writ,
  type WritGrant,
  writId,
} from './writ.ts';
