import {
  AssizeError,
  arg,
  checkArgument,
  isAssizeError,
  isInstance,
  type Json,
  markOwnPackage,
  refuseDuplicatePackage,
  toError,
} from '#base';
import { canonicalize, hashText, parseCanonical } from '#canon';
import { faultOf, keepAttempt, type ListedQuestion } from './attempts.ts';
import type { Clock } from './clock.ts';
import { OracleError } from './errors.ts';
import { PendingAnswer } from './pending-answer.ts';
import {
  type FullQuestion,
  fullQuestion,
  hashQuestion,
  listingKeyOf,
  ORACLE_LIMITS,
  type Question,
} from './question.ts';
import type { OracleRow, OracleStore } from './store.ts';

/** A question with the call that answers it if the log has no answer yet. */
export interface OracleCall extends Question {
  /**
   * Calls the outside world. At most one call per question and process runs at a time, and none in
   * replay.
   */
  readonly call: () => Json | Promise<Json>;
  /**
   * Throws for an unacceptable answer, so that it is not recorded. Default: any JSON is accepted.
   */
  readonly accept?: (answer: Json) => void;
  /**
   * Whether failed, refused and late attempts are stored next to the answer (`attemptsOf`): the
   * first attempts, without their content. Default: they are not stored.
   */
  readonly keepAttempts?: boolean;
}

/** An answer as an observation records it. */
export interface OracleAnswer {
  readonly value: Json;
  /** The question's key, 64 hex digits. */
  readonly oracle_key: string;
  /** SHA-256 of the answer's canonical text, 64 hex digits. */
  readonly hash: string;
}

/** The one record of nondeterminism (docs/decisions/014-oracle-log.md). */
export interface Oracle {
  readonly mode: 'record' | 'replay';
  /**
   * The answer to a question: from the log, or from `call`. An answer of `call` is in the log
   * before it is returned. All callers of one question get the same answer: in one process while a
   * call is in flight, and across processes, where the stored answer decides. Each caller gets its
   * own copy. If `call`, `accept` or the store fails, no answer is recorded. Every waiting caller
   * gets that error, and the next caller calls again.
   *
   * @throws OracleError `oracle_miss` (replay only), `erased`, `bad_argument`, `bad_answer`,
   * `misuse`, `damaged`; the errors of `call` and `accept`
   */
  ask(asking: OracleCall): Promise<Json>;
  /** Same as `ask`, with the key and hash that an observation needs. */
  consult(asking: OracleCall): Promise<OracleAnswer>;
}

export interface OracleOptions {
  readonly store: OracleStore;
  /** Stamps new rows. Not read in replay. */
  readonly clock: Clock;
  /** `replay` never calls and never writes: a question without an answer in the log is an error. */
  readonly mode: 'record' | 'replay';
}

const ORACLE_OPTIONS = arg.members({ store: arg.object, clock: arg.object, mode: arg.text });

/**
 * @throws ArgumentError `bad_argument`; DuplicatePackageError `duplicate_package` for a store of
 * another copy of the package
 */
