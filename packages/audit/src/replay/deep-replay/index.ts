/**
 * Deep replay: runs a domain again on a recorded ledger, and compares the results with the entries
 * (docs/decisions/013-log-and-replay.md). It proves that every committed state keeps the
 * invariants.
 *
 * Run again:
 *
 * - the schemas of role, arguments (if parsing them again cannot change them), changes and initial
 *   states; `cost` and `scopes`;
 * - `apply` on the folded state before the entry, with the recorded arguments, observations and
 *   time;
 * - footprints, the invariants in order, `onApprove`, the counselors' predicates, and the detection
 *   vector of initial states and decisions.
 *
 * Taken as recorded, and counted:
 *
 * - the results of writs, budgets, policies (except a given policy with the recorded digest), human
 *   decisions and expiries;
 * - the cost of tools, counselors' replacements, delegations and facts;
 * - erased values, and different results if an erased value is one that the proposal or a rule may
 *   read.
 *
 * A proposal that was refused by writ, policy or budget is run again up to that refusal, but not
 * after it.
 *
 * Guarantees: each entry is adjudicated on the recorded fold before it, so no difference hides the
 * next. The cost follows the number of entries, not the size of the state. Never writes, calls an
 * oracle, or reads a clock.
 */
export { deepReplay, deepReplayStore } from './deep-replay.ts';
export { type DeepReplayOptions, type DeepReplayStoreOptions, domainToRun } from './options.ts';
export type {
  BrokenInvariant,
  DeepReplayReport,
  Difference,
  DifferenceKind,
  TakenAsRecorded,
} from './report.ts';
