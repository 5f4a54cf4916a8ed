import { StoreError } from './errors.ts';

/**
 * The failures that an answered commit survives.
 *
 * - `full`: power loss.
 * - `normal`: the end of the process. Power loss may lose the last commits.
 * - `off`: for tests and data that can be rebuilt. Power loss may damage a store in a file.
 */
export type Durability = 'full' | 'normal' | 'off';

/**
 * `create` creates a missing store and `existing` does not. `readonly` neither creates nor changes
 * a store.
 */
export type OpenMode = 'create' | 'existing' | 'readonly';

/**
 * The implementation of vector search. `exact` compares vectors one after the other in this
 * process. `sqlite-vec` uses the SQLite extension of that name, which is faster. Both find the same
 * facts in the same order with the same scores.
 */
export type VectorSearch = 'exact' | 'sqlite-vec';

/**
 * The time at which the tables of a PostgreSQL store are rewritten after an erasure. `at_once`
 * rewrites them before the erasure is answered. `later` leaves the rewrite to the next process that
 * opens the store.
 */
export type Scrubbing = 'at_once' | 'later';

/**
 * The longest wait for the write lock. After it the writer continues without the lock, because
 * other writers hold it far shorter.
 */
export const WRITE_LOCK_WAIT_MS = 1_000;

const MODES: readonly OpenMode[] = ['create', 'existing', 'readonly'];
const DURABILITIES: readonly Durability[] = ['full', 'normal', 'off'];

const VECTOR_SEARCHES: readonly VectorSearch[] = ['exact', 'sqlite-vec'];
const SCRUBBINGS: readonly Scrubbing[] = ['at_once', 'later'];

/** Throws `store_invalid_input` unless both values are members of their types. */
export function checkChoices(mode: OpenMode, durability: Durability): void {
  checkChoice('mode', mode, MODES);
  checkChoice('durability', durability, DURABILITIES);
}

/** Throws `store_invalid_input` unless the value is a member of its type. */
export function checkVectorSearch(vectors: VectorSearch): void {
  checkChoice('vectors', vectors, VECTOR_SEARCHES);
}

/** Throws `store_invalid_input` unless the value is a member of its type. */
export function checkScrubbing(scrub: Scrubbing): void {
  checkChoice('scrub', scrub, SCRUBBINGS);
}

// Options can come from a command line. An unknown word must not act as a default.
function checkChoice(name: string, value: string, choices: readonly string[]): void {
  if (choices.includes(value)) return;
  throw new StoreError(
    'store_invalid_input',
    `${name} must be one of ${choices.join(', ')}, not '${typeof value === 'string' ? value : typeof value}'.`,
    {
      evidence: { [name]: value },
    },
  );
}
