import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isAssizeError, isInstance, type Json } from 'assize/internal/base';
import {
  type CanonLimits,
  issueText,
  type Misfit,
  misfitsOf,
  parseStrict,
  textPlace,
  WORLD_LIMITS,
} from 'assize/internal/canon';
import type { z } from 'zod';
import { CliError } from '../errors.ts';
import { whileBlocked } from '../terminal/interrupt.ts';
import { unreadable } from './file-faults.ts';

/**
 * A line later becomes part of an entry's payload, at a deeper level. Its size and depth limits are
 * therefore lower.
 */
const LINE_LIMITS: Partial<CanonLimits> = { depthMax: 48 };

const NEWLINE = 0x0a;

/** The JSON value of a whole file; 0 is standard input. @throws CliError */
export function readJson(path: string | 0, place: string = String(path)): Json {
  return parsed(readBytes(path, place), place, WORLD_LIMITS);
}

/** The text of a whole file. `what` and `hint`: for the message. @throws CliError */
export function readText(path: string, what?: string, hint?: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readBytes(path, what, hint));
  } catch (cause) {
    if (!isInstance(cause, TypeError)) throw cause;
    throw new CliError('bad_input', `${path} is not UTF-8 text.`, { cause });
  }
}

/**
 * Each line of a JSON Lines file, parsed by the schema.
 * @throws CliError with the line's number
 */
export function readLines<T>(path: string, schema: z.ZodType<T>): T[] {
  return linesOf(readBytes(path)).map((line, index) => {
    const place = `${path}, line ${index + 1}`;
    return checked(parsed(line, place, LINE_LIMITS), schema, place);
  });
}

/** A JSON Lines file that was read whole. Each line is parsed on request. */
export interface LinesFile<T> {
  /** SHA-256 of the file's bytes. */
  readonly hash: string;
  readonly length: number;
  /**
   * The line with this number, from 1, parsed by the schema.
   * @throws CliError with the line's number
   */
  readonly line: (number: number) => T;
  /** The line's name in messages. */
  readonly at: (number: number) => string;
}

/** 0 is standard input. @throws CliError */
export function openLines<T>(
  path: string | 0,
  schema: z.ZodType<T>,
  place: string = String(path),
): LinesFile<T> {
  const bytes = readBytes(path, place);
  const lines = linesOf(bytes);
  const at = (number: number): string => `${place}, line ${number}`;
  return {
    hash: createHash('sha256').update(bytes).digest('hex'),
    length: lines.length,
    line: (number) =>
      checked(parsed(lines[number - 1] as Buffer, at(number), LINE_LIMITS), schema, at(number)),
    at,
  };
}

/**
 * The value, parsed by the schema.
 * @throws CliError with the path inside the value
 */
export function checked<T>(value: unknown, schema: z.ZodType<T>, place: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const findings = misfitsOf(result.error);
  const [{ pointer }] = findings as [Misfit];
  const text = issueText(result.error);
  throw new CliError('bad_input', `${place}${pointer === '' ? ': ' : ', '}${text}.`, {
    evidence: { pointer, findings },
  });
}

/** A parsed value. An error of the parser names the place. @throws CliError `bad_input` */
export function parsedAt<T>(place: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    if (!isAssizeError(cause)) throw cause;
    throw new CliError('bad_input', `${place}: ${cause.message}`, { cause });
  }
}

/** The bytes of a whole file; 0 is standard input. @throws CliError */
export function readBytes(path: string | 0, what: string = String(path), hint?: string): Buffer {
  try {
    return whileBlocked(() => readFileSync(path));
  } catch (cause) {
    throw unreadable(what, cause, hint === undefined ? {} : { path: String(path), hint });
  }
}

function parsed(bytes: Uint8Array, place: string, limits: Partial<CanonLimits>): Json {
  try {
    return parseStrict(bytes, limits);
  } catch (cause) {
    if (!isAssizeError(cause)) throw cause;
    const what = cause.code === 'syntax' ? 'is not JSON' : 'is not accepted';
    throw new CliError('bad_input', `${place} ${what}${textPlace(cause)}: ${cause.message}`, {
      cause,
    });
  }
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, start);
    lines.push(bytes.subarray(start, end === -1 ? bytes.length : end));
    start = end === -1 ? bytes.length : end + 1;
  }
  return lines;
}

/** The first lines up to the given number, at least one, as the subject of a sentence. */
export function linesTo(last: number): string {
  return last === 1 ? 'Line 1 was' : `Lines 1 to ${last} were`;
}
