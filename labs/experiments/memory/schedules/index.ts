/**
 * The structural experiments of seed 002 (§4.4, §4.5, Table 23), executed on schedules. Each
 * returns its cells, with the expected and the found values.
 *
 * The experiments are next to provenance and isolation, and use both. They are separate
 * because no running code needs the experiments. They show the anomalies that a bare store
 * would admit at a level.
 *
 * Guarantees: the same random bytes yield the same cells. Found values come from executed
 * schedules, never from expected values.
 *
 * Never: does I/O, reads a clock, or draws a random number that it was not given. The experiments
 * never expect a figure of the paper that came from a language model or from an unpublished
 * generator. Such figures are `reported` next to ours.
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
