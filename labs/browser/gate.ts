import type { Origins } from './origins.ts';
import type {
  BrowserContext,
  BrowserPage,
  BrowserRequest,
  BrowserResponse,
  BrowserRoute,
} from './port.ts';
import { HEADERS_LEFT_OUT, PRELUDE } from './prelude.ts';

/**
 * The answer to a document request of the page itself. `next`: the redirection target, not yet
 * followed.
 */
export interface DocumentResponse {
  readonly url: string;
  /** The method of the answered request. */
  readonly method: string;
  readonly status: number;
  readonly next?: string;
}

type Listener = (answered: DocumentResponse | undefined) => void;

const REDIRECTS_MAX = 10;

/**
 * Controls the requests of a page. A request leaves the page only through the gate, and only to
 * allowed origins. A caller that closes the gate therefore knows whether any request that could
 * have an effect was sent.
 */
export class Gate {
  /** Reasons for the refused requests, for the error message. */
  readonly refused: string[] = [];
  /** The last answer. */
  last: DocumentResponse | undefined;
  /** `reading`: only reading requests pass. `acting`: all requests pass and are counted. */
  #phase: 'reading' | 'acting' | 'closed' = 'reading';
  #sent = 0;
  #acts = 0;
  readonly #origins: Origins;
  readonly #timeoutMs: number;
  readonly #onAnswer = new Set<Listener>();

  constructor(origins: Origins, timeoutMs: number) {
    this.#origins = origins;
    this.#timeoutMs = timeoutMs;
  }

  /** Number of requests sent since the page may act. */
  get sent(): number {
    return this.#sent;
  }

  /** Number of sent requests that do more than read. */
  get acts(): number {
    return this.#acts;
  }

  act(): void {
    this.#phase = 'acting';
  }

  /** Ends the acting phase: from now on the page may only read. */
  look(): void {
    this.#phase = 'reading';
  }

  close(): void {
    this.#phase = 'closed';
  }

