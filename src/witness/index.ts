/**
 * A witness over HTTP: somebody with a key of their own who remembers the latest tree of each log, and cosigns only what goes
 * on from it. With one that has another owner than the store, an operator can't show two histories.
 *
 * Guarantees: check and record are one step, on disk before the answer, also between processes. Never: signs for a log that
 * it was not told to follow, or holds a log's entries. May import canon and merkle.
 */
export { WitnessFile } from './record.ts';
export { type WitnessOptions, witnessServer } from './server.ts';
