/**
 * Recorded work, ruled on again: `deepReplay` runs the domain of a ledger and compares its results
 * with the entries, and `backtest` tries another policy or domain on the recorded proposals.
 *
 * Never: writes, calls an oracle, or reads a clock.
 */
export {
  type BacktestOptions,
  type BacktestReport,
  backtest,
  backtestRules,
  backtestStore,
  type ChangeKind,
  type NotJudgeable,
  type RuleBacktestOptions,
  type VerdictDifference,
} from './backtest/index.ts';
export {
  type BrokenInvariant,
  type DeepReplayOptions,
  type DeepReplayReport,
  type DeepReplayStoreOptions,
  type Difference,
  type DifferenceKind,
  deepReplay,
  deepReplayStore,
  domainToRun,
  type TakenAsRecorded,
} from './deep-replay/index.ts';
