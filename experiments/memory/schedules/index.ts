/**
 * The structural experiments of seed 002 (§4.4, §4.5, Table 23), executed on schedules: each gives its cells, with what is expected and
 * what was found.
 *
 * They stand beside provenance and isolation, which they use both, and apart from them, because nothing that runs needs them: they show
 * what a bare store would admit at a level.
 *
 * Guarantees: the same bytes of chance, the same cells; what is found comes from schedules that were executed, and never from what is
 * expected.
 *
 * Never: does I/O, reads a clock, draws a random number that it was not given; expects a figure of the paper that came from a language
 * model or from a generator that is not published: those are `reported` beside ours.
 */
export { operatorAblation } from './ablation.ts';
export { bridgeGrid } from './bridge.ts';
export { counterfactual, defences, tokenRecall } from './carriers.ts';
export { composition, compositionWithPins } from './composition.ts';
export { FOLDS, type Folded, folded, foldedInTurn, orders } from './confluence.ts';
export {
  type Belief,
  conflicts,
  type Edge,
  type FoundAnomaly,
  find,
  isCyclic,
  isDrifted,
  strongest,
  type Visible,
} from './detect.ts';
export { driftGrid } from './drift.ts';
export { ExperimentError, type ExperimentErrorCode } from './errors.ts';
export {
  type Abort,
  type Discipline,
  type ExecutedStep,
  type ExecuteOptions,
  type Execution,
  execute,
  type Version,
} from './execute.ts';
export { extraSchedules, isoMatrix } from './iso-matrix.ts';
export { oracleVariance, trajectory } from './oracle-variance.ts';
export type { Bytes } from './random-draws.ts';
export type { Grid, Row } from './row.ts';
export { type Schedule, type Step, schedule, type Value } from './schedule.ts';
export { schemaAxis, schemaByCarrier } from './schema-axis.ts';
export { weakening } from './weakening.ts';
export { EXTRA_SCHEDULES, WITNESSES, type Witness } from './witnesses.ts';