export function createOracle(options: OracleOptions): Oracle {
  checkArgument(ORACLE_OPTIONS, options, 'options');
  refuseDuplicatePackage(options.store, 'The option store');
  const { store, clock, mode } = options;
  const underWay = new Map<
    string,
    { readonly answering: PendingAnswer; readonly text: Promise<string> }
  >();

  const settle = async (
    key: string,
    question: FullQuestion,
    asking: CallOptions,
  ): Promise<string> => {
    const known = await store.oracleGet(key);
    if (known !== undefined) return answerText(key, known);
    if (mode === 'replay') throw miss(key, question);
    const within = listingKeyOf(question.scope);
    const answer = await answered({ key, within }, asking);
    const at = clock.now();
    const row = await store.oraclePut({ key, answer, at }, within);
    const text = answerText(key, row);
    if (asking.keepAttempts === true && (row.answer !== answer || row.at !== at))
      await keepAttempt(
        store,
        { key, within },
        { at, outcome: 'superseded', answer: parseCanonical(answer, ORACLE_LIMITS) },
      );
    return text;
  };

  const answered = async (
    { key, within }: ListedQuestion,
    { call, accept, keepAttempts = false }: CallOptions,
  ): Promise<string> => {
    let length: number | undefined;
    try {
      const answer = await call();
      const text = canonicalAnswer(key, answer);
      length = text.length;
      accept?.(answer);
      return text;
    } catch (thrown) {
      const error = toError(thrown);
      const outcome =
        length === undefined && !isAssizeError(error, 'bad_answer') ? 'failed' : 'refused';
      if (keepAttempts) {
        const refused = length === undefined ? {} : { length };
        await keepAttempt(
          store,
          { key, within },
          { at: clock.now(), outcome, ...refused, error: faultOf(error) },
        );
      }
      throw error;
    }
  };

  const consult = async (asking: OracleCall): Promise<OracleAnswer> => {
    checkArgument(ASKING, asking, 'asking');
    const { call, accept, keepAttempts, ...asked } = asking;
    const way = {
      call,
      ...(accept && { accept }),
      ...(keepAttempts !== undefined && { keepAttempts }),
    };
    const question = fullQuestion(asked);
    const key = hashQuestion(question);
    let pending = underWay.get(key);
    if (pending === undefined) {
      const answering = new PendingAnswer(key);
      const text = answering
        .run(() => settle(key, question, way))
        .finally(() => underWay.delete(key));
      pending = { answering, text };
      underWay.set(key, pending);
    }
    const text = await pending.answering.wait(pending.text);
    return { value: parseCanonical(text, ORACLE_LIMITS), oracle_key: key, hash: hashText(text) };
  };

  return Object.freeze(
    markOwnPackage({
      mode,
      consult,
      ask: async (asking: OracleCall) => (await consult(asking)).value,
    }),
  );
}

/** The parts of an `OracleCall` that do not belong to the question. */
type CallOptions = Omit<OracleCall, keyof Question>;

const ASKING = arg.members({
  call: arg.code,
  accept: arg.optional(arg.code),
  keepAttempts: arg.optional(arg.flag),
});

function canonicalAnswer(key: string, answer: Json): string {
  try {
    return canonicalize(answer, ORACLE_LIMITS);
  } catch (cause) {
    if (!isInstance(cause, AssizeError)) throw cause;
    throw new OracleError(
      'bad_answer',
      `The answer is not JSON and was not recorded. ${cause.message}`,
      {
        cause,
        evidence: { key, ...cause.evidence },
      },
    );
  }
}

/**
 * The text of a row. It must be canonical and belong to the key: results of a store are not
 * trusted.
 */
function answerText(key: string, row: OracleRow): string {
  if (row.key !== key) throw corrupt(key);
  if (row.erased_by !== undefined) throw erased(key, row.erased_by);
  try {
    parseCanonical(row.answer, ORACLE_LIMITS);
  } catch (cause) {
    if (isInstance(cause, AssizeError)) throw corrupt(key, cause);
    throw cause;
  }
  return row.answer;
}

function corrupt(key: string, cause?: AssizeError): OracleError {
  return new OracleError(
    'damaged',
    `The stored answer under ${key} is not canonical. Restore the store from a backup.`,
    {
      evidence: { key },
      ...(cause === undefined ? {} : { cause }),
    },
  );
}

function erased(key: string, by: string): OracleError {
  const message = `The answer under ${key} was erased by the entry ${by}. Ask another question for a new answer.`;
  return new OracleError('erased', message, { evidence: { key, by } });
}

function miss(key: string, { scope, request, theta }: FullQuestion): OracleError {
  const message = `The oracle log has no answer to ${canonicalize(request, ORACLE_LIMITS).slice(0, 200)} in scope ${canonicalize(scope)}. Replay with the log and the code of the recording.`;
  return new OracleError('oracle_miss', message, { evidence: { key, scope, request, theta } });
}
