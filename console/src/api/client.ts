import createClient from 'openapi-fetch';
import type { paths } from './openapi.d.ts';
import { NotSentError, type Problem, ProblemError } from './problem.ts';

/** The API of the server that sent this page. The browser sends the session. */
export const api = createClient<paths>({ baseUrl: location.origin });

/**
 * Names the person that the page shows with each request from now on. The server refuses a request
 * if the browser is signed in as another person meanwhile (`session_changed`).
 */
export function actAs(person: string): void {
  shownPerson = person;
}

let shownPerson: string | undefined;

api.use({
  onRequest: ({ request }) => {
    if (request.method !== 'GET' && !navigator.onLine) throw new NotSentError();
    if (shownPerson !== undefined)
      request.headers.set('Assize-Person', encodeURIComponent(shownPerson));
    return request;
  },
});

interface Answered<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** The data of an answer. @throws ProblemError; NotSentError; TypeError without an answer */
export async function dataOf<T>(asked: Promise<Answered<T>>): Promise<T> {
  const { data, error } = await asked;
  if (data !== undefined) return data;
  throw new ProblemError(error as Problem);
}
