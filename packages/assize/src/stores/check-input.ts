import { type ArgumentRefusal, type ArgumentSchema, arg, checkArgument } from '#base';
import { isHash } from '#ledger';
import { StoreError } from './errors.ts';

const refusal: ArgumentRefusal = (message, details) =>
  new StoreError('store_invalid_input', message, details);

/** Throws `store_invalid_input` unless the argument has the form. */
export function checkInput(of: ArgumentSchema, value: unknown, argument: string): void {
  checkArgument(of, value, argument, refusal);
}

// These two forms are functions and no `arg.of`, because each row of an append has several of them.

const NO_HASH = { at: '', wanted: '64 lower-case hex digits' };
export const HASH: ArgumentSchema = (value) => (isHash(value) ? undefined : NO_HASH);

const NO_TEXT = { at: '', wanted: 'well-formed text without NUL' };
// A lone surrogate has no UTF-8 bytes, so a database would store another character instead.
// PostgreSQL has no NUL in text, so a ledger with NUL could not move to PostgreSQL. Canonical text
// has neither.
export const TEXT: ArgumentSchema = (value) =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0') ? undefined : NO_TEXT;

/** A count from 1: an epoch, a fence, a version, or the size of a page. */
export const POSITIVE = arg.wholeFrom(1);

export const SIGNAL = arg.optional(
  arg.of('an AbortSignal', (value) => value instanceof AbortSignal),
);
