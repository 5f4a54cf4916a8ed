import { isInstance, type Json } from 'assize/internal/base';
import { parseStrict } from 'assize/internal/canon';
import { badOption, ModelError } from './errors.ts';
import { statusError } from './http-status.ts';
import { redacted } from './redacted.ts';
import {
  type Retries,
  type RetryOptions,
  retriesOf,
  retryAfterMs,
  withRetries,
} from './retries.ts';

/** The limits of a request. */
export interface TransportOptions extends RetryOptions {
  /** Time limit of one request, from its start to the end of the answer. Default: 120,000. */
  readonly timeoutMs?: number;
  /** Maximum size of an answer. Default: 4 MiB. */
  readonly bytesMax?: number;
}

/** One endpoint of a provider. */
export interface Endpoint {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Never quoted. */
  readonly secret: string | undefined;
  readonly retries: Retries;
  readonly timeoutMs: number;
  readonly bytesMax: number;
}

const TIMEOUT_MS = 120_000;
const BYTES_MAX = 4_194_304;
/** Maximum size of an error's body: the rest says no more. */
const ERROR_BYTES_MAX = 16_384;

/** @throws ModelError `bad_argument` */
export function endpoint(
  url: URL,
  headers: Readonly<Record<string, string>>,
  secret: string | undefined,
  options: TransportOptions,
): Endpoint {
  const { timeoutMs = TIMEOUT_MS, bytesMax = BYTES_MAX } = options;
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs >= 2 ** 31)
    throw badOption('timeoutMs', 'pass a whole number of milliseconds from 1');
  if (!Number.isSafeInteger(bytesMax) || bytesMax < 1)
    throw badOption('bytesMax', 'pass a whole number from 1');
  return { url, headers, secret, retries: retriesOf(options), timeoutMs, bytesMax };
}

/**
 * Sends JSON with POST, and reads JSON. Redirections are refused: they could carry the key to
 * another host.
 *
 * @throws ModelError; the reason of the signal
 */
export function postJson(to: Endpoint, body: Json, signal?: AbortSignal): Promise<Json> {
  const text = JSON.stringify(body);
  return withRetries(to.retries, signal, () => postOnce(to, text, signal));
}

async function postOnce(
  to: Endpoint,
  body: string,
  signal: AbortSignal | undefined,
): Promise<Json> {
  const { timeoutMs } = to;
  const limit = AbortSignal.timeout(timeoutMs);
  const either = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  try {
    return await read(to, await sent(to, body, either));
  } catch (error) {
    if (!limit.aborted || isInstance(error, ModelError)) throw error;
    throw new ModelError(
      'model_timeout',
      `${to.url.host} did not answer within ${timeoutMs} ms. Run again, or raise timeoutMs.`,
      { evidence: { timeoutMs }, retryable: true },
    );
  }
}

async function sent(
  { url, headers }: Endpoint,
  body: string,
  signal: AbortSignal,
): Promise<Response> {
  const own = { ...headers, 'content-type': 'application/json', accept: 'application/json' };
  try {
    return await fetch(url.href, {
      method: 'POST',
      headers: own,
      body,
      redirect: 'manual',
      signal,
    });
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new ModelError(
      'unreachable',
      `${url.host} cannot be reached. Check the base URL and the network.`,
      {
        cause,
        retryable: true,
      },
    );
  }
}

async function read({ url, secret, bytesMax }: Endpoint, response: Response): Promise<Json> {
  const headers = Object.fromEntries(response.headers);
  if (!response.ok) {
    const said = redacted(messageIn(await startOf(response)), secret);
    throw statusError(response.status, said, retryAfterMs(headers));
  }
  const contentType = headers['content-type'] ?? '';
  if (!/^application\/([\w.+-]*\+)?json\s*(;|$)/i.test(contentType)) {
    await response.body?.cancel();
    const evidence = { contentType: redacted(contentType, secret) };
    throw new ModelError(
      'bad_answer',
      `${url.host} answered with ${evidence.contentType || 'no content type'} instead of JSON. Check the base URL.`,
      { evidence },
    );
  }
  const bytes = await whole(url, response, bytesMax);
  try {
    return parseStrict(bytes, { bytesMax, nodesMax: bytesMax, depthMax: 256, integers: 'any' });
  } catch (cause) {
    throw new ModelError(
      'bad_answer',
      `The answer of ${url.host} is not JSON. Check the base URL, or run again.`,
      {
        cause,
      },
    );
  }
}

async function whole(url: URL, response: Response, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > bytesMax)
        throw new ModelError(
          'bad_answer',
          `The answer of ${url.host} has more than ${bytesMax} bytes. Raise bytesMax, or limit maxTokens.`,
          { evidence: { bytesMax } },
        );
      chunks.push(chunk);
    }
  } catch (cause) {
    if (isInstance(cause, ModelError) || isTimeoutOrAbort(cause)) throw cause;
    throw new ModelError('unreachable', `The answer of ${url.host} ended too early. Run again.`, {
      cause,
      retryable: true,
    });
  }
  return Buffer.concat(chunks);
}

/** The received start of an error's body. */
async function startOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  for (let size = 0; reader !== undefined && size < ERROR_BYTES_MAX; ) {
    // The status decides, so a body that breaks off adds no fault.
    const next = await reader.read().catch(() => undefined);
    if (next === undefined || next.done) break;
    chunks.push(next.value);
    size += next.value.length;
  }
  await reader?.cancel().catch(() => undefined);
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, ERROR_BYTES_MAX));
}

function isTimeoutOrAbort(error: unknown): boolean {
  const { name } = (error ?? {}) as { readonly name?: unknown };
  return name === 'TimeoutError' || name === 'AbortError';
}

/** The message in an error's body, as most providers write it; otherwise the body. */
function messageIn(body: string): string {
  try {
    const { error, message, detail } = JSON.parse(body) as Record<string, unknown>;
    const inner =
      typeof error === 'object' && error !== null
        ? (error as Record<string, unknown>)['message']
        : error;
    const found = [inner, message, detail].find((each) => typeof each === 'string');
    return (found as string | undefined) ?? '';
  } catch {
    // The body of a proxy is a page: its text says little, and its start is enough.
    return /^\s*</.test(body) ? '' : body;
  }
}
