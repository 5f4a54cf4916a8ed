import type { Json } from '#base';
import { parseStrict } from '#canon';
import { DidNothing, NoAnswer } from '#effects';

/** One request, ready to be sent. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string | undefined;
}

/** What a server answered. */
export interface HttpAnswer {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: { readonly [name: string]: string };
  /** Null unless the server said that it went well. */
  readonly body: Json;
}

/** With what a server said besides, where it refused: for whoever has called, and for no log. */
export interface Exchanged extends HttpAnswer {
  readonly said?: string;
}

/** How an answer is read. `none`: it is not looked at. */
export type BodySort = 'json' | 'text' | 'none';

export interface Reading {
  readonly signal: AbortSignal;
  readonly bytesMax: number;
  readonly answer: BodySort;
}

const REDIRECTS_MAX = 5;

/**
 * Sends a request once, and reads what is answered. A redirection is followed where the method is GET, the origin the same, and no user named.
 *
 * @throws DidNothing where it is certain that nothing was sent; another error where the answer was lost, or can't be read
 */
export async function exchange(request: HttpRequest, reading: Reading): Promise<Exchanged> {
  let { url } = request;
  for (let redirects = 0; ; redirects++) {
    const response = await sent({ ...request, url }, reading.signal);
    const next = redirects < REDIRECTS_MAX ? nextUrl(request.method, url, response) : undefined;
    if (next === undefined) return read(response, reading);
    await response.body?.cancel();
    url = next;
  }
}

async function sent({ method, url, headers, body }: HttpRequest, signal: AbortSignal): Promise<Response> {
  if (signal.aborted)
    throw new DidNothing('there was no time left to send it', { cause: signal.reason, why: 'no_time_left' });
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
      throw new DidNothing(`${url.host} has a port that is not one for HTTP, so nothing is sent there`, {
        final: true,
        cause: error,
        why: 'bad_port',
      });
    // Why nobody waits any more may be another connection: that says nothing of this one.
    if (error === signal.reason || !isUnsent(error))
      throw new NoAnswer(`${url.host} has not answered`, { cause: error, why: 'connection_lost' });
    throw new DidNothing(`${url.host} could not be reached`, { cause: error, why: 'not_reached' });
  }
}

/** Errors of a connection that was never made. All others may have come after the request. */
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
    causes.length > 0 && causes.every((each) => UNCONNECTED.has((each as { readonly code?: unknown } | null)?.code))
  );
}

/** Ports of other protocols are refused before anything is connected (Fetch standard, 2.9: port blocking). */
function isBadPort(error: unknown): boolean {
  const cause = (error as { readonly cause?: unknown } | null)?.cause;
  return cause instanceof Error && cause.message === 'bad port';
}

function nextUrl(method: string, url: URL, { status, headers }: Response): URL | undefined {
  const location = headers.get('location');
  if (method !== 'GET' || status < 300 || status > 399 || location === null) return undefined;
  const next = URL.parse(location, url.href);
  // What is sent has no user in its URL, and a password that a server names is none of ours.
  const isPlain = next?.username === '' && next.password === '';
  return isPlain && next.origin === url.origin ? next : undefined;
}

async function read(response: Response, { bytesMax, answer }: Reading): Promise<Exchanged> {
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
  const bytes = await whole(response, bytesMax);
  if (bytes.length === 0) return { status, headers, body: null };
  return { status, headers, body: answer === 'text' ? textIn(bytes) : jsonIn(bytes, bytesMax) };
}

const SAID_MAX = 4_096;
const SAID_MS = 1_000;

/** The beginning of a refusal's text. The status alone decides, so nothing that goes wrong here is a fault, and nobody waits long for it. */
async function saidBy(response: Response): Promise<string | undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return undefined;
  const cancel = () => reader.cancel().catch(() => undefined);
  // Ends a read that is under way, too.
  const timer = setTimeout(cancel, SAID_MS);
  const chunks: Uint8Array[] = [];
  for (let size = 0; size < SAID_MAX; ) {
    // Where it breaks off, what has come until then is said.
    const next = await reader.read().catch(() => undefined);
    if (next === undefined || next.done) break;
    chunks.push(next.value);
    size += next.value.length;
  }
  clearTimeout(timer);
  await cancel();
  // Of a character that is cut there, nothing.
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, SAID_MAX), { stream: true }).trim();
  return text === '' ? undefined : text;
}

function textIn(bytes: Uint8Array): string {
  try {
    return TEXT.decode(bytes);
  } catch (cause) {
    throw new NoAnswer('the answer is no UTF-8', { cause, why: 'not_text' });
  }
}

function jsonIn(bytes: Uint8Array, bytesMax: number): Json {
  try {
    return parseStrict(bytes, { bytesMax });
  } catch (cause) {
    const what = (cause as Error).message.replace(/\.$/, '');
    throw new NoAnswer(`the answer is not JSON (${what}); say with answer how it is to be read`, {
      cause,
      why: 'not_json',
    });
  }
}

const TEXT = new TextDecoder('utf-8', { fatal: true });

/** @throws NoAnswer also where it ends before its end, or is packed as nobody can unpack it */
async function whole(response: Response, bytesMax: number): Promise<Uint8Array> {
  try {
    return await bounded(response, bytesMax);
  } catch (cause) {
    if (cause instanceof NoAnswer) throw cause;
    throw new NoAnswer('the answer did not come to its end', { cause, why: 'connection_lost' });
  }
}

async function bounded(response: Response, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop ends the connection.
    if (size > bytesMax)
      throw new NoAnswer(`it answered with more than ${bytesMax} bytes; raise bytesMax, or ask for less`, {
        why: 'answer_too_long',
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Of refusals, those that another time may be none (RFC 9110 section 15.5; RFC 6585; RFC 8470). */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/**
 * Nothing where a server says that it was done.
 *
 * @throws DidNothing where it says that it was not, another error where that is not certain. `isConflictOpen`: a 409 may mean
 * that a request of the same key is still at work. What the server said is the `cause`, and in no message: it may be a secret.
 */
export function requireDone(
  { method, url }: HttpRequest,
  { status, headers, said }: Exchanged,
  { isConflictOpen }: { readonly isConflictOpen: boolean },
): void {
  if (status >= 200 && status < 300) return;
  // Without the query, in which there may be secrets.
  const what = `${method} ${url.origin}${url.pathname} was answered with ${status}`;
  const why = `http_${status}`;
  const cause = said === undefined ? undefined : new Error(said);
  if (status === 409 && isConflictOpen) throw new NoAnswer(what, { why, cause, afterMs: retryAfterMs(headers) });
  if (PASSING.has(status)) throw new DidNothing(what, { afterMs: retryAfterMs(headers), why, cause });
  if (status >= 400 && status < 500) throw new DidNothing(what, { final: true, why, cause });
  // These alone tell a client to make the very same request elsewhere; others may come after the deed.
  if (status === 307 || status === 308)
    throw new DidNothing(`${what}, which is not followed`, { final: true, why, cause });
  const unsure = status >= 300 && status < 400 ? `${what}, which is not followed` : what;
  throw new NoAnswer(unsure, { why, cause, afterMs: retryAfterMs(headers) });
}

/** By the server's own clock, where it names a date (RFC 9110 section 10.2.3). */
function retryAfterMs({ 'retry-after': after, date }: HttpAnswer['headers']): number | undefined {
  if (after === undefined) return undefined;
  const ms = /^\d+$/.test(after) ? 1_000 * Number(after) : Date.parse(after) - Date.parse(date ?? '');
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
