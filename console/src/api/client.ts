import createClient from 'openapi-fetch';
import { doneStep, stepOf } from './first-steps.ts';
import type { paths } from './openapi.d.ts';
import { NoAnswerError, NotSentError, type Problem, ProblemError } from './problem.ts';

/** The API of the server that sent this page. The browser sends the session. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: once });

const sending = new Map<string, Promise<Response>>();

/** A change that is asked for again before its answer, as by a double click, is sent once. */
async function once(request: Request): Promise<Response> {
  if (request.method === 'GET') return fetch(request);
  const key = `${request.method} ${request.url} ${await request.clone().text()}`;
  const sent = sending.get(key) ?? fetch(request).finally(() => sending.delete(key));
  sending.set(key, sent);
  return (await sent).clone();
}

/**
 * Names the person that the page shows with each request from now on. The server refuses a request
 * if the browser is signed in as another person meanwhile (`session_changed`).
 */
export function actAs(person: string): void {
  shownPerson = person;
}

let shownPerson: string | undefined;

/** The time for the answer of a change. */
const DEADLINE_MS = 10_000;

/** Questions that are sent as a POST, and work that takes its time. */
const NO_DEADLINE =
  /\/(?:judge|recall|verify|blast|checkpoints|backtests|mining|simulations|incidents)$/;

api.use({
  onRequest: ({ request }) => {
    if (shownPerson !== undefined)
      request.headers.set('Assize-Person', encodeURIComponent(shownPerson));
    if (request.method === 'GET') return request;
    if (!navigator.onLine) throw new NotSentError();
    if (NO_DEADLINE.test(new URL(request.url).pathname)) return request;
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(DEADLINE_MS)]);
    return new Request(request, { signal });
  },
  onResponse: ({ request, response }) => {
    const step = stepOf(request.method, new URL(request.url).pathname);
    if (step !== undefined && response.ok) doneStep(step);
  },
  onError: ({ error }) =>
    error instanceof DOMException && error.name === 'TimeoutError'
      ? new NoAnswerError()
      : undefined,
});

interface Answered<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * The data of an answer.
 *
 * @throws ProblemError; NotSentError; NoAnswerError; TypeError without a connection
 */
export async function dataOf<T>(asked: Promise<Answered<T>>): Promise<T> {
  const { data, error } = await asked;
  if (data !== undefined) return data;
  throw new ProblemError(error as Problem);
}
