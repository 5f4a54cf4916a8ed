/**
 * Deep replay: runs a domain again on what a ledger recorded, and holds what comes out against what stands there (DESIGN §5).
 * It is the proof that every committed state keeps the invariants (decisions §2.8).
 *
 * Run again: the schemas of role, arguments (where parsing them again can't change them), changes and beginnings; `cost` and
 * `scopes`; `apply` on the folded state before the entry, with the recorded arguments, observations and time; footprints;
 * the invariants in order; `onApprove` and the counselors' predicates; the detection vector of beginnings and decisions.
 *
 * Taken as recorded, and counted: what a writ, a policy (but one that is given and has the recorded digest), a budget, a
 * person or an expiry said; what tools cost; that a counselor put a state of their own in a proposal's place; delegations; beliefs; what was erased, and
 * what comes out otherwise where something is erased that it, or a rule, may read. A proposal that was refused by one of the
 * first three is run again up to that refusal, the rest of its walk is not.
 *
 * Guarantees: each entry is judged on the recorded fold before it, so that no difference hides the next; cost follows what
 * was recorded, not the world. Never: writes, calls an oracle, reads a clock.
 */
export { deepReplay, deepReplayStore } from './deep-replay.ts';
export { type DeepReplayOptions, type DeepReplayStoreOptions, domainToRun } from './options.ts';
export type { Broken, DeepReplayReport, Difference, DifferenceKind, TakenAsRecorded } from './report.ts';
