import {
  AssizeError,
  codeFor,
  type ErrorDetails,
  type GeneralCode,
  isInstance,
  type Json,
} from '#base';

export type EffectErrorCode =
  /**
   * The runtime has no tool of that name. Open the runtime with the tool, or call one that the
   * message lists.
   */
  | 'unknown_tool'
  /**
   * A transaction with a higher epoch acted on the scope first, or the name or class of a tool
   * changed. Start the transaction again.
   */
  | 'stale'
  /**
   * An unresolved effect blocks the resource. Resolve that effect first (`assize effects list`).
   */
  | 'resource_in_doubt'
  /** The idempotency key belongs to another call. Use a new transaction name. */
  | 'key_collision'
  /** The tool refused the call and did nothing. Correct the cause in the message, and try again. */
  | 'tool_failed'
  /**
   * The answer of the tool was lost, so the outcome is unknown. Check the sink, and resolve the
   * effect if it is unresolved.
   */
  | 'outcome_unknown'
  /**
   * The transaction exceeded its time limit, or its signal aborted it. Raise `deadlineMs`, or do
   * less in one transaction.
   */
  | 'deadline'
  /**
   * Another process has adopted the open transactions of this process. Try again; the other process
   * finishes or compensates them.
   */
  | 'lease_lost'
  /**
   * The trajectory was imported, and the store that it came from may call the same tools. Retire
   * that store, then run `assize restore adopt TRAJECTORY`.
   */
  | 'imported_trajectory'
  /**
   * The effect log lost records of a transaction. Restore the store from a backup, and run `assize
   * verify`.
   */
  | 'log_damaged'
  /**
   * The effect can be neither compensated nor buffered, and the domain has no counselors to approve
   * it. Add `counselors` to the domain.
   */
  | 'no_counselor'
  /**
   * The tool was executed, and its answer is not JSON. Return JSON from the tool; check the sink
   * before another call.
   */
  | 'answer_unreadable'
  /**
   * No branch was chosen, or the chosen branch failed. Return the index of a branch that succeeded.
   */
  | 'no_branch'
  /**
   * The principal has no right to decide about the effect. Let a counselor of the kind `operator`
   * decide, or pass a writ that names `assize.resolve_effect`.
   */
  | 'unauthorised_operator';

/** The finer reasons, each with its code. An aborted transaction stores its reason as its cause. */
const CODES = {
  not_authorised: 'forbidden',
  bad_resolver: 'function_failed',
  scope_exceeded: 'misuse',
  no_epoch: 'misuse',
  second_pivot: 'misuse',
  branch_conflict: 'wrong_state',
  too_much: 'too_large',
  not_awaited: 'misuse',
  transaction_over: 'wrong_state',
  bad_resolution: 'bad_argument',
  invalid_tool: 'bad_argument',
} as const satisfies Readonly<Record<string, GeneralCode>>;

/**
 * Misuse of tools, or an aborted transaction. Its effects are compensated, or `unfinished` names
 * them.
 */
export class EffectError extends AssizeError<EffectErrorCode> {
  override readonly name: string = 'EffectError';

  constructor(
    reason: EffectErrorCode | GeneralCode | keyof typeof CODES,
    message: string,
    details?: ErrorDetails,
  ) {
    super(codeFor(CODES, reason), message, { ...details, reason });
  }
}

const DID_NOTHING: unique symbol = Symbol.for('assize.did-nothing') as never;

export interface DidNothingOptions {
  readonly final?: boolean;
  readonly key?: string | undefined;
  readonly answer?: Json | undefined;
  readonly afterMs?: number | undefined;
  readonly cause?: unknown;
  /** Same as `NoAnswer.why`. */
  readonly why?: string | undefined;
}

const WHY: unique symbol = Symbol.for('assize.why') as never;
const WHY_FORM = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * Thrown by a tool that certainly did nothing. Any other error may follow an effect, as the end of
 * a connection may. The runtime then queries the sink, retries under the same key, or marks the
 * effect in doubt.
 *
 * For `instanceof`, an instance from another copy of the package also matches, because all copies
 * give it the same meaning.
 */
export class DidNothing extends Error {
  override readonly name: string = 'DidNothing';
  /** Whether a retry is useless. */
  readonly isFinal: boolean;
  /** For a batch: the key of the call that did nothing. Default: all calls of the batch. */
  readonly key?: string;
  /** For a staged call with a different answer than the body received: the present answer. */
  readonly answer?: Json;
  /**
   * Milliseconds before which a retry is useless, as the sink reports it. The runtime waits no
   * longer than its time limit for calls.
   */
  readonly afterMs?: number;
  /** Same as `NoAnswer.why`. */
  readonly why?: string;

  constructor(message: string, options: DidNothingOptions = {}) {
    super(message, { cause: options.cause });
    this.isFinal = options.final === true;
    if (options.key !== undefined) this.key = options.key;
    if (options.answer !== undefined) this.answer = options.answer;
    if (options.afterMs !== undefined) this.afterMs = options.afterMs;
    if (options.why !== undefined) this.why = options.why;
  }

  get [WHY](): string | undefined {
    return this.why;
  }

  /** All copies of the package know this mark. Its meaning must never change. */
  get [DID_NOTHING](): true {
    return true;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && (value as Partial<DidNothing>)[DID_NOTHING] === true;
  }
}

export interface NoAnswerOptions {
  readonly why: string;
  /** Same as `DidNothing.afterMs`, for the next attempt or the next query of the sink. */
  readonly afterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * Thrown by a tool that has no answer and may have executed the call. The runtime treats it as any
 * error other than `DidNothing`, and also records its reason and shows it to the operator.
 *
 * `why` is a code of the tool: a lower-case letter, then lower-case letters, digits and `_`, 64
 * characters at most. The effect log and the ledger store it and never erase it. So it must contain
 * nothing of an input or an answer, except one of a few values such as a status. A code of another
 * form is not stored.
 */
export class NoAnswer extends Error {
  override readonly name: string = 'NoAnswer';
  readonly why: string;
  readonly afterMs?: number;

  constructor(message: string, { why, afterMs, cause }: NoAnswerOptions) {
    super(message, { cause });
    this.why = why;
    if (afterMs !== undefined) this.afterMs = afterMs;
  }

  get [WHY](): string {
    return this.why;
  }
}

/** The valid `why` of a `DidNothing` or a `NoAnswer` from any copy of the package, or undefined. */
export function whyOf(error: unknown): string | undefined {
  if (!isInstance(error, Error)) return undefined;
  let why: unknown;
  try {
    why = (error as { readonly [WHY]?: unknown })[WHY];
  } catch {
    return undefined;
  }
  return typeof why === 'string' && WHY_FORM.test(why) ? why : undefined;
}

/**
 * A tool returns it for a call that was executed and whose answer cannot be read, such as an HTTP
 * answer 200 with a page. The object is not JSON, so the runtime records the effect as executed
 * without an answer.
 */
export class UnreadableAnswer {
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}
