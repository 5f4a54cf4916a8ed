/**
 * The isolation levels that the resolution operators need (TOKI §2.2, §3.3, Theorems 3 and 12): a
 * lattice, and the requirement of a pipeline.
 *
 * Guarantees: `join` is the least upper bound. Declared and enforced levels are separate. Equal
 * levels are equal in every field.
 *
 * Never: opens a transaction, or trusts a store's own levels. A commit's isolation comes from the
 * versions that it checks. The schedules (`../schedules/`) show what the levels of a bare store
 * admit.
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
