/**
 * Mining: the rules that recorded runs obey, with their support, their counter-examples and the
 * probability that they hold by accident.
 *
 * Guarantees: support and counter-examples are counted call by call over the runs that were given.
 * Of the listed rules, only the chosen share is expected to hold by chance. A written rule rules
 * the recorded calls as its candidate says.
 *
 * Not promised: that a rule is wanted. A person reads it, and accepts it or does not.
 *
 * Never: calls a model, changes a ledger, or puts a rule in force.
 */
export { MiningError, type MiningErrorCode } from './errors.ts';
export {
  type Candidate,
  type CounterExample,
  judgeRule,
  type MiningOptions,
  mine,
} from './mine.ts';
export {
  type MinedCandidate,
  type MineStoreOptions,
  type MiningReport,
  mineStore,
} from './mine-store.ts';
export { type ReadRunsOptions, type RunsRead, readRuns } from './read/read-runs.ts';
export { KINDS, type MinedKind, type MinedRule } from './rule.ts';
export type { BacktestRules, RuleBacktest, RuleDifference } from './rule-backtest.ts';
export type { CallEntry, MiningCall, MiningRun } from './run.ts';
export { ruleLine, rulesText, WRITTEN, withRules } from './write/add-to-file.ts';
export { domainCode, type RuleToWrite } from './write/domain-code.ts';
export { type GatewayRule, gatewayRule, type WriteOptions } from './write/gateway-rule.ts';
