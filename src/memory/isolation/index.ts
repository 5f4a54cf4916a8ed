/**
 * The levels of isolation that the operators on contradictions need (seed 002, §2.2, §3.3, Theorems 3 and 12): a lattice, and what a
 * pipeline needs of it.
 *
 * Guarantees: `join` is the least upper bound; what is declared and what is enforced are told apart; equal levels are equal in
 * every member.
 *
 * Never: opens a transaction, or trusts a store's own levels: what a commit holds comes from the versions that it checks. What the
 * levels of a bare store admit is shown by the experiments (`../experiments/`), which nothing at run time needs.
 */
export { ANOMALIES, type Anomaly, excludes, GUARDS, type Guard } from './anomalies.ts';
export { IsolationError, type IsolationErrorCode } from './errors.ts';
export {
  CHAIN_LEVELS,
  dominates,
  ISOS,
  type Iso,
  isoAt,
  join,
  joinOnChain,
  type Level,
  level,
  levelText,
  onChain,
  TABLES,
  type Table,
} from './level.ts';
export { type Requirement, requirementOf, requirementOfPipeline } from './operators.ts';
