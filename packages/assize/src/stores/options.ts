import { type ArgumentSchema, arg } from '#base';

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
 * process. `sqlite-vec` uses the faster SQLite extension of that name. Both find the same facts in
 * the same order with the same scores.
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

// Options can come from a command line. An unknown word must not act as a default.

/** The clock of a store without a server. */
export const CLOCK: ArgumentSchema = arg.optional(arg.members({ now: arg.code }));

export const ARCHIVE: ArgumentSchema = arg.optional(arg.text);
/** Private keys of 64 hex digits. */
export const ROOT_KEYS: ArgumentSchema = arg.optional(
  arg.list(arg.of('a private key of 64 lower-case hex digits', isPrivateKey)),
);

function isPrivateKey(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

export const MODE = arg.oneOf(['create', 'existing', 'readonly'] satisfies OpenMode[]);
export const DURABILITY = arg.oneOf(['full', 'normal', 'off'] satisfies Durability[]);
export const VECTOR_SEARCH = arg.oneOf(['exact', 'sqlite-vec'] satisfies VectorSearch[]);
export const SCRUBBING = arg.oneOf(['at_once', 'later'] satisfies Scrubbing[]);
