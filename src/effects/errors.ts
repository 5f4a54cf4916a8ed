import { AssizeError, type Json } from '#base';

export type EffectErrorCode =
  /** The tool's declaration can't be used. Correct the member that the message names. */
  | 'invalid_tool'
  /**
   * The runtime has no tool of that name. Open the runtime with the tool, or call one that the
   * message lists.
   */
  | 'unknown_tool'
  /** The input does not fit the tool's schema. Correct the members that the message names. */
  | 'bad_input'
  /**
   * The writ, the policy or the budget does not allow the call. Use a writ that covers the tool and
   * its scopes.
   */
  | 'not_authorised'
  /**
   * A resolver failed or returned no canonical name for a scope. Mend the resolver that the message
   * names.
   */
  | 'bad_resolver'
  /**
   * The call touches a scope that its transaction has not claimed. Claim the scope, or `expand` the
   * transaction.
   */
  | 'scope_exceeded'
  /**
   * A younger transaction acted on the scope first, or the name or class of a tool changed. Start
   * the transaction again.
   */
  | 'stale'
  /**
   * The tool acts at once, and the transaction gets its epoch only at the commit. Set `epoch:
   * 'early'`.
   */
  | 'no_epoch'
  /**
   * An earlier effect on the resource is in doubt or could not be undone. Resolve that effect first
   * (`assize effects list`).
   */
  | 'resource_in_doubt'
  /** The idempotency key belongs to another call. Use a new transaction name. */
  | 'key_collision'
  /**
   * The tool refused the call and did nothing. Correct the cause that the message quotes, and try
   * again.
   */
  | 'tool_failed'
  /**
   * The tool's answer was lost, so the effect may have happened. Check the sink, and resolve the
   * effect if it waits.
   */
  | 'outcome_unknown'
  /**
   * The transaction took longer than its limit, or its signal aborted it. Raise `deadlineMs`, or do
   * less in one transaction.
   */
  | 'deadline'
  /**
   * Another process has taken over the running transactions of this one. Try again; the other
   * process finishes or undoes them.
   */
  | 'lease_lost'
  /**
   * The effect log lost records of a transaction. Restore the store from a backup, and run `assize
   * verify`.
   */
  | 'log_damaged'
  /**
   * The effect can be neither undone nor held, and the domain has no counselors to approve it. Add
   * `counselors` to the domain.
   */
  | 'no_counselor'
  /**
   * The transaction already has one call that can be neither undone nor held. Use one transaction
   * for each such call.
   */
  | 'second_pivot'
  /**
   * Another undecided branch of the transaction has modified the scope. Call the tool in that
   * branch, or after a branch is chosen.
   */
  | 'branch_conflict'
  /**
   * The transaction has more calls or longer answers than one entry holds. Split the work into
   * several transactions.
   */
  | 'too_much'
  /**
   * No branch was chosen, or the chosen branch failed. Return the index of a branch that succeeded.
   */
  | 'no_branch'
  /**
   * The body returned before its calls were over, so the transaction was undone. Await every call
   * in the body.
   */
  | 'not_awaited'
  /** The transaction has ended and takes no more calls. Start a new transaction. */
  | 'transaction_over'
  /** No effect waits for a person there. List the waiting effects with `assize effects list`. */
  | 'nothing_to_resolve'
  /** The transaction has no effect of that number. List its effects with `assize effects list`. */
  | 'unknown_effect'
  /**
   * A person has already decided about the effect. Read the decision with `assize effects list
   * --all`.
   */
  | 'already_resolved'
  /** The decision about the effect can't be recorded as given. Follow the message. */
  | 'bad_resolution'
  /**
   * The effect may have happened, and another try would repeat it. Check the sink, and confirm
   * explicitly.
   */
  | 'needs_confirmation';

/**
 * Misuse of tools, or a transaction that was ended. Its effects are undone, or `unfinished` names
 * them.
 */
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
