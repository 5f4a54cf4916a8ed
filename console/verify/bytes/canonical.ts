import { utf8 } from './text.ts';

/** The bounds of a canonical text (ledger reference, section 1). */
export interface Limits {
  readonly depth: number;
  readonly bytes: number;
  readonly values: number;
}

export const PAYLOAD: Limits = { depth: 64, bytes: 1_048_576, values: 262_144 };
export const BLOB: Limits = { depth: 64, bytes: 268_435_456, values: 100_000_000 };
export const LINE: Limits = { depth: 65, bytes: 268_435_656, values: 100_000_000 };

/**
 * A value that has no canonical text, or a text that is not canonical. The message is a predicate.
 */
export class NotCanonical extends Error {}

const SAFE = Number.MAX_SAFE_INTEGER;

/** The value of a canonical text. @throws NotCanonical */
export function readCanonical(text: string, limits: Limits): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new NotCanonical('is not JSON');
  }
  const writer = new Writer(limits);
  if (writer.write(value, limits.depth) !== text)
    throw new NotCanonical('is not in its canonical form');
  // A character has three bytes at most.
  if (text.length * 3 > limits.bytes && utf8(text).length > limits.bytes)
    throw new NotCanonical('is too long');
  return value;
}

/** The canonical text of a value of JSON. @throws NotCanonical */
export function canonicalOf(value: unknown): string {
  return new Writer(LINE).write(value, LINE.depth);
}

/** Whether two values of JSON are the same; undefined stands for an absent member. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a === b || canonicalOf(a) === canonicalOf(b);
}

class Writer {
  readonly #limits: Limits;
  #values = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  write(value: unknown, depth: number): string {
    this.#values += 1;
    if (this.#values > this.#limits.values) throw new NotCanonical('has too many values');
    if (typeof value === 'string') return textOf(value);
    if (typeof value === 'number') return numberOf(value);
    if (typeof value !== 'object' || value === null) return String(value);
    if (depth === 0) throw new NotCanonical('is nested too deeply');
    if (Array.isArray(value))
      return `[${value.map((item) => this.write(item, depth - 1)).join(',')}]`;
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, item]) => `${textOf(name)}:${this.write(item, depth - 1)}`).join(',')}}`;
  }
}

/**
 * `JSON.stringify` has just the escapes of the canonical form, and one more for lone surrogates.
 */
function textOf(text: string): string {
  if (!text.isWellFormed()) throw new NotCanonical('has a lone surrogate');
  return JSON.stringify(text);
}

function numberOf(value: number): string {
  if (!(Math.abs(value) <= SAFE)) throw new NotCanonical('has a number beyond 2^53-1');
  return JSON.stringify(value);
}
