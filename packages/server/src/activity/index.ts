/**
 * Finds entries of all trajectories by time, name, ruling, rule, tool and text.
 *
 * Guarantees: an answer is what a walk over all entries finds. The index is derived from entries,
 * is written after the answers, and is made again where it is missing or was changed.
 */

export { type NameKind, named, valuesOf } from './entry-facts.ts';
export type { FoundEntry } from './find-entries.ts';
export { walkEntries } from './walk-entries.ts';
