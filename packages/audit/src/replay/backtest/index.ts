/**
 * Backtest: the rulings that a recorded ledger would get under another policy, or another version
 * of its domain (docs/decisions/011-writs-and-policies.md).
 *
 * Every recorded proposal is adjudicated on the recorded state before it, with the recorded
 * arguments, observations and time, and with the remaining recorded budgets. An earlier difference
 * never changes the state. So each difference comes from the tried change, not from another
 * difference.
 *
 * Adjudicated: the ruling, its reason and invariant, and the required approvers.
 *
 * Not adjudicated, and counted: human decisions (but the report notes those that would not be
 * needed), and proposals with an erased value, a missing observation, or no writ that names the
 * requester. The results of writs and the fact changes of commits are taken as recorded. Changes to
 * the state are not compared; a deep replay with a changed domain does that.
 *
 * Guarantees: with the recorded policy and domain nothing differs. The cost follows the number of
 * entries, not the size of the state. Never writes, calls an oracle, or reads a clock.
 */
export { type BacktestOptions, backtest, backtestStore } from './backtest.ts';
export { backtestRules, type RuleBacktestOptions } from './backtest-rules.ts';
export type { BacktestReport, ChangeKind, NotJudgeable, VerdictDifference } from './verdicts.ts';
