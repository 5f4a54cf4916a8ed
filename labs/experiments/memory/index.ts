/**
 * The experiments of seed 002. Each cell is executed. The experiments run on schedules
 * (`assize/memory/experiments`), with the package's own memory and judge log, and on a bare store
 * of a real PostgreSQL server. The server runs at its own isolation levels.
 *
 * Guarantees: a cell that follows from definitions states its expected value, and is marked if it
 * differs. The outcome of a transaction is read from the rows, never from the request.
 *
 * Never: opens a store except in memory or in its own folder (removed afterwards); leaves anything
 * on a server. The experiments never give a peer memory a model other than a stub, or any setting
 * of its user. They never expect a figure of the paper that came from a language model or from an
 * unpublished generator.
 */

export { AnomalyError, type AnomalyErrorCode } from './errors.ts';
export type { Experiment, Need, Running, Setting } from './experiment.ts';
export { EXPERIMENTS } from './experiments/index.ts';
