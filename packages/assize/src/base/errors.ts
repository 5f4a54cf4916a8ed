import { isInstance } from './thrown.ts';

/** Anything that JSON can say. Values are never mutated by the code that receives them. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

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
}

/**
 * The one error class of the package: misuse, environment, corruption. Refusals are results, never
 * errors. `code` is stable and meant for programs; `message` is one sentence that states the
 * remedy.
 */
export class AssizeError<Code extends string = string> extends Error {
  override readonly name: string = 'AssizeError';
  readonly code: Code;
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly retryable: boolean;

  constructor(code: Code, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.evidence = details.evidence ?? {};
    this.retryable = details.retryable ?? false;
  }
}

/** True for an error of this package with that code (or with any code if the code is not given). */
export function isAssizeError(error: unknown, code?: string): error is AssizeError {
  return isInstance(error, AssizeError) && (code === undefined || error.code === code);
}
