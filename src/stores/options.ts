import { StoreError } from './errors.ts';

/**
 * What an answered commit survives. `full`: power loss. `normal`: the end of the process, but power loss may take the
 * last commits. `off`: for tests and data that can be made again; power loss may damage the store where it is a file.
 */
export type Durability = 'full' | 'normal' | 'off';

/** `create` makes a missing store, `existing` does not; `readonly` neither makes nor changes it. */
export type OpenMode = 'create' | 'existing' | 'readonly';

/**
 * What compares vectors. `exact`: this process, one after the other. `sqlite-vec`: the extension of that name inside SQLite, faster; the
 * same facts are found, in the same order and with the same scores.
 */
export type VectorSearch = 'exact' | 'sqlite-vec';

/** When the tables of a PostgreSQL store are written anew after an erasure: before it is answered, or when another process opens the store. */
export type Scrubbing = 'at_once' | 'later';

/** How long a turn at writing is waited for before a writer goes on without: others' turns are far shorter. */
export const TURN_WAIT_MS = 1_000;

const MODES: readonly OpenMode[] = ['create', 'existing', 'readonly'];
const DURABILITIES: readonly Durability[] = ['full', 'normal', 'off'];

const VECTOR_SEARCHES: readonly VectorSearch[] = ['exact', 'sqlite-vec'];
const SCRUBBINGS: readonly Scrubbing[] = ['at_once', 'later'];

/** Throws `store_invalid_input` unless both are what their types say. */
export function checkChoices(mode: OpenMode, durability: Durability): void {
  checkChoice('mode', mode, MODES);
  checkChoice('durability', durability, DURABILITIES);
}

/** Throws `store_invalid_input` unless it is what its type says. */
export function checkVectorSearch(vectors: VectorSearch): void {
  checkChoice('vectors', vectors, VECTOR_SEARCHES);
}

/** Throws `store_invalid_input` unless it is what its type says. */
export function checkScrubbing(scrub: Scrubbing): void {
  checkChoice('scrub', scrub, SCRUBBINGS);
}

// Options may come from a command line; a word that is none of these must not pass for a default.
function checkChoice(name: string, value: string, choices: readonly string[]): void {
  if (choices.includes(value)) return;
  throw new StoreError(
    'store_invalid_input',
    `${name} is one of ${choices.join(', ')}, not '${typeof value === 'string' ? value : typeof value}'.`,
    {
      evidence: { [name]: value },
    },
  );
}
