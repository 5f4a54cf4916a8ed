/**
 * The experiments of seed 002, each cell of which is executed: on schedules (`assize/memory/experiments`), with the package's own memory and
 * judge log, and on a bare store of a real PostgreSQL server, at its own levels of isolation.
 *
 * Guarantees: a cell that follows from definitions says what it has to be, and is marked where it is not; what became of a transaction is
 * read off the rows, and never off what was asked for.
 *
 * Never: opens a store but in memory or in a folder of its own that it removes, or leaves anything on a server; gives another memory that is run a model but a stub, or anything of its
 * user’s settings; expects a figure of the paper that came from a language model or from a generator that is not published.
 */

export { AnomalyError, type AnomalyErrorCode } from './errors.ts';
export type { Experiment, Need, Running, Setting } from './experiment.ts';
export { EXPERIMENTS } from './experiments/index.ts';
