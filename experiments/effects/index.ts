/**
 * The experiments of seed 003, each cell of which is executed on the runtime as it is published, beside the paper's figures.
 *
 * Guarantees: the same seed gives the same faults in every mode; what became of an effect is read off the sink that had it, and
 * never off the runtime.
 *
 * Never: leaves a file, a server or a process behind.
 */

export { FaultsError, type FaultsErrorCode } from './errors.ts';
export type { Experiment, Running, Setting } from './experiment.ts';
export { EXPERIMENTS } from './experiments/index.ts';
export { MODES, type Mode, type ModeName } from './modes.ts';
