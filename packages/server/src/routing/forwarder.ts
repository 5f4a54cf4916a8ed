import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isInstance } from 'assize/internal/base';
import { FORWARDED, type ForwardMark, pathOf } from './forward-mark.ts';
import type { Member } from './members.ts';

/** A connection must be made within this time. */
const CONNECT_MS = 1_000;
/** Idle connections to one server. */
const IDLE_MAX = 256;
const AGENT = { keepAlive: true, maxFreeSockets: IDLE_MAX } as const;

/** Headers of one connection, and those that the HTTP library or the mark sets. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  FORWARDED,
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Codes of answers by which a server says that it has not executed a request. */
const NOT_EXECUTED: ReadonlySet<unknown> = new Set(['bad_host', 'stopping', 'unknown_operation']);

/** The parts of a request for another server. */
export interface Forwarding {
  readonly request: Request;
  readonly requestId: string;
  readonly body: Uint8Array;
  /** Ends when the client leaves, or its time is over. */
  readonly signal: AbortSignal;
  /** Whether the request may be sent twice: its key makes it the same. Default: true. */
  readonly mayRepeat?: boolean;
}

/** Sends requests of clients on to other servers of the store. */
export class Forwarder {
  readonly #http: HttpAgent = new HttpAgent(AGENT);
  readonly #https: HttpsAgent = new HttpsAgent(AGENT);
  readonly #mark: ForwardMark;

  constructor(mark: ForwardMark) {
    this.#mark = mark;
  }

  /**
   * The answer of a server to a request with a body. Undefined if there is none: the server could
   * not be reached, refuses every request, or counts as dead before it answered. It may then have
   * executed the request.
   */
  async send({ url, gone }: Member, forwarding: Forwarding): Promise<Response | undefined> {
    const { request, requestId, body, signal, mayRepeat = true } = forwarding;
    const path = pathOf(request.url);
    const mark = this.#mark.of(requestId, request.method, path);
    const headers = { ...headersOf(request), 'content-length': body.byteLength, [FORWARDED]: mark };
    const options = {
      ...{ method: request.method, headers, signal: AbortSignal.any([gone, signal]) },
      // The server may close a connection that waits at the moment of the request.
      ...(!mayRepeat && { agent: false as const }),
    };
    const place = new URL(path, url);
    try {
      return await this.#exchange(place, options, body).catch((error: unknown) => {
        if (!isInstance(error, ExchangeError) || !error.wasClosedIdle || options.signal.aborted)
          throw error;
        return this.#exchange(place, { ...options, agent: false }, body);
      });
    } catch (error) {
      if (isInstance(error, ExchangeError)) return undefined;
      throw error;
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  #exchange(place: URL, options: RequestOptions, body: Uint8Array): Promise<Response | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Response | undefined>();
    const isTls = place.protocol === 'https:';
    const sent = isTls
      ? httpsRequest(place, { agent: this.#https, ...options })
      : httpRequest(place, { agent: this.#http, ...options });
    let isAnswered = false;
    const failed = (cause: unknown) =>
      reject(new ExchangeError(cause, sent.reusedSocket && !isAnswered));
    sent.once('socket', (socket) => {
      if (!socket.connecting) return;
      const timer = setTimeout(
        () => sent.destroy(new Error(`no connection within ${CONNECT_MS} ms`)),
        CONNECT_MS,
      );
      const settled = () => clearTimeout(timer);
      socket.once(isTls ? 'secureConnect' : 'connect', settled).once('close', settled);
    });
    sent.once('error', failed);
    sent.once('response', (response) => {
      isAnswered = true;
      void answerOf(response).then(resolve, failed);
    });
    sent.end(body);
    return promise;
  }
}

/** The connection ended before the answer was complete. */
class ExchangeError extends Error {
  /** Whether the server closed a connection that waited for a request, perhaps before this one. */
  readonly wasClosedIdle: boolean;

  constructor(cause: unknown, wasClosedIdle: boolean) {
    super('the server did not answer', { cause });
    this.wasClosedIdle = wasClosedIdle;
  }
}

/** Undefined if the server says that it has not executed the request. */
async function answerOf(response: IncomingMessage): Promise<Response | undefined> {
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const body = Buffer.concat(pieces);
  const { statusCode: status = 502, headersDistinct } = response;
  if ((status === 404 || status === 421 || status === 503) && NOT_EXECUTED.has(codeIn(body)))
    return undefined;
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    OWN_HEADERS.has(name) ? [] : values.map((value): [string, string] => [name, value]),
  );
  return new Response(status === 204 || status === 304 ? null : body, { status, headers });
}

/** The code of a problem document. */
function codeIn(body: Buffer): unknown {
  try {
    return (JSON.parse(body.toString()) as { readonly code?: unknown } | null)?.code;
  } catch (error) {
    if (isInstance(error, SyntaxError)) return undefined;
    throw error;
  }
}

function headersOf(request: Request): Record<string, string> {
  return Object.fromEntries([...request.headers].filter(([name]) => !OWN_HEADERS.has(name)));
}
