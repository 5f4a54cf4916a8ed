import type { components } from './openapi.d.ts';

export type Problem = components['schemas']['Problem'];

/** An answer that refuses a request (RFC 9457). `code` is stable: branch on it. */
export class AssizeProblem extends Error {
  override readonly name = 'AssizeProblem';
  readonly status: number;
  readonly code: string;
  /** Whether the same request, with the same key, may succeed later. */
  readonly retryable: boolean;
  /** The misfits of the request, each with its JSON pointer. */
  readonly findings: readonly { readonly pointer: string; readonly message: string }[];
  /** The whole document. */
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.status = problem.status;
    this.code = problem.code;
    this.retryable = problem.retryable;
    this.findings = problem.findings ?? [];
    this.problem = problem;
  }
}

/** Whether `fetch` has failed: it reports a request or a body without an end as a TypeError. */
export function isWithoutAnswer(error: unknown): boolean {
  return (error as Partial<Error> | undefined)?.name === 'TypeError';
}

/** The answers of proxies that pass: no server behind them, or none in time. */
const PASSING: readonly number[] = [502, 503, 504];

/** The problem of an answer. `bad_answer`: its sender is not the API. */
export async function problemOf(response: Response): Promise<AssizeProblem> {
  if (response.headers.get('content-type')?.startsWith('application/problem+json') === true)
    return new AssizeProblem((await response.json()) as Problem);
  await response.body?.cancel();
  const { status } = response;
  return new AssizeProblem({
    type: 'about:blank',
    title: 'Bad answer',
    status,
    code: 'bad_answer',
    detail: `The answer has the status ${status}, and no problem document. Is the URL that of assize serve?`,
    retryable: PASSING.includes(status),
  });
}
