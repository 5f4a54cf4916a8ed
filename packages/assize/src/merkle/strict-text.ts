import { HASH_BYTES } from './hash.ts';
import { SIZE_MAX } from './size.ts';

/*
 * The basic forms of C2SP's texts. Each is accepted only in its written form, so a text has one
 * spelling: one different byte makes another text or an invalid one.
 */

const DECIMAL = /^(?:0|[1-9][0-9]{0,19})$/;
const HASH_CHARS = 4 * Math.ceil(HASH_BYTES / 3);
/** Below U+0020, except the newline. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const CONTROL = /[\0-\x09\x0b-\x1f]/;

/**
 * A whole number from 0 to 2^64-1 in decimal, without a leading zero. Undefined for any other text.
 */
export function readDecimal(text: string): bigint | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const value = BigInt(text);
  return value <= SIZE_MAX ? value : undefined;
}

/**
 * The bytes of standard Base64 (RFC 4648 section 4) with its padding and no other bits. Undefined
 * for any other text.
 */
export function readBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

export function writeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** 32 bytes in Base64. Undefined for any other text. */
export function readHash(text: string): Uint8Array | undefined {
  return text.length === HASH_CHARS ? sized(readBase64(text)) : undefined;
}

/**
 * True for text that has UTF-8 bytes and, of the control characters, newlines only
 * (c2sp.org/signed-note, Format).
 */
export function isNoteText(text: unknown): text is string {
  return typeof text === 'string' && text.isWellFormed() && !CONTROL.test(text);
}

/**
 * The text of bytes or of a string of any origin, or its fault: too long, not UTF-8, control
 * characters. Nothing is dropped: a byte order mark stays in the text.
 */
export function readText(
  source: unknown,
  bytesMax: number,
): { text: string } | { problem: string } {
  const text = source instanceof Uint8Array ? decoded(source, bytesMax) : source;
  if (typeof text !== 'string' || text.length > bytesMax || Buffer.byteLength(text) > bytesMax) {
    return { problem: `it is not UTF-8 text of at most ${bytesMax} bytes` };
  }
  if (!isNoteText(text))
    return { problem: 'it has control characters, or half of a surrogate pair' };
  return { text };
}

function decoded(bytes: Uint8Array, bytesMax: number): string | undefined {
  if (bytes.length > bytesMax) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function sized(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes?.length === HASH_BYTES ? bytes : undefined;
}
