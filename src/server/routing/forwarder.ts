import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isInstance } from '#base';
import type { Member } from './members.ts';

/** Names the server that forwarded a request. Such a request is not forwarded again. */
export const FORWARDED_BY = 'assize-forwarded-by';

/** A connection must be made within this time. */
const CONNECT_MS = 1_000;
/** Connections to one server, each for one request at a time. */
const CONNECTIONS_MAX = 256;
const AGENT = { keepAlive: true, maxSockets: CONNECTIONS_MAX, maxFreeSockets: CONNECTIONS_MAX } as const;

/** Headers of one connection, and those that the HTTP library sets. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Sends requests of clients on to other servers of the store. */
export class Forwarder {
  readonly #http: HttpAgent = new HttpAgent(AGENT);
  readonly #https: HttpsAgent = new HttpsAgent(AGENT);
  readonly #id: string;

  /** `id`: of this server. */
  constructor(id: string) {
    this.#id = id;
  }

  /**
   * The answer of a server to a request with a body. Undefined if there is none: the server could
   * not be reached, is stopping, or counts as dead before it answered. It may then have executed
   * the request.
   */
  async send(
    { url, gone }: Member,
    request: Request,
    body: Uint8Array,
    signal: AbortSignal,
  ): Promise<Response | undefined> {
    const ended = AbortSignal.any([gone, signal]);
    const place = new URL(pathOf(request.url), url);
    const headers = { ...headersOf(request), 'content-length': body.byteLength, [FORWARDED_BY]: this.#id };
    const options = { method: request.method, headers, signal: ended };
    for (;;) {
      try {
        const response = await this.#exchange(place, options, body);
        return response.status === 503 ? undefined : response;
      } catch (error) {
        if (!isInstance(error, ExchangeError)) throw error;
        // The server closed an idle connection at the moment of the request.
        if (!error.wasReused || ended.aborted) return undefined;
      }
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  #exchange(place: URL, options: RequestOptions, body: Uint8Array): Promise<Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const isTls = place.protocol === 'https:';
    const sent = isTls
      ? httpsRequest(place, { ...options, agent: this.#https })
      : httpRequest(place, { ...options, agent: this.#http });
    const failed = (cause: unknown) => reject(new ExchangeError(cause, sent.reusedSocket));
    sent.once('socket', (socket) => {
      if (!socket.connecting) return;
      const timer = setTimeout(() => sent.destroy(new Error(`no connection within ${CONNECT_MS} ms`)), CONNECT_MS);
      const settled = () => clearTimeout(timer);
      socket.once(isTls ? 'secureConnect' : 'connect', settled).once('close', settled);
    });
    sent.once('error', failed);
    sent.once('response', (response) => void answerOf(response).then(resolve, failed));
    sent.end(body);
    return promise;
  }
}

/** The connection ended before the answer was complete. */
class ExchangeError extends Error {
  /** Whether the connection had carried an earlier request. */
  readonly wasReused: boolean;

  constructor(cause: unknown, wasReused: boolean) {
    super('the server did not answer', { cause });
    this.wasReused = wasReused;
  }
}

async function answerOf(response: IncomingMessage): Promise<Response> {
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const headers = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
    OWN_HEADERS.has(name) ? [] : values.map((value): [string, string] => [name, value]),
  );
  const status = response.statusCode ?? 502;
  return new Response(status === 204 || status === 304 ? null : Buffer.concat(pieces), { status, headers });
}

function headersOf(request: Request): Record<string, string> {
  return Object.fromEntries([...request.headers].filter(([name]) => !OWN_HEADERS.has(name)));
}

/** The path of a URL with its query, which is sent unchanged. */
function pathOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3));
}
