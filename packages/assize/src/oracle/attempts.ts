import { AssizeError, arg, checkArgument, errorMessage, isInstance, type Json } from '#base';
import { canonicalize, contentHash, parseCanonical } from '#canon';
import { OracleError } from './errors.ts';
import { ORACLE_LIMITS } from './question.ts';
import type { OracleStore } from './store.ts';

/** A call for a question with a result that is not the answer. */
export interface Attempt {
  /** The time at which the outcome was known. */
  readonly at: string;
  /**
   * `failed`: the call threw. `refused`: the question does not accept the result. `superseded`:
   * another caller's answer was in the log first, and is the answer. `erased`: an entry has erased
   * the attempt.
   */
  readonly outcome: 'failed' | 'refused' | 'superseded' | 'erased';
  /**
   * The superseded answer. A refused answer is stored only by an earlier version: a model may have
   * written anything there, about any person.
   */
  readonly answer?: Json;
  /** UTF-16 units of the canonical text of a refused answer, if it is JSON. */
  readonly length?: number;
  /**
   * The thrown error or the reason of the refusal: its `code`, for an error of this package, and
   * the length of its message in UTF-16 units. The message may quote the question, so only the
   * caller receives it. Only an earlier version stored it.
   */
  readonly error?: { readonly code?: string; readonly length?: number; readonly message?: string };
}

/** A question, and the key of the list of its answers. */
export interface ListedQuestion {
  readonly key: string;
  readonly within: string;
}

/** Maximum number of stored attempts per question, so that repeated calls cannot fill a store. */
export const ATTEMPTS_KEPT = 32;

/**
 * The stored attempts at a question (`Asking.keepAttempts`), the first 32, in order. The attempts
 * that led to the answer are excluded. An earlier version stored more of them, with messages and
 * answers.
 *
 * @throws OracleError `damaged`; ArgumentError `bad_argument`
 */
export async function attemptsOf(store: OracleStore, key: string): Promise<readonly Attempt[]> {
  checkArgument(STORE, store, 'store');
  checkArgument(KEY, key, 'key');
  const attempts: Attempt[] = [];
  for (let n = 0; ; n++) {
    const at = attemptKey(key, n);
    const row = await store.oracleGet(at);
    if (row === undefined) return attempts;
    attempts.push({
      at: row.at,
      ...(row.erased_by === undefined ? attemptIn(at, row.answer) : ERASED),
    });
  }
}

/**
 * The keys of all log rows of a question: the answer first, then the attempts. Erased rows are
 * excluded.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function recordedUnder(
  store: Pick<OracleStore, 'oracleGet'>,
  key: string,
): Promise<readonly string[]> {
  checkArgument(arg.members({ oracleGet: arg.code }), store, 'store');
  checkArgument(KEY, key, 'key');
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
 * Each attempt has its own key, derived from its number. Insert-if-absent gives each concurrent
 * attempt its own number, up to `ATTEMPTS_KEPT`. If the answer was erased, no attempt is stored.
 */
export async function keepAttempt(
  store: OracleStore,
  { key, within }: ListedQuestion,
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

/** The recorded facts about an error, as an attempt holds them. */
export function faultOf(error: unknown): NonNullable<Attempt['error']> {
  const length = errorMessage(error)?.length ?? 0;
  return isInstance(error, AssizeError) && CODE.test(error.reason)
    ? { code: error.reason, length }
    : { length };
}

/** There are no gaps, so a partial search finds it. */
async function firstFree(store: OracleStore, key: string): Promise<number> {
  const isThere = async (n: number): Promise<boolean> =>
    (await store.oracleGet(attemptKey(key, n))) !== undefined;
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

/** No question has this key: questions have a scope. */
function attemptKey(key: string, n: number): string {
  return contentHash({ attempt: n, of: key });
}

/** The form of this package's error codes. */
const CODE = /^[a-z][a-z0-9_]{0,63}$/;
const ERASED = { outcome: 'erased' } as const;
const KEY = arg.of(
  '64 hex digits',
  (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
);
const STORE = arg.members({ oracleGet: arg.code, oraclePut: arg.code });
const ATTEMPT = arg.members({ outcome: arg.text, error: arg.optional(arg.object) });

function attemptIn(key: string, text: string): Omit<Attempt, 'at'> {
  try {
    const attempt = parseCanonical(text, ORACLE_LIMITS);
    checkArgument(ATTEMPT, attempt, 'attempt');
    return attempt as unknown as Omit<Attempt, 'at'>;
  } catch (cause) {
    if (!isInstance(cause, AssizeError)) throw cause;
    throw new OracleError(
      'damaged',
      `The stored value under ${key} is not an attempt. Restore the store from a backup.`,
      {
        evidence: { key },
        cause,
      },
    );
  }
}
