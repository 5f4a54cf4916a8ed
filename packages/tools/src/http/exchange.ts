import { isInstance, type Json } from 'assize/internal/base';
import { parseStrict } from 'assize/internal/canon';
import { DidNothing, NoAnswer } from 'assize/internal/effects';

/** One request, ready to be sent. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string | undefined;
}

/** The answer of a server. */
export interface HttpResponse {
  readonly status: number;
  /** Headers, by lower-case name. */
  readonly headers: { readonly [name: string]: string };
  /** The body. Null unless the server reported success. */
  readonly body: Json;
}

/**
 * An answer with the text of the server's refusal. The text goes to the caller only and not into a
 * log.
 */
export interface HttpExchange extends HttpResponse {
  readonly said?: string;
  /** The reason why the body of a successful answer could not be read. */
  readonly unreadable?: NoAnswer;
}

/** The format of an answer. `none`: the body is not read. */
export type BodySort = 'json' | 'text' | 'none';

export interface BodyOptions {
  readonly signal: AbortSignal;
  readonly bytesMax: number;
  readonly answer: BodySort;
}

const REDIRECTS_MAX = 5;

/**
 * Sends a request once, and reads the answer. Redirections are followed only for GET, within the
 * same origin and without user info.
 *
 * @throws DidNothing if the request was certainly not sent; another error if the answer was lost or
 * can't be read
 */
export async function exchange(request: HttpRequest, reading: BodyOptions): Promise<HttpExchange> {
  let { url } = request;
  for (let redirects = 0; ; redirects++) {
    const response = await sent({ ...request, url }, reading.signal);
    const next = redirects < REDIRECTS_MAX ? nextUrl(request.method, url, response) : undefined;
    if (next === undefined) return read(response, reading);
    await response.body?.cancel();
    url = next;
  }
}

async function sent(
  { method, url, headers, body }: HttpRequest,
  signal: AbortSignal,
): Promise<Response> {
  if (signal.aborted)
    throw new DidNothing('there was no time left to send it', {
      cause: signal.reason,
      why: 'no_time_left',
    });
  try {
    return await fetch(url.href, {
      method,
      headers,
      redirect: 'manual',
      signal,
      ...(body === undefined ? {} : { body }),
    });
  } catch (error) {
    if (isBadPort(error))
      throw new DidNothing(`the port of ${url.host} is blocked for HTTP`, {
        final: true,
        cause: error,
        why: 'bad_port',
      });
    // An abort reason may come from another connection, and then says nothing about this one.
    if (error === signal.reason || !isUnsent(error))
      throw new NoAnswer(`${url.host} did not answer`, { cause: error, why: 'connection_lost' });
    throw new DidNothing(`${url.host} could not be reached`, { cause: error, why: 'not_reached' });
  }
}

/**
 * Error codes of a connection that was never made. All other errors may have occurred after the
 * request.
 */
const UNCONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function isUnsent(error: unknown): boolean {
  const cause = (error as { readonly cause?: unknown } | null)?.cause;
  // A host with several addresses has several errors.
  const causes = cause instanceof AggregateError ? cause.errors : [cause];
  return (
    causes.length > 0 &&
    causes.every((each) => UNCONNECTED.has((each as { readonly code?: unknown } | null)?.code))
  );
}

/**
 * Ports of other protocols are refused before the connection (Fetch standard, 2.9: port blocking).
 */
function isBadPort(error: unknown): boolean {
  const cause = (error as { readonly cause?: unknown } | null)?.cause;
  return cause instanceof Error && cause.message === 'bad port';
}

function nextUrl(method: string, url: URL, { status, headers }: Response): URL | undefined {
  const location = headers.get('location');
  if (method !== 'GET' || status < 300 || status > 399 || location === null) return undefined;
  const next = URL.parse(location, url.href);
  // A sent URL has no user info, so the server added the user info to the redirection.
  const isPlain = next?.username === '' && next.password === '';
  return isPlain && next.origin === url.origin ? next : undefined;
}

async function read(response: Response, { bytesMax, answer }: BodyOptions): Promise<HttpExchange> {
  const { status, ok } = response;
  const headers = Object.fromEntries(response.headers);
  if (answer === 'none') {
    await response.body?.cancel();
    return { status, headers, body: null };
  }
  if (!ok) {
    const said = await saidBy(response);
    return { status, headers, body: null, ...(said === undefined ? {} : { said }) };
  }
  try {
    const bytes = await whole(response, bytesMax);
    if (bytes.length === 0) return { status, headers, body: null };
    return { status, headers, body: answer === 'text' ? textIn(bytes) : jsonIn(bytes, bytesMax) };
  } catch (error) {
    if (!isInstance(error, NoAnswer)) throw error;
    return { status, headers, body: null, unreadable: error };
  }
}

