import { isDeepStrictEqual } from 'node:util';
import { defineOwn, type Json } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';

/** The member that marks a value that JSON has no form for, with its kind. */
const KIND = '$';
/** Above the size of every result that the ledger keeps. */
const BYTES_MAX = 64 * 1_048_576;
const DEPTH_MAX = 500;

/**
 * A value as JSON from which `ofPlain` makes an equal one. JSON stays as it is. Dates, maps, sets,
 * bytes, addresses, big and special numbers and undefined are marked.
 *
 * Undefined for any other value: functions, objects of other classes, circles, texts with half
 * characters.
 */
export function toPlain(value: unknown): Json | undefined {
  try {
    const plain = marked(value, 0);
    canonicalize(plain, { bytesMax: BYTES_MAX });
    return isDeepStrictEqual(ofPlain(plain), value) ? plain : undefined;
  } catch {
    return undefined;
  }
}

/** The value that `toPlain` was given. */
export function ofPlain(plain: Json): unknown {
  if (typeof plain !== 'object' || plain === null) return plain;
  if (Array.isArray(plain)) return plain.map(ofPlain);
  const { [KIND]: kind, of } = plain as { readonly [member: string]: Json };
  return kind === undefined ? record(plain as Members) : unmarked(String(kind), of as Json);
}

type Members = { readonly [member: string]: Json };

function marked(value: unknown, depth: number): Json {
  if (depth > DEPTH_MAX) throw new RangeError('too deep');
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number')
    return isPlainNumber(value) ? value : mark('number', numberText(value));
  if (value === undefined) return { [KIND]: 'undefined' };
  if (typeof value === 'bigint') return mark('bigint', String(value));
  if (Array.isArray(value)) return value.map((item) => marked(item, depth + 1));
  if (value instanceof Date) return mark('date', value.getTime());
  if (value instanceof URL) return mark('url', value.href);
  if (value instanceof Map) return mark('map', marked([...value], depth + 1));
  if (value instanceof Set) return mark('set', marked([...value], depth + 1));
  if (value instanceof Uint8Array) return mark('bytes', Buffer.from(value).toString('base64'));
  if (typeof value !== 'object') throw new TypeError('no value of data');
  const members: Record<string, Json> = {};
  for (const [name, member] of Object.entries(value))
    defineOwn(members, name, marked(member, depth + 1));
  return Object.hasOwn(members, KIND) ? mark('object', members) : members;
}

function mark(kind: string, of: Json): Json {
  return { [KIND]: kind, of };
}

function unmarked(kind: string, of: Json): unknown {
  switch (kind) {
    case 'number':
      return of === '-0' ? -0 : Number(of);
    case 'bigint':
      return BigInt(String(of));
    case 'date':
      return new Date(Number(of));
    case 'url':
      return new URL(String(of));
    case 'map':
      return new Map(ofPlain(of) as [unknown, unknown][]);
    case 'set':
      return new Set(ofPlain(of) as unknown[]);
    case 'bytes':
      return new Uint8Array(Buffer.from(String(of), 'base64'));
    case 'object':
      return record(of as Members);
    default:
      return undefined;
  }
}

function record(members: Members): object {
  const found = {};
  for (const [name, member] of Object.entries(members)) defineOwn(found, name, ofPlain(member));
  return found;
}

function isPlainNumber(value: number): boolean {
  if (Number.isInteger(value)) return Number.isSafeInteger(value) && !Object.is(value, -0);
  return Number.isFinite(value);
}

function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}
