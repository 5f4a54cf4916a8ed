import { AssizeError, form, type Json, requireForm } from '#base';
import { canonicalize, contentHash, parseCanonical } from '#canon';
import { OracleError } from './errors.ts';
import { ORACLE_LIMITS } from './question.ts';
import type { OracleStore } from './store.ts';

/** A call that was made for a question, and whose outcome is not the answer. */
export interface Attempt {
  /** When that was known. */
  readonly at: string;
  /**
   * `failed`: the call threw; `refused`: what it answered is none that the question has; `superseded`: somebody else's answer to the same
   * question was in the log first, and is the answer; `erased`: an entry has erased what it was.
   */
  readonly outcome: 'failed' | 'refused' | 'superseded' | 'erased';
  /** What was superseded. What was refused is not kept, but by an earlier version: a model may have said anything there, of anybody. */
  readonly answer?: Json;
  /** UTF-16 units of the canonical text of what was refused, where that is JSON. */
  readonly length?: number;
  /**
   * What was thrown, or why it was refused: its `code`, where it is an error of this package, and how many UTF-16 units its message has. The
   * message may quote what was asked, and is told to who asked alone; only an earlier version has kept it.
   */
  readonly error?: { readonly code?: string; readonly length?: number; readonly message?: string };
}

/** A question, and what its answers are listed by. */
export interface Asked {
  readonly key: string;
  readonly within: string;
}

/** The first so many attempts at a question are kept: who asks again and again fills no store. */
export const ATTEMPTS_KEPT = 32;

/**
 * The attempts at a question that were kept (`Asking.keepAttempts`), the first 32, in the order in which they were; those that led to the
 * answer are not among them. An earlier version kept more of them, with messages and answers.
 *
 * @throws OracleError `oracle_corrupt`; ArgumentError `bad_argument`
 */
export async function attemptsOf(store: OracleStore, key: string): Promise<readonly Attempt[]> {
  requireForm(STORE, store, 'store');
  requireForm(KEY, key, 'key');
  const attempts: Attempt[] = [];
  for (let n = 0; ; n++) {
    const at = attemptKey(key, n);
    const row = await store.oracleGet(at);
    if (row === undefined) return attempts;
    attempts.push({ at: row.at, ...(row.erased_by === undefined ? attemptIn(at, row.answer) : ERASED) });
  }
}

/**
 * The keys of all that the log has of a question: of the answer first, then of attempts at it. What was erased is not among them.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function recordedUnder(store: Pick<OracleStore, 'oracleGet'>, key: string): Promise<readonly string[]> {
  requireForm(form.members({ oracleGet: form.code }), store, 'store');
  requireForm(KEY, key, 'key');
  const keys: string[] = [];
  const answer = await store.oracleGet(key);
  if (answer !== undefined && answer.erased_by === undefined) keys.push(key);
  for (let n = 0; ; n++) {
    const at = attemptKey(key, n);
    const row = await store.oracleGet(at);
    if (row === undefined) return keys;
    if (row.erased_by === undefined) keys.push(at);
  }
}

/**
 * Each under a key of its own, made of its number: insert-if-absent gives each its place, whoever else is at it, and there are no more
 * places than `ATTEMPTS_KEPT`. Of a question whose answer was erased nothing is kept.
 */
export async function keepAttempt(
  store: OracleStore,
  { key, within }: Asked,
  { at, ...attempt }: Attempt,
): Promise<void> {
  if ((await store.oracleGet(key))?.erased_by !== undefined) return;
  const answer = canonicalize(attempt as unknown as Json, ORACLE_LIMITS);
  for (let n = await firstFree(store, key); n < ATTEMPTS_KEPT; n++) {
    const place = attemptKey(key, n);
    const there = await store.oraclePut({ key: place, answer, at }, within);
    if (there.answer === answer && there.at === at) return;
  }
}

/** What is known of an error, as an attempt has it. */
export function faultOf(error: unknown): NonNullable<Attempt['error']> {
  const length = error instanceof Error ? error.message.length : 0;
  return error instanceof AssizeError && CODE.test(error.code) ? { code: error.code, length } : { length };
}

/** There are no gaps, so that it is found without looking at all. */
async function firstFree(store: OracleStore, key: string): Promise<number> {
  const isThere = async (n: number): Promise<boolean> => (await store.oracleGet(attemptKey(key, n))) !== undefined;
  let high = 0;
  while (await isThere(high)) high = 2 * high + 1;
  let low = Math.floor(high / 2);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isThere(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** No question has it: those have a scope. */
function attemptKey(key: string, n: number): string {
  return contentHash({ attempt: n, of: key });
}

/** As codes of this package are. */
const CODE = /^[a-z][a-z0-9_]{0,63}$/;
const ERASED = { outcome: 'erased' } as const;
const KEY = form.of('64 hex digits', (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value));
const STORE = form.members({ oracleGet: form.code, oraclePut: form.code });
const ATTEMPT = form.members({ outcome: form.text, error: form.optional(form.object) });

function attemptIn(key: string, text: string): Omit<Attempt, 'at'> {
  try {
    const attempt = parseCanonical(text, ORACLE_LIMITS);
    requireForm(ATTEMPT, attempt, 'attempt');
    return attempt as unknown as Omit<Attempt, 'at'>;
  } catch (cause) {
    if (!(cause instanceof AssizeError)) throw cause;
    throw new OracleError('oracle_corrupt', `The store does not hold an attempt under ${key}.`, {
      evidence: { key },
      cause,
    });
  }
}
