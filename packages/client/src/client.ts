import { type EntryEvent, entryEvents, type Following } from './events.ts';
import type {
  AnswerOf,
  ApprovalDecision,
  Method,
  OperationOf,
  PathOf,
  Proposal,
  RequestOf,
  Ruling,
  Sending,
} from './operations.ts';
import { PAUSE_MS, pause } from './pause.ts';
import { isWithoutAnswer, problemOf } from './problem.ts';

export interface ClientOptions {
  /** Scheme, host and port of the server. */
  readonly url: string;
  /** Absent in the console's own pages, where the session of the browser is sent. */
  readonly token?: string;
  /** How often a request that may be repeated is repeated. Default: 3. */
  readonly retries?: number;
  readonly fetch?: typeof fetch;
}

/** The pauses double up to this one. `Retry-After` asks for a longer one. */
const PAUSE_MS_MAX = 30_000;

interface Request extends Sending {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/**
 * One principal at one server. A read, and a change with a key, are repeated after a lost answer
 * and after an answer that is retryable. Another change is sent once.
 *
 * @throws AssizeProblem if the server refuses; the error of `fetch` if no answer comes
 */
export class AssizeClient {
  readonly #options: Required<Pick<ClientOptions, 'retries' | 'fetch'>> & ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = { retries: 3, fetch: (...args) => fetch(...args), ...options };
  }

  /** Calls an operation by its method and path, as `/openapi.json` has them. */
  async call<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    request: RequestOf<OperationOf<M, P>>,
  ): Promise<AnswerOf<OperationOf<M, P>>> {
    const response = await this.#send(method, path, request as Request);
    return (await response.json()) as AnswerOf<OperationOf<M, P>>;
  }

  /** Proposes an action. The same key again is the same proposal, and has its ruling. */
  propose(
    trajectory: string,
    proposal: Proposal,
    sending: Sending & { readonly key: string },
  ): Promise<Ruling> {
    const request = { path: { trajectory }, body: proposal, ...sending };
    return this.#json('post', '/v1/trajectories/{trajectory}/proposals', request);
  }

  /** Approves exactly the proposal that was shown, by its digest. It is sent once. */
  approve(approval: string, decision: ApprovalDecision): Promise<Ruling> {
    const request = { path: { approval }, body: decision };
    return this.#json('post', '/v1/approvals/{approval}/approve', request);
  }

  /** Rejects the proposal that was shown, by its digest. It is sent once. */
  reject(
    approval: string,
    decision: { readonly digest: string; readonly reason: string },
  ): Promise<Ruling> {
    const request = { path: { approval }, body: decision };
    return this.#json('post', '/v1/approvals/{approval}/reject', request);
  }

  /**
   * The entries of the log while they are recorded, each once, without an end. A lost connection
   * goes on after its last event.
   */
  events(following: Following = {}): AsyncGenerator<EntryEvent, void, undefined> {
    return entryEvents((query, headers, signal) => {
      const request = { query, ...(signal !== undefined && { signal }) };
      return this.#send('get', '/v1/events', request, headers);
    }, following);
  }

  async #json<T>(method: Method, path: string, request: Request): Promise<T> {
    return (await (await this.#send(method, path, request)).json()) as T;
  }

  async #send(
    method: Method,
    path: string,
    request: Request,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const isRepeatable = method === 'get' || request.key !== undefined;
    for (let left = isRepeatable ? this.#options.retries : 0; ; left--) {
      const pauseMs = PAUSE_MS * 2 ** (this.#options.retries - left);
      try {
        const response = await this.#fetch(method, path, request, headers);
        if (response.ok) return response;
        const problem = await problemOf(response);
        if (!problem.retryable || left <= 0) throw problem;
        const askedMs = (Number(response.headers.get('retry-after')) || 0) * 1_000;
        await pause(Math.min(Math.max(askedMs, pauseMs), PAUSE_MS_MAX), request.signal);
      } catch (error) {
        if (!isWithoutAnswer(error) || left <= 0) throw error;
        await pause(Math.min(pauseMs, PAUSE_MS_MAX), request.signal);
      }
    }
  }

  #fetch(
    method: Method,
    path: string,
    { path: names = {}, query = {}, body, key, waitSeconds, signal }: Request,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const { url, token, fetch } = this.#options;
    const address = new URL(
      path.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(String(names[name]))),
      url,
    );
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) address.searchParams.set(name, String(value));
    return fetch(address, {
      method: method.toUpperCase(),
      headers: {
        ...headers,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(waitSeconds !== undefined && { prefer: `wait=${waitSeconds}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  }
}

/** A name as one segment of a path. URLs resolve `.` and `..` also when they are encoded. */
function segmentOf(name: string): string {
  if (/^\.{0,2}$/.test(name)) throw new RangeError(`"${name}" names nothing at a server.`);
  return encodeURIComponent(name);
}
