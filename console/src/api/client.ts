import createClient from 'openapi-fetch';
import type { paths } from './openapi.d.ts';
import { type Problem, ProblemError } from './problem.ts';

/** The API of the server that sent this page. The browser sends the session. */
export const api = createClient<paths>({ baseUrl: location.origin });

interface Answered<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** The data of an answer. @throws ProblemError; TypeError without an answer */
export async function dataOf<T>(asked: Promise<Answered<T>>): Promise<T> {
  const { data, error } = await asked;
  if (data !== undefined) return data;
  throw new ProblemError(error as Problem);
}
