import { arg, checkArgument, type Json } from '#base';
import { CanonError } from './canon-error.ts';
import { JsonReader } from './json-reader.ts';
import { type CanonLimits, completeLimits } from './limits.ts';

/**
 * The value of a JSON text from outside (RFC 8259, restricted to I-JSON, RFC 7493), or bytes of
 * UTF-8. −0 is read as 0. Refuses text that two readers could read differently: duplicate names,
 * also hidden by an escape, a byte order mark, invalid UTF-8, lone surrogates, integers that a
 * double cannot hold.
 *
 * @throws CanonError with offset, line, column and pointer; limits apply to the original text.
 * ArgumentError `bad_argument`.
 */
export function parseStrict(text: string | Uint8Array, limits?: Partial<CanonLimits>): Json {
  const settings = completeLimits(limits);
  checkArgument(arg.textOrBytes, text, 'text');
  const bytes = typeof text === 'string' ? byteLength(text, settings.bytesMax) : text.byteLength;
  if (bytes > settings.bytesMax) throw tooLarge(bytes, settings.bytesMax);
  const source = typeof text === 'string' ? text : decode(text);
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    // The reader reports the fault and its place. This parser reports it only in passing.
    return new JsonReader(source, settings).read();
  }
  return isStrict(source, value, settings)
    ? (value as Json)
    : new JsonReader(source, settings).read();
}

/** The size in bytes, or the number of units if that decides it. */
function byteLength(text: string, bytesMax: number): number {
  return text.length > bytesMax || text.length * 3 <= bytesMax
    ? text.length
    : Buffer.byteLength(text);
}

function tooLarge(bytes: number, bytesMax: number): CanonError {
  return new CanonError(
    'too_large',
    '',
    `The text has more than ${bytesMax} bytes. Pass less, or raise bytesMax.`,
    {
      evidence: { bytes },
    },
  );
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw new CanonError('bad_input', '', 'The bytes are not UTF-8. Encode the text as UTF-8.', {
      evidence: { offset: invalidOffset(bytes) },
      cause,
    });
  }
}

/** The first byte that a lenient decoder does not reproduce. */
function invalidOffset(bytes: Uint8Array): number {
  const again = new TextEncoder().encode(
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes),
  );
  let offset = 0;
  while (offset < bytes.length && bytes[offset] === again[offset]) offset += 1;
  return offset;
}

const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;

/**
 * Whether the result of `JSON.parse` equals the reader's result. False if this is not certain.
 * `JSON.parse` keeps one of two members with one name, so a text without duplicates has the same
 * number of names as its value has members. Names with escapes are left to the reader: V8 can
 * confuse them with earlier names (nodejs/node#63785).
 */
function isStrict(text: string, value: unknown, limits: CanonLimits): boolean {
  if (!text.isWellFormed() || ESCAPED_SURROGATE.test(text)) return false;
  const census: Census = {
    members: 0,
    nodes: limits.nodesMax,
    anyInteger: limits.integers === 'any',
  };
  return (
    takeCensus(value, census, limits.depthMax) &&
    census.nodes >= 0 &&
    census.members === countNames(text)
  );
}

interface Census {
  members: number;
  nodes: number;
  readonly anyInteger: boolean;
}

/** Counts. Returns false for a value that the reader must check. */
function takeCensus(value: unknown, census: Census, depth: number): boolean {
  census.nodes -= 1;
  if (typeof value === 'number') return isPlainNumber(value, census.anyInteger);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  if (inner !== value) census.members += inner.length;
  for (let i = 0; i < inner.length; i++) if (!takeCensus(inner[i], census, depth - 1)) return false;
  return true;
}

function isPlainNumber(value: number, anyInteger: boolean): boolean {
  if (value === 0) return Object.is(value, 0);
  if (value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER) return true;
  return anyInteger && Number.isFinite(value);
}

/**
 * Number of strings in a valid JSON text that are names, that is, precede a colon. −1 if one of
 * them has an escape.
 */
function countNames(text: string): number {
  // A regular expression, because V8 moves `text.includes` into the loop, and would search the
  // whole text at each name.
  const escapes = /\\/.test(text);
  let names = 0;
  let open = text.indexOf('"');
  while (open !== -1) {
    let close = text.indexOf('"', open + 1);
    while (escapes && isEscaped(text, close)) close = text.indexOf('"', close + 1);
    let next = close + 1;
    while (isWhitespace(text.charCodeAt(next))) next += 1;
    if (text.charCodeAt(next) === 0x3a) {
      if (escapes && text.slice(open, close).includes('\\')) return -1;
      names += 1;
    }
    open = text.indexOf('"', next);
  }
  return names;
}

/** True if an odd number of backslashes precedes the place. */
function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text.charCodeAt(start - 1) === 0x5c) start -= 1;
  return (at - start) % 2 === 1;
}

function isWhitespace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}
