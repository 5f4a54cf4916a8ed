/**
 * A witness over HTTP: a server with its own key that records the latest tree of each log and
 * cosigns only continuations of it. If its owner differs from the store's, the store's operator
 * cannot show two histories.
 *
 * Guarantees: check and record are one step, durable before the answer, also between processes.
 *
 * Never: signs for a log that it is not configured to follow, or stores a log's entries. May import
 * canon and merkle.
 */
export { WitnessFile } from './record.ts';
export { type WitnessOptions, witnessServer } from './server.ts';
