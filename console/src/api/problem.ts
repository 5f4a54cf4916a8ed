import type { components } from './openapi.d.ts';

export type Problem = components['schemas']['Problem'];

/** An answer of the server that is a problem document. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** A change that was not sent, because the browser has no network. */
export class NotSentError extends Error {
  constructor() {
    super('You are offline. Nothing was sent.');
  }
}

/** A change that got no answer in time. */
export class NoAnswerError extends Error {
  constructor() {
    super('No answer. What you sent may count: look before you send it again.');
  }
}

/** The stable code of a problem of the server. Undefined for another error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof ProblemError ? error.problem.code : undefined;
}

/** Whether the browser is signed out, or signed in as another person than the page shows. */
export function hasLostSession(error: unknown): boolean {
  return codeOf(error) === 'unauthenticated' || codeOf(error) === 'session_changed';
}

/** A request that got no answer, or that the server asks to repeat. */
export function isRetryable(error: unknown): boolean {
  return error instanceof ProblemError ? error.problem.retryable : error instanceof TypeError;
}

/** The browser reports a request without an answer as a TypeError. It may have counted. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof TypeError;
}
