/**
 * Backtest: what a recorded ledger would have been ruled under another policy, or another version of its domain (DESIGN §7).
 *
 * Every proposal that is recorded is judged on the recorded state before it, with the recorded arguments, observations and
 * time, and with what was left of the recorded budgets; never on a state that an earlier difference would have led to. So each
 * difference is one of the change that is tried, and none of another difference.
 *
 * Judged: the ruling, its reason and its invariant, and who must approve it. Not judged, and counted: what a person decided (but it is said where
 * nobody would have been asked); what can't be judged because a value was erased, an observation is not there, or no writ
 * says who asked. What writs said is taken as recorded, and so is what a commit changed of beliefs. What a changed action would have
 * written is not compared: that is what a deep replay with a changed domain does.
 *
 * Guarantees: with the recorded policy and domain nothing differs; cost follows what was recorded, not the world. Never: writes,
 * calls an oracle, reads a clock.
 */
export { type BacktestOptions, backtest, backtestStore } from './backtest.ts';
export type { BacktestReport, ChangeKind, NotJudgeable, VerdictDifference } from './verdicts.ts';
