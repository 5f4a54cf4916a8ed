import { isDeepStrictEqual } from 'node:util';
import type { Json } from '#base';
import { canonicalize } from '#canon';

/** Above the size of every result that the ledger keeps. */
const BYTES_MAX = 64 * 1_048_576;

/** The member that marks a value which JSON does not have. */
const TAG = '$';

/**
 * A value as JSON, from which `fromPlainJson` makes an equal one. It may have undefined, big
 * numbers, dates, maps, sets and bytes. Undefined for a value with functions, objects of other
 * classes, circles, or text that no ledger can hold.
 */
export function toPlainJson(value: unknown): Json | undefined {
  try {
    const json = encoded(value);
    canonicalize(json, { bytesMax: BYTES_MAX });
    return isDeepStrictEqual(fromPlainJson(json), value) ? json : undefined;
  } catch {
    return undefined;
  }
}

/** The value that `toPlainJson` was given. */
export function fromPlainJson(json: Json): unknown {
  if (Array.isArray(json)) return json.map(fromPlainJson);
  if (typeof json !== 'object' || json === null) return json;
  const { [TAG]: tag, of } = json as { readonly [member: string]: Json };
  if (typeof tag === 'string') return decoded(tag, of as Json);
  return Object.fromEntries(Object.entries(json).map(([key, item]) => [key, fromPlainJson(item)]));
}

function encoded(value: unknown): Json {
  if (value === undefined) return { [TAG]: 'undefined' };
  if (typeof value === 'bigint') return { [TAG]: 'bigint', of: String(value) };
  if (typeof value === 'number' && isUnwritable(value)) return { [TAG]: 'number', of: numberText(value) };
  if (Array.isArray(value)) return value.map(encoded);
  if (value instanceof Date) return { [TAG]: 'date', of: value.toISOString() };
  if (value instanceof Map) return { [TAG]: 'map', of: encoded([...value]) };
  if (value instanceof Set) return { [TAG]: 'set', of: encoded([...value]) };
  if (value instanceof Uint8Array) return { [TAG]: 'bytes', of: Buffer.from(value).toString('base64') };
  if (typeof value !== 'object' || value === null) return value as Json;
  const entries = Object.entries(value).map(([key, item]) => [key, encoded(item)] as const);
  return Object.hasOwn(value, TAG) ? { [TAG]: 'object', of: entries as unknown as Json } : Object.fromEntries(entries);
}

function decoded(tag: string, of: Json): unknown {
  if (tag === 'bigint') return BigInt(of as string);
  if (tag === 'number') return Number(of);
  if (tag === 'date') return new Date(of as string);
  if (tag === 'map') return new Map(fromPlainJson(of) as [unknown, unknown][]);
  if (tag === 'set') return new Set(fromPlainJson(of) as unknown[]);
  if (tag === 'bytes') return new Uint8Array(Buffer.from(of as string, 'base64'));
  if (tag === 'object')
    return Object.fromEntries((of as [string, Json][]).map(([key, item]) => [key, fromPlainJson(item)]));
  return undefined;
}

function isUnwritable(value: number): boolean {
  return !Number.isFinite(value) || Object.is(value, -0);
}

function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}
