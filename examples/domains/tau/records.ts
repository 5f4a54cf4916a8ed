import { canonicalize, hashText, WORLD_LIMITS } from 'assize/internal/canon';

/** The records of one collection, by id. */
type Collection = Readonly<Record<string, unknown>>;

/** A database: collections of records, by name. */
export type Records = Readonly<Record<string, Collection>>;

/**
 * Records that differ from the initial records: `{collection: {id: record}}`, with null for a
 * missing record.
 */
export type ChangedRecords = Records;

/** A record that is not what was expected; null where there is none. */
export interface Difference {
  readonly collection: string;
  readonly id: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/**
 * Hashes and compares databases that share most records with an initial database. A hundred
 * branches of one database differ in a handful of its thousands of records. A branch keeps the same
 * object for each unchanged record, so the canonical text of these objects is computed once. No
 * other text is cached: a branch may still change its own record in place, but never an initial
 * record.
 */
export class RecordTexts {
  readonly #initial: Records;
  /** In the order of their names, as in canonical text. */
  readonly #names: readonly string[];
  readonly #records = new Map<object, string>();
  readonly #collections = new Map<object, string>();
  readonly #hashes = new Map<string, string>();

  constructor(initial: Records) {
    this.#initial = initial;
    this.#names = Object.keys(initial).sort();
    for (const name of this.#names) {
      const collection = collectionOf(initial, name);
      for (const record of Object.values(collection)) {
        this.#records.set(record as object, canonicalize(record, WORLD_LIMITS));
      }
      this.#collections.set(collection, this.#join(collection));
    }
  }

  /** The content hash of all collections. */
  hash(records: Records): string {
    // The changes identify the state. Many runs end in the same state.
    const difference = canonicalize(this.changed(records), WORLD_LIMITS);
    let hash = this.#hashes.get(difference);
    if (hash === undefined) {
      hash = hashText(this.#whole(records));
      this.#hashes.set(difference, hash);
    }
    return hash;
  }

  /** Every record that differs from the initial one of its id, by content. */
  changed(records: Records): ChangedRecords {
    const changed: Record<string, Collection> = {};
    for (const name of this.#names) {
      const [before, after] = [collectionOf(this.#initial, name), collectionOf(records, name)];
      if (before === after) continue;
      const ids = new Set([...Object.keys(before), ...Object.keys(after)]);
      const differing = [...ids].filter(
        (id) => this.#text(recordOf(before, id)) !== this.#text(recordOf(after, id)),
      );
      if (differing.length === 0) continue;
      changed[name] = Object.fromEntries(differing.map((id) => [id, recordOf(after, id)]));
    }
    return changed;
  }

  #whole(records: Records): string {
    const members = this.#names.map((name) => {
      const collection = collectionOf(records, name);
      return `${canonicalize(name)}:${this.#collections.get(collection) ?? this.#join(collection)}`;
    });
    return `{${members.join(',')}}`;
  }

  #join(collection: Collection): string {
    // Default order of `sort` is by UTF-16 code units, as RFC 8785 section 3.2.3 wants it.
    const ids = Object.keys(collection).sort();
    return `{${ids.map((id) => `${canonicalize(id)}:${this.#text(recordOf(collection, id))}`).join(',')}}`;
  }

  #text(record: unknown): string {
    return this.#records.get(record as object) ?? canonicalize(record, WORLD_LIMITS);
  }
}

/** Where two sets of changed records differ, by content. */
export function differences(expected: ChangedRecords, actual: ChangedRecords): Difference[] {
  return union(expected, actual).flatMap((collection) => {
    const [wanted, found] = [collectionOf(expected, collection), collectionOf(actual, collection)];
    return union(wanted, found)
      .map((id) => ({
        collection,
        id,
        expected: recordOf(wanted, id),
        actual: recordOf(found, id),
      }))
      .filter(
        (pair) =>
          canonicalize(pair.expected, WORLD_LIMITS) !== canonicalize(pair.actual, WORLD_LIMITS),
      );
  });
}

function collectionOf(records: Records, name: string): Collection {
  return Object.hasOwn(records, name) ? (records[name] as Collection) : {};
}

/** Own members only: `constructor` is an id like any other. */
function recordOf(collection: Collection, id: string): unknown {
  return Object.hasOwn(collection, id) ? collection[id] : null;
}

function union(left: object, right: object): string[] {
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].sort();
}
