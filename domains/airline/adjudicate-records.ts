import { canonicalize, hashText, WORLD_LIMITS } from 'assize/canon';
import type { AirlineRecords } from './initial.ts';

type Collection = keyof AirlineRecords;
type Records = Readonly<Record<string, unknown>>;

/** In the order of their names, which is the order of canonical text. */
const COLLECTIONS: readonly Collection[] = ['flights', 'reservations', 'users'];

/** Records that differ from the initial ones: `{collection: {id: record}}`, null where a record is gone. */
export type ChangedRecords = Readonly<Record<string, Records>>;

/** A record that is not what was expected; null where there is none. */
export interface Difference {
  readonly collection: string;
  readonly id: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/**
 * Hashes and compares states that share most records with an initial one. A hundred branches of one database differ in
 * a handful of its 2,800 records, and what a branch does not change is the very object it began with; so the canonical
 * text of those objects is made once. Nothing else is remembered: a record that a branch owns may still be changed in
 * place, an initial one never is.
 */
export class RecordTexts {
  readonly #initial: AirlineRecords;
  readonly #records = new Map<object, string>();
  readonly #collections = new Map<object, string>();
  readonly #hashes = new Map<string, string>();

  constructor(initial: AirlineRecords) {
    this.#initial = initial;
    for (const name of COLLECTIONS) {
      const collection = initial[name];
      for (const record of Object.values(collection)) this.#records.set(record, canonicalize(record, WORLD_LIMITS));
      this.#collections.set(collection, this.#join(collection));
    }
  }

  /** The content hash of `{flights, reservations, users}`. */
  hash(state: AirlineRecords): string {
    // What changed says which state it is, and many runs end in the same one.
    const difference = canonicalize(this.changed(state), WORLD_LIMITS);
    let hash = this.#hashes.get(difference);
    if (hash === undefined) {
      hash = hashText(this.#whole(state));
      this.#hashes.set(difference, hash);
    }
    return hash;
  }

  /** Every record that differs from the initial one of its id, by content. */
  changed(state: AirlineRecords): ChangedRecords {
    const changed: Record<string, Records> = {};
    for (const name of COLLECTIONS) {
      const [before, after] = [this.#initial[name] as Records, state[name] as Records];
      if (before === after) continue;
      const ids = new Set([...Object.keys(before), ...Object.keys(after)]);
      const differing = [...ids].filter((id) => this.#text(recordOf(before, id)) !== this.#text(recordOf(after, id)));
      if (differing.length === 0) continue;
      changed[name] = Object.fromEntries(differing.map((id) => [id, recordOf(after, id)]));
    }
    return changed;
  }

  #whole(state: AirlineRecords): string {
    const members = COLLECTIONS.map((name) => {
      const collection = state[name];
      return `"${name}":${this.#collections.get(collection) ?? this.#join(collection)}`;
    });
    return `{${members.join(',')}}`;
  }

  #join(collection: Records): string {
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
    const [wanted, found] = [membersOf(expected, collection), membersOf(actual, collection)];
    return union(wanted, found)
      .map((id) => ({ collection, id, expected: recordOf(wanted, id), actual: recordOf(found, id) }))
      .filter((pair) => canonicalize(pair.expected, WORLD_LIMITS) !== canonicalize(pair.actual, WORLD_LIMITS));
  });
}

function membersOf(changed: ChangedRecords, collection: string): Records {
  return Object.hasOwn(changed, collection) ? (changed[collection] as Records) : {};
}

/** Own members only: `constructor` is an id like any other. */
function recordOf(records: Records, id: string): unknown {
  return Object.hasOwn(records, id) ? records[id] : null;
}

function union(left: object, right: object): string[] {
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].sort();
}
