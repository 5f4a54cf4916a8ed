/**
 * The experiments of seed 003, next to the paper's figures. Each cell is executed on the runtime as
 * published.
 *
 * Guarantees: the same seed gives the same faults in every mode. The outcome of an effect is read
 * from its sink, and never from the runtime.
 *
 * Never: leaves a file, a server or a process behind.
 */

export { FaultsError, type FaultsErrorCode } from './errors.ts';
export type { Experiment, Running, Setting } from './experiment.ts';
export { EXPERIMENTS } from './experiments/index.ts';
export { MODES, type Mode, type ModeName } from './modes.ts';
