import { AssizeError, type Json } from '#base';

export type EffectErrorCode =
  /** A tool's declaration that can't be used; the message names what of it. */
  | 'invalid_tool'
  /** No tool of that name was given. */
  | 'unknown_tool'
  /** The input does not fit the tool's schema. */
  | 'bad_input'
  /** Writ, policy or budget do not let the tool be used so. */
  | 'not_authorised'
  /** The canonical names of a scope can't be had: a resolver failed, or gives what is no name; the message says which. */
  | 'bad_resolver'
  /** The call touches what its transaction has not claimed. */
  | 'scope_exceeded'
  /** Whoever came later has acted there already, or a name leads elsewhere by now, or a tool is of another class, than when that was called. */
  | 'stale'
  /** It acts at once, in a transaction that has its epoch only at its gate. */
  | 'no_epoch'
  /** An effect there is in doubt, or could not be undone, and waits for a person. */
  | 'resource_in_doubt'
  /** The same key stands for another call. */
  | 'key_collision'
  /** The tool refused, and did nothing. */
  | 'tool_failed'
  /** Nobody can tell whether the tool did it. */
  | 'outcome_unknown'
  /** The transaction took longer than it may, or was told to stop. */
  | 'deadline'
  /** Another process has taken over what this one had at work. */
  | 'tenure_lost'
  /** The effect log has lost what it had of a transaction: nobody can tell what was done. */
  | 'log_damaged'
  /** It can be neither undone nor held, so a person has to approve it, and the domain has nobody who could. */
  | 'no_counselor'
  /** The transaction has one call already that can be neither undone nor held. */
  | 'second_pivot'
  /** Another branch of the same transaction has acted there. */
  | 'branch_conflict'
  /** More calls, or more that they have answered, than one transaction may have. */
  | 'too_much'
  /** None of the branches was chosen, or one that failed. */
  | 'no_branch'
  /** The body of a transaction, or of a part of it, has returned before what it called was over. */
  | 'not_awaited'
  /** The transaction has ended: nothing is called in it any more. */
  | 'transaction_over'
  /** Nothing waits for a person there. */
  | 'not_left'
  /** The transaction has no effect of that number. */
  | 'unknown_effect'
  /** A person has decided about it already. */
  | 'already_resolved'
  /** What a person decides can't be taken down as it is, or leads nowhere; the message says what to do. */
  | 'bad_resolution'
  /** It may have happened, and would happen twice: that has to be said. */
  | 'needs_confirmation';

/** Misuse of tools, or a transaction that was ended; what of it was done is undone, or is said by `unfinished`. */
export class EffectError extends AssizeError<EffectErrorCode> {
  override readonly name: string = 'EffectError';
}

const DID_NOTHING: unique symbol = Symbol.for('assize.did-nothing') as never;

export interface DidNothingOptions {
  readonly final?: boolean;
  readonly key?: string | undefined;
  readonly answer?: Json | undefined;
  readonly afterMs?: number | undefined;
  readonly cause?: unknown;
  /** As that of `NoAnswer`. */
  readonly why?: string | undefined;
}

const WHY: unique symbol = Symbol.for('assize.why') as never;
const WHY_FORM = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * Thrown by a tool to say for certain that it did nothing. Whatever else a tool throws may have come after the deed, as the end of
 * a connection does: then the sink is asked, or it is sent again under the same key, or is in doubt.
 *
 * That of another copy of the package is one too, for `instanceof`: it says the same, and has nothing that copies could understand
 * in two ways.
 */
export class DidNothing extends Error {
  override readonly name: string = 'DidNothing';
  /** Trying again is no use either. */
  readonly isFinal: boolean;
  /** Of calls that are made together: the key of the one for which nothing was done. Without it, it is for all of them. */
  readonly key?: string;
  /** Of what the body was told that it answers otherwise (`Together.hold`): what it would have answered now. */
  readonly answer?: Json;
  /** Milliseconds from now before which another try is no use, as its sink says; more than there is patience for is not waited. */
  readonly afterMs?: number;
  /** As that of `NoAnswer`. */
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

  /** Known to every copy, and never to be given another meaning. */
  get [DID_NOTHING](): true {
    return true;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && (value as Partial<DidNothing>)[DID_NOTHING] === true;
  }
}

export interface NoAnswerOptions {
  readonly why: string;
  /** As that of `DidNothing`: of the next try, or of when its sink is asked. */
  readonly afterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * Thrown by a tool that may have done it, to say why it has no answer. It is treated as whatever else a tool throws that is no
 * `DidNothing`; only that its reason is kept, and shown to whoever has to decide about it.
 *
 * `why` is a word of the tool's own: a lower-case letter, then lower-case letters, digits and `_`, 64 in all at most. It goes into the
 * effect log and the ledger as it is and is never erased, so nothing of an input or an answer may be in it but what is one of a few, as a status is. What is
 * of another form is not kept.
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

/** The word that a tool has for why, where it has one that may be kept: that of a `DidNothing` or a `NoAnswer`, of whatever copy. */
export function whyOf(error: unknown): string | undefined {
  const why: unknown = error instanceof Error ? (error as { readonly [WHY]?: unknown })[WHY] : undefined;
  return typeof why === 'string' && WHY_FORM.test(why) ? why : undefined;
}
