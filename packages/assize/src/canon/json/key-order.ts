import { isPlain } from './byte-text.ts';

/** The members of one shape of object, in canonical order, ready to be written. */
export interface KeyOrder {
  /** The names in the object's order, all of them plain. */
  readonly keys: readonly string[];
  /** The names by UTF-16 code units. */
  readonly sorted: readonly string[];
  /** Whether the object's order is the sorted order. */
  readonly inOrder: boolean;
  /** The bytes before each value: `{"a":` for the first, `,"b":` for the others. */
  readonly leads: readonly Uint8Array[];
}

/**
 * Larger objects are mostly dictionaries and not shapes, and longer names are rare. Caching them
 * would only cost memory.
 */
const KEYS_MAX = 64;
const KEY_LENGTH_MAX = 64;
const SETS = 256;

/**
 * Each set holds its newest shape and the previous one, so that two shapes in one set do not evict
 * each other.
 */
const kept: (KeyOrder | undefined)[] = new Array<undefined>(SETS * 2).fill(undefined);
/** A mark of the last unknown shape in each set. A shape is cached at its second occurrence. */
const strangers = new Int32Array(SETS);

/**
 * After this number of unknown shapes in a row, only every eighth object is looked up: without
 * repeated shapes, lookups are waste.
 */
const STRANGERS_MAX = 64;
let strangersInARow = 0;

/**
 * The canonical order of an object's names, if objects with the same names occurred recently.
 * Otherwise undefined. A hit costs a comparison of names that are nearly always the same strings in
 * memory.
 */
export function knownOrder(keys: readonly string[]): KeyOrder | undefined {
  if (strangersInARow > STRANGERS_MAX) {
    strangersInARow += 1;
    if ((strangersInARow & 7) !== 0) return undefined;
  }
  const set = setOf(keys);
  const order = find(keys, set);
  if (order !== undefined) {
    strangersInARow = 0;
    return order;
  }
  strangersInARow += 1;
  if (keys.length <= KEYS_MAX) meet(keys, set);
  return undefined;
}

/**
 * Sorts by UTF-16 code units (RFC 8785 section 3.2.3), the order in which JavaScript compares
 * strings.
 */
export function sortKeys(keys: string[]): void {
  // The built-in sort calls into the engine for every comparison. For few names, insertion is three
  // times as fast.
  if (keys.length > 16) keys.sort();
  else insertionSort(keys);
}

/** Whether names are in that order without duplicates. */
export function areSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if (keys[i - 1]! >= keys[i]!) return false;
  return true;
}

function insertionSort(keys: string[]): void {
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!;
    let at = i;
    while (at > 0 && keys[at - 1]! > key) {
      keys[at] = keys[at - 1]!;
      at -= 1;
    }
    keys[at] = key;
  }
}

function setOf(keys: readonly string[]): number {
  const first = keys[0]!;
  const last = keys[keys.length - 1]!;
  const mix =
    keys.length * 61 +
    first.length * 7 +
    first.charCodeAt(0) * 131 +
    last.length * 29 +
    last.charCodeAt(0) * 17;
  return mix & (SETS - 1);
}

function find(keys: readonly string[], set: number): KeyOrder | undefined {
  const newest = kept[set * 2];
  if (newest === undefined || sameKeys(newest.keys, keys)) return newest;
  const older = kept[set * 2 + 1];
  return older !== undefined && sameKeys(older.keys, keys) ? older : undefined;
}

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Marks an unknown shape, and caches a shape that is already marked. */
function meet(keys: readonly string[], set: number): void {
  const mark = markOf(keys);
  if (strangers[set] !== mark) {
    strangers[set] = mark;
    return;
  }
  const order = makeOrder(keys);
  if (order === undefined) return;
  kept[set * 2 + 1] = kept[set * 2];
  kept[set * 2] = order;
}

/** Two shapes with one mark do no harm: one is cached an occurrence too early. */
function markOf(keys: readonly string[]): number {
  let mark = keys.length;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    mark =
      (Math.imul(mark, 31) +
        key.length * 7 +
        key.charCodeAt(0) +
        key.charCodeAt(key.length - 1) * 5) |
      0;
  }
  return mark;
}

function makeOrder(keys: readonly string[]): KeyOrder | undefined {
  for (const key of keys) if (key.length > KEY_LENGTH_MAX || !isPlain(key)) return undefined;
  const sorted = keys.slice();
  sortKeys(sorted);
  const leads = sorted.map((key, i) =>
    Uint8Array.from(Buffer.from(`${i === 0 ? '{' : ','}"${key}":`)),
  );
  return { keys: keys.slice(), sorted, inOrder: sameKeys(keys, sorted), leads };
}
