import { quote } from './string-text.ts';

/** The members of one shape of object, in canonical order, ready to be written. */
export interface KeyOrder {
  /** The names as the object gives them; what a lookup compares. */
  readonly keys: readonly string[];
  /** Sorted by UTF-16 code units (RFC 8785 section 3.2.3), which is how JavaScript compares strings. */
  readonly sorted: readonly string[];
  /** What stands before each value: `{"a":` for the first, `,"b":` for the others. */
  readonly leads: readonly string[];
  /** UTF-16 units of all leads: never more than their bytes. */
  readonly units: number;
}

/** Objects larger than this are dictionaries more than shapes; keeping their names would hold memory for nothing. */
const KEPT_KEYS_MAX = 64;
const SETS = 512;
/** Two ways a set: the newest shape and the one before it, so that two shapes that share a set do not evict each other. */
const kept: (KeyOrder | undefined)[] = new Array(SETS * 2).fill(undefined);

/**
 * The canonical order of these names, or undefined when one has a lone surrogate. Shapes come again and again, so the
 * last ones are kept: a hit costs a comparison of names that are nearly always the same strings in memory.
 */
export function keyOrder(keys: readonly string[]): KeyOrder | undefined {
  if (keys.length > KEPT_KEYS_MAX) return makeOrder(keys);
  const way = setOf(keys) * 2;
  const newest = kept[way];
  if (newest !== undefined && sameKeys(newest.keys, keys)) return newest;
  const older = kept[way + 1];
  if (older !== undefined && sameKeys(older.keys, keys)) return older;
  const order = makeOrder(keys);
  if (order !== undefined) {
    kept[way + 1] = newest;
    kept[way] = order;
  }
  return order;
}

function setOf(keys: readonly string[]): number {
  const first = keys[0]!;
  const last = keys[keys.length - 1]!;
  const mix =
    keys.length * 61 + first.length * 7 + first.charCodeAt(0) * 131 + last.length * 29 + last.charCodeAt(0) * 17;
  return mix & (SETS - 1);
}

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function makeOrder(keys: readonly string[]): KeyOrder | undefined {
  const sorted = keys.slice().sort();
  const leads: string[] = [];
  let units = 0;
  for (const key of sorted) {
    const quoted = quotedKey(key);
    if (quoted === undefined) return undefined;
    const lead = (leads.length === 0 ? '{' : ',') + quoted + ':';
    leads.push(lead);
    units += lead.length;
  }
  return { keys, sorted, leads, units };
}

/** Longer names are rare and would let the cache grow in bytes while it stays small in number. */
const QUOTED_LENGTH_MAX = 64;
const QUOTED_COUNT_MAX = 4_096;
const quotedKeys = new Map<string, string>();

function quotedKey(key: string): string | undefined {
  const known = quotedKeys.get(key);
  if (known !== undefined) return known;
  const quoted = quote(key);
  if (quoted === undefined || key.length > QUOTED_LENGTH_MAX) return quoted;
  if (quotedKeys.size >= QUOTED_COUNT_MAX) quotedKeys.clear();
  quotedKeys.set(key, quoted);
  return quoted;
}