  /**
   * The next document of the page itself.
   * @throws Error if the document's answer was lost or could not be read
   */
  answered(): Promise<DocumentResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<DocumentResponse>();
    const once: Listener = (answered) => {
      this.#onAnswer.delete(once);
      if (answered !== undefined) resolve(answered);
      else reject(new Error(this.refused.at(-1) ?? 'the answer was lost'));
    };
    this.#onAnswer.add(once);
    return promise;
  }

  /**
   * Checks a URL before navigation, because some URLs that a server can name never pass the gate.
   * @throws Error
   */
  requireAllowed(url: string): void {
    const problem = this.#problem('GET', url);
    if (problem === undefined) return;
    this.refused.push(problem);
    throw new Error(problem);
  }

  async pass(route: BrowserRoute): Promise<void> {
    const request = route.request();
    const problem = this.#problem(request.method(), request.url());
    if (problem !== undefined) {
      this.refused.push(problem);
      return route.abort('blockedbyclient');
    }
    if (this.#phase === 'acting') {
      this.#sent++;
      if (!isReading(request.method())) this.#acts++;
    }
    if (request.isNavigationRequest() && request.frame().parentFrame() === null)
      return this.#navigate(route, request);
    return this.#load(route, request);
  }

  /**
   * Answers one hop. A browser would follow a redirection past this gate, so the caller that waits
   * for the page follows it.
   */
  async #navigate(route: BrowserRoute, request: BrowserRequest): Promise<void> {
    const [url, method] = [request.url(), request.method()];
    let answered: DocumentResponse | undefined;
    try {
      const response = await route.fetch({ maxRedirects: 0, timeout: this.#timeoutMs });
      const [status, next] = [response.status(), nextOf(url, response)];
      if (next === undefined) {
        await this.#show(route, response);
        answered = { url, method, status };
        return;
      }
      await route.abort('aborted');
      // These redirections repeat the same request at another URL, and the request may be the
      // effect itself.
      if (isRepeating(status) && !isReading(method))
        this.refused.push(`${url} redirects the request to ${next}, where it would be repeated`);
      else answered = { url, method, status, next };
    } finally {
      this.#tell(answered);
    }
  }

  /**
   * Loads a resource of a page. The resource is served under the requested URL, so a redirection to
   * another origin is not followed. Otherwise a page could read data that another origin returns to
   * a signed-in user.
   */
  async #load(route: BrowserRoute, request: BrowserRequest): Promise<void> {
    let [url, method] = [request.url(), request.method()];
    const own = {
      maxRedirects: 0,
      timeout: this.#timeoutMs,
      ...(isForeign(request) && withoutCookies(request)),
    } as const;
    let response = await route.fetch(own);
    for (let hops = 0; ; hops++) {
      const next = nextOf(url, response);
      if (next === undefined) return this.#show(route, response);
      const isFollowed =
        hops < REDIRECTS_MAX &&
        (isReading(method) || !isRepeating(response.status())) &&
        URL.parse(next)?.origin === new URL(url).origin;
      const problem = isFollowed ? this.#problem('GET', next) : `${url} redirects to ${next}`;
      if (problem !== undefined) {
        this.refused.push(problem);
        return route.abort('blockedbyclient');
      }
      // The response to an acting request redirects to a page to read (RFC 9110 section 15.4).
      [url, method] = [next, isReading(method) ? method : 'GET'];
      response = await route.fetch(
        method === request.method() ? { ...own, url } : { ...own, url, method, postData: '' },
      );
    }
  }

  /**
   * Restricts the connections of a document or worker too, because requests sent while leaving do
   * not pass the gate.
   */
  #show(route: BrowserRoute, response: BrowserResponse): Promise<void> {
    const { 'content-security-policy': own, ...rest } = response.headers();
    const policy = `connect-src ${this.#origins.all.join(' ')}`;
    const kept = Object.entries(rest).filter(([name]) => !HEADERS_LEFT_OUT.has(name));
    const headers = {
      ...Object.fromEntries(kept),
      'content-security-policy': own === undefined ? policy : `${own}, ${policy}`,
    };
    return route.fulfill({ response, headers });
  }

  #problem(method: string, url: string): string | undefined {
    if (this.#phase === 'closed') return `the request of ${url} came after the page was closed`;
    if (!this.#origins.has(url)) return `${originOf(url)} is not allowed`;
    if (this.#phase === 'reading' && !isReading(method))
      return `a page that is open for reading cannot send ${method}`;
    return undefined;
  }

  #tell(answered: DocumentResponse | undefined): void {
    this.last = answered;
    for (const listener of this.#onAnswer) listener(answered);
  }
}

/** The gates of a context, by page. A page without a gate sends nothing. */
export class Gates {
  static readonly #of = new WeakMap<BrowserContext, Promise<Gates>>();
  readonly #gates = new Map<BrowserPage, Gate>();
  readonly #opening = new Set<Promise<BrowserPage>>();

  /** Returns the same gates for the same context, and guards the context from then on. */
  static in(context: BrowserContext): Promise<Gates> {
    let gates = Gates.#of.get(context);
    if (gates === undefined) {
      gates = new Gates().#guard(context);
      Gates.#of.set(context, gates);
    }
    return gates;
  }

  /** Opens a page with requests that pass the given gate. */
  open(context: BrowserContext, gate: Gate): Promise<BrowserPage> {
    const made = context.newPage().then((page) => {
      this.#gates.set(page, gate);
      return page;
    });
    this.#opening.add(made);
    const done = (): unknown => this.#opening.delete(made);
    made.then(done, done);
    return made;
  }

  delete(page: BrowserPage): void {
    this.#gates.delete(page);
  }

  async #guard(context: BrowserContext): Promise<this> {
    await context.route('**/*', async (route) => {
      try {
        await (this.#gateOf(route.request())?.pass(route) ?? route.abort('blockedbyclient'));
      } catch {
        // The connection ended or the page was closed. The page itself reports this to the caller
        // that waits for it.
        await route.abort('failed').catch(() => undefined);
      }
    });
    context.on('page', (page) => this.#closeUnasked(page));
    await context.addInitScript({ content: PRELUDE });
    // The gate cannot distinguish reads from writes in a socket.
    await context.routeWebSocket('**/*', (socket) => socket.close());
    return this;
  }

  /** Closes pages that these tools did not open. */
  async #closeUnasked(page: BrowserPage): Promise<void> {
    await Promise.allSettled(this.#opening);
    if (!this.#gates.has(page)) await page.close().catch(() => undefined);
  }

  #gateOf(request: BrowserRequest): Gate | undefined {
    try {
      return this.#gates.get(request.frame().page());
    } catch {
      return undefined;
    }
  }
}

export function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The origin for error messages. URLs such as `chrome:` have no origin. */
function originOf(url: string): string {
  const { origin, protocol } = URL.parse(url) ?? {};
  return (origin === 'null' ? protocol : origin) ?? 'an invalid URL';
}

/**
 * Whether the resource is loaded into a document of another origin. The document may read it if its
 * server allows all origins.
 */
function isForeign(request: BrowserRequest): boolean {
  return (
    !request.isNavigationRequest() &&
    URL.parse(request.frame().url())?.origin !== new URL(request.url()).origin
  );
}

/**
 * The browser would send all cookies of the context, regardless of the credentials mode of the
 * request.
 */
function withoutCookies(request: BrowserRequest): { readonly headers: { [name: string]: string } } {
  return { headers: { ...request.headers(), cookie: '' } };
}

/** Whether a redirection repeats the same request, with its method and body. */
function isRepeating(status: number): boolean {
  return status === 307 || status === 308;
}

function nextOf(url: string, response: BrowserResponse): string | undefined {
  const { location } = response.headers();
  if (location === undefined || ![301, 302, 303, 307, 308].includes(response.status()))
    return undefined;
  return URL.parse(location, url)?.href ?? 'nowhere';
}
