import { isInstance } from './thrown.ts';

/** Anything that JSON can say. Values are never mutated by the code that receives them. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** The fields of every error of Assize, next to its message. */
export interface ErrorDetails {
  /**
   * The cause of the failure, for programs: pointers, ids, the two sides of a disagreement. Never a
   * secret.
   */
  readonly evidence?: Readonly<Record<string, unknown>>;
  /** True when the same call may succeed later without any change by the caller. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
  /** Same as `AssizeError.reason`. Default: the code. */
  readonly reason?: string;
}

/**
 * The codes that every class of errors has. Each names what a program can do about the failure; the
 * message names the value at fault and its remedy.
 */
export type GeneralCode =
  /**
   * An argument or option is not valid, and nothing was done. Correct the value that the message
   * names. Evidence `{argument}`, where one argument is at fault.
   */
  | 'bad_argument'
  /**
   * A text or file does not have its form, or an input does not fit its schema. Correct the place
   * that the message names.
   */
  | 'bad_input'
  /** The value is not an instant in UTC with microseconds. Write `2026-03-23T09:00:00.000000Z`. */
  | 'bad_instant'
  /**
   * A key is malformed, unsafe, or not the one that is needed. Pass the key that the message names.
   */
  | 'bad_key'
  /**
   * The configuration cannot be used as it is. Correct the member or the file that the message
   * names. Evidence `{path, paths}` or `{file}`.
   */
  | 'bad_config'
  /**
   * The value, or a part of it, is not data that canonical JSON can hold. Pass plain data, as the
   * message says. Evidence `{pointer}`.
   */
  | 'not_json'
  /**
   * Another program answered in a form that it should not have. Follow the message, and correct
   * that program.
   */
  | 'bad_answer'
  /**
   * A function that the caller passed threw an error, or returned a value of another form. Correct
   * the function that the message names.
   */
  | 'function_failed'
  /** Nothing has that name or id. Check the name, or list the names as the message says. */
  | 'not_found'
  /** The text fits more than one thing. Pass more of it. */
  | 'ambiguous'
  /**
   * The call does not fit the present state, and a repetition does not help. Read the state again,
   * and follow the message.
   */
  | 'wrong_state'
  /** The state that the call asks for was reached before. Read the state again, and go on. */
  | 'already_done'
  /** The program makes a call at the wrong time or place. Correct it, as the message says. */
  | 'misuse'
  /** The principal or the writ has no right to this. Ask for the right that the message names. */
  | 'forbidden'
  /** The request names no principal. Send `Authorization: Bearer TOKEN`, or sign in. */
  | 'unauthenticated'
  /** The content exceeds a limit. Pass less, or raise the limit that the message names. */
  | 'too_large'
  /** Stored content is damaged, or was changed. Restore it from a backup. */
  | 'damaged'
  /**
   * A checkpoint is malformed or lacks its signature, or the entries do not match it. Compare with
   * a backup, as the message says.
   */
  | 'bad_checkpoint'
  /** No checkpoint covers the entry yet. Make a checkpoint, and ask again. */
  | 'not_checkpointed'
  /** A package or program is not installed. Install it as the message says. */
  | 'missing_package'
  /** Another program cannot be reached. Check that it runs, and its address. */
  | 'unreachable'
  /**
   * A server of Assize refused the request, or did not answer. Do what its message says. Evidence
   * `{code}`.
   */
  | 'server_refused'
  /** Other writers committed first at every attempt. Try again; nothing was recorded. */
  | 'conflict'
  /**
   * The idempotency key or the transaction name was used for other content. Use a new one only for
   * a different request.
   */
  | 'idempotency_conflict'
  /** The store did not confirm whether it committed. Open the store again, and look up the id. */
  | 'commit_unknown'
  /** The state does not fit the schema, or breaks a rule of the domain. Pass a valid state. */
  | 'invalid_state'
  /**
   * A writ is malformed, or its root key is not trusted. Pass a valid writ, or add its root key to
   * `anchors`.
   */
  | 'bad_writ'
  /** The budget of the writ does not cover the cost. Spend less, or grant more. */
  | 'budget_exhausted'
  /** A value or answer that is needed was erased. Continue without it, or propose or ask again. */
  | 'erased'
  /**
   * The effect may have happened, and a repetition may make it happen twice. Check the sink, and
   * confirm as the message says.
   */
  | 'needs_confirmation'
  /** The store, its file, folder or schema is missing. Check the URL, or create the store. */
  | 'store_not_found'
  /**
   * The process has no root key, and none can be made. Set ASSIZE_ROOT_KEY or ASSIZE_ROOT_KEY_FILE.
   */
  | 'root_key_missing';

/**
 * The one error class of the package: misuse, environment, corruption. Refusals are results, never
 * errors. `code` is stable and meant for programs; `message` is one sentence that states the
 * remedy.
 */
export class AssizeError<Code extends string = string> extends Error {
  override readonly name: string = 'AssizeError';
  readonly code: Code | GeneralCode;
  /**
   * A finer name of the failure than its code, or the code. Entries store it, so a name never
   * changes.
   */
  readonly reason: string;
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly retryable: boolean;

  constructor(code: Code | GeneralCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.reason = details.reason ?? code;
    this.evidence = details.evidence ?? {};
    this.retryable = details.retryable ?? false;
  }
}

/** The general code of a finer reason, or the name itself if it is a code. */
export function codeFor<Name extends string, Codes extends Readonly<Record<string, GeneralCode>>>(
  codes: Codes,
  name: Name,
): Exclude<Name, keyof Codes> | GeneralCode {
  return Object.hasOwn(codes, name)
    ? (codes[name] as GeneralCode)
    : (name as Exclude<Name, keyof Codes>);
}

/** True for an error of this package, with that code or reason if one is given. */
export function isAssizeError(error: unknown, name?: string): error is AssizeError {
  if (!isInstance(error, AssizeError)) return false;
  return name === undefined || error.code === name || error.reason === name;
}
