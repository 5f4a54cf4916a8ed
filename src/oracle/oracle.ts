import { AssizeError, canonicalize, form, hashText, type Json, parseCanonical, requireForm } from '#canon';
import type { Clock } from './clock.ts';
import { OracleError } from './errors.ts';
import { type FullQuestion, fullQuestion, hashQuestion, ORACLE_LIMITS, type Question } from './question.ts';
import type { OracleRow, OracleStore } from './store.ts';

/** A question with the way to answer it when the log has no answer yet. */
export interface Asking extends Question {
  /** Asks the outside world. Called at most once at a time per question and process, and never in replay. */
  readonly call: () => Json | Promise<Json>;
}

/** An answer as an observation records it. */
export interface OracleAnswer {
  readonly value: Json;
  /** The question's key, 64 hex digits. */
  readonly oracle_key: string;
  /** SHA-256 of the answer's canonical text, 64 hex digits. */
  readonly hash: string;
}

/** The one record of nondeterminism (DESIGN §8). */
export interface Oracle {
  readonly mode: 'record' | 'replay';
  /**
   * The answer to a question: from the log, or else from `call`, in which case it is in the log before it is returned.
   * Everyone who asks the same gets the same answer: in one process while a call is under way, and across processes, where
   * what the store holds afterwards wins. Each asker gets a copy of its own. When `call` or the store fails, nothing was
   * recorded, everyone who waits gets that error, and the next asker calls again.
   * @throws OracleError `oracle_miss` (replay only), `bad_question`, `bad_answer`, `oracle_corrupt`; what `call` throws
   */
  ask(asking: Asking): Promise<Json>;
  /** As `ask`, with the key and hash that an observation needs. */
  consult(asking: Asking): Promise<OracleAnswer>;
}

export interface OracleOptions {
  readonly store: OracleStore;
  /** Stamps new rows; not read in replay. */
  readonly clock: Clock;
  /** `replay` never calls and never writes: what is not in the log is an error. */
  readonly mode: 'record' | 'replay';
}

const ORACLE_OPTIONS = form.members({ store: form.object, clock: form.object, mode: form.text });

/** @throws ArgumentError `bad_argument` */
export function createOracle(options: OracleOptions): Oracle {
  requireForm(ORACLE_OPTIONS, options, 'options');
  const { store, clock, mode } = options;
  const underWay = new Map<string, Promise<string>>();

  const settle = async (key: string, question: FullQuestion, call: Asking['call']): Promise<string> => {
    const known = await store.oracleGet(key);
    if (known !== undefined) return answerText(key, known);
    if (mode === 'replay') throw miss(key, question);
    const answer = canonicalAnswer(key, await call());
    return answerText(key, await store.oraclePut({ key, answer, at: clock.now() }));
  };

  const consult = async (asking: Asking): Promise<OracleAnswer> => {
    requireForm(form.members({ call: form.code }), asking, 'asking');
    const { call, ...asked } = asking;
    const question = fullQuestion(asked);
    const key = hashQuestion(question);
    let pending = underWay.get(key);
    if (pending === undefined) {
      pending = settle(key, question, call).finally(() => underWay.delete(key));
      underWay.set(key, pending);
    }
    const text = await pending;
    return { value: parseCanonical(text, ORACLE_LIMITS), oracle_key: key, hash: hashText(text) };
  };

  return { mode, consult, ask: async (asking) => (await consult(asking)).value };
}

function canonicalAnswer(key: string, answer: Json): string {
  try {
    return canonicalize(answer, ORACLE_LIMITS);
  } catch (cause) {
    if (!(cause instanceof AssizeError)) throw cause;
    throw new OracleError('bad_answer', `The answer is not JSON and was not recorded. ${cause.message}`, {
      cause,
      evidence: { key, ...cause.evidence },
    });
  }
}

/** The text of a row, which must be that key's and canonical: what a store gives back is not taken on trust. */
function answerText(key: string, row: OracleRow): string {
  if (row.key !== key) throw corrupt(key);
  try {
    parseCanonical(row.answer, ORACLE_LIMITS);
  } catch (cause) {
    if (cause instanceof AssizeError) throw corrupt(key, cause);
    throw cause;
  }
  return row.answer;
}

function corrupt(key: string, cause?: AssizeError): OracleError {
  return new OracleError('oracle_corrupt', `The store does not hold a canonical answer under ${key}.`, {
    evidence: { key },
    ...(cause === undefined ? {} : { cause }),
  });
}

function miss(key: string, { scope, request, theta }: FullQuestion): OracleError {
  const message = `The oracle log has no answer to ${canonicalize(request, ORACLE_LIMITS).slice(0, 200)} in scope ${canonicalize(scope)}; a replay never asks.`;
  return new OracleError('oracle_miss', message, { evidence: { key, scope, request, theta } });
}