const SAID_MAX = 4_096;
const SAID_MS = 1_000;

/**
 * The start of a refusal's text. The status alone decides, so errors here are ignored and the wait
 * is short.
 */
async function saidBy(response: Response): Promise<string | undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return undefined;
  const cancel = () => reader.cancel().catch(() => undefined);
  // Also ends a read in progress.
  const timer = setTimeout(cancel, SAID_MS);
  const chunks: Uint8Array[] = [];
  for (let size = 0; size < SAID_MAX; ) {
    // If the body breaks off, the text so far is returned.
    const next = await reader.read().catch(() => undefined);
    if (next === undefined || next.done) break;
    chunks.push(next.value);
    size += next.value.length;
  }
  clearTimeout(timer);
  await cancel();
  // Drops a character that is cut at the end.
  const text = new TextDecoder()
    .decode(Buffer.concat(chunks).subarray(0, SAID_MAX), { stream: true })
    .trim();
  return text === '' ? undefined : text;
}

function textIn(bytes: Uint8Array): string {
  try {
    return TEXT.decode(bytes);
  } catch (cause) {
    throw new NoAnswer('the answer is not UTF-8', { cause, why: 'not_text' });
  }
}

function jsonIn(bytes: Uint8Array, bytesMax: number): Json {
  try {
    return parseStrict(bytes, { bytesMax });
  } catch (cause) {
    const what = (cause as Error).message.replace(/\.$/, '');
    throw new NoAnswer(`the answer is not JSON (${what}). Set the option answer`, {
      cause,
      why: 'not_json',
    });
  }
}

const TEXT = new TextDecoder('utf-8', { fatal: true });

/**
 * The complete body.
 * @throws NoAnswer also for a truncated body, or an unsupported content encoding
 */
async function whole(response: Response, bytesMax: number): Promise<Uint8Array> {
  try {
    return await bounded(response, bytesMax);
  } catch (cause) {
    if (isInstance(cause, NoAnswer)) throw cause;
    throw new NoAnswer('the answer is incomplete', { cause, why: 'connection_lost' });
  }
}

async function bounded(response: Response, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop ends the connection.
    if (size > bytesMax)
      throw new NoAnswer(
        `the answer has more than ${bytesMax} bytes. Raise bytesMax, or request less`,
        {
          why: 'answer_too_long',
        },
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Refusals that may succeed on a retry (RFC 9110 section 15.5; RFC 6585; RFC 8470). */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/**
 * Returns if the server reported success.
 *
 * @throws DidNothing if the server reported a refusal, another error if the outcome is unknown.
 * `isConflictOpen`: a 409 may mean that a request of the same key is still in progress. The
 * server's text is the `cause` and in no message, because it may contain a secret.
 */
export function requireDone(
  { method, url }: HttpRequest,
  { status, headers, said }: HttpExchange,
  { isConflictOpen }: { readonly isConflictOpen: boolean },
): void {
  if (status >= 200 && status < 300) return;
  // Without the query: it may contain secrets.
  const what = `${method} ${url.origin}${url.pathname} was answered with ${status}`;
  const why = `http_${status}`;
  const cause = said === undefined ? undefined : new Error(said);
  if (status === 409 && isConflictOpen)
    throw new NoAnswer(what, { why, cause, afterMs: retryAfterMs(headers) });
  if (PASSING.has(status))
    throw new DidNothing(what, { afterMs: retryAfterMs(headers), why, cause });
  if (status >= 400 && status < 500) throw new DidNothing(what, { final: true, why, cause });
  // Only these statuses tell a client to repeat the same request at another URL. Other redirections
  // may follow the effect.
  if (status === 307 || status === 308)
    throw new DidNothing(`${what}, a redirection that is not followed`, {
      final: true,
      why,
      cause,
    });
  const unsure =
    status >= 300 && status < 400 ? `${what}, a redirection that is not followed` : what;
  throw new NoAnswer(unsure, { why, cause, afterMs: retryAfterMs(headers) });
}

/** Uses the server's own clock, if the answer has a date (RFC 9110 section 10.2.3). */
function retryAfterMs({ 'retry-after': after, date }: HttpResponse['headers']): number | undefined {
  if (after === undefined) return undefined;
  const ms = /^\d+$/.test(after)
    ? 1_000 * Number(after)
    : Date.parse(after) - Date.parse(date ?? '');
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
