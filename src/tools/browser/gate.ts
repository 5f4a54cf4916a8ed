import type { Origins } from './origins.ts';
import type { BrowserContext, BrowserPage, BrowserRequest, BrowserResponse, BrowserRoute } from './port.ts';
import { HEADERS_LEFT_OUT, PRELUDE } from './prelude.ts';

/** What answered a document of the page itself. `next`: where it leads on, where nobody has gone yet. */
export interface Answered {
  readonly url: string;
  /** Of the request that it answers. */
  readonly method: string;
  readonly status: number;
  readonly next?: string;
}

type Listener = (answered: Answered | undefined) => void;

const REDIRECTS_MAX = 10;

/**
 * What a page may send. Nothing gets out but through it, and only to origins that are allowed; so whoever closes it knows whether
 * anything was sent that could have done something.
 */
export class Gate {
  /** Why something was held back, for who is told that it did not work. */
  readonly refused: string[] = [];
  /** What answered last. */
  last: Answered | undefined;
  /** `reading`: what only reads goes through. `acting`: all does, and is counted. */
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

  /** Requests that went out since the page may act. */
  get sent(): number {
    return this.#sent;
  }

  /** Those of them that do more than read. */
  get acts(): number {
    return this.#acts;
  }

  act(): void {
    this.#phase = 'acting';
  }

  /** What was to be done was done: from now on it is only looked at. */
  look(): void {
    this.#phase = 'reading';
  }

  close(): void {
    this.#phase = 'closed';
  }

  /** The next document of the page itself. @throws Error where its answer was lost, or could not be taken */
  answered(): Promise<Answered> {
    const { promise, resolve, reject } = Promise.withResolvers<Answered>();
    const once: Listener = (answered) => {
      this.#onAnswer.delete(once);
      if (answered !== undefined) resolve(answered);
      else reject(new Error(this.refused.at(-1) ?? 'the answer was lost'));
    };
    this.#onAnswer.add(once);
    return promise;
  }

  /** Before a page is told to go there: not all that a server can name comes through here. @throws Error */
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
    if (request.isNavigationRequest() && request.frame().parentFrame() === null) return this.#navigate(route, request);
    return this.#load(route, request);
  }

  /** One hop: a browser would follow a redirection past this gate, so whoever waits for the page goes there instead. */
  async #navigate(route: BrowserRoute, request: BrowserRequest): Promise<void> {
    const [url, method] = [request.url(), request.method()];
    let answered: Answered | undefined;
    try {
      const response = await route.fetch({ maxRedirects: 0, timeout: this.#timeoutMs });
      const [status, next] = [response.status(), nextOf(url, response)];
      if (next === undefined) {
        await this.#show(route, response);
        answered = { url, method, status };
        return;
      }
      await route.abort('aborted');
      // These ask for the same request elsewhere, which may be the deed itself.
      if (isRepeating(status) && !isReading(method)) this.refused.push(`${url} wants the request repeated at ${next}`);
      else answered = { url, method, status, next };
    } finally {
      this.#tell(answered);
    }
  }

  /**
   * What a page loads. It is handed over as what it asked for, so another origin is not followed to: a page could read there what is told
   * to who is signed in.
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
      const problem = isFollowed ? this.#problem('GET', next) : `${url} leads on to ${next}`;
      if (problem !== undefined) {
        this.refused.push(problem);
        return route.abort('blockedbyclient');
      }
      // What follows a deed is a page to look at (RFC 9110 section 15.4).
      [url, method] = [next, isReading(method) ? method : 'GET'];
      response = await route.fetch(
        method === request.method() ? { ...own, url } : { ...own, url, method, postData: '' },
      );
    }
  }

  /** A document or a worker may connect to nowhere else either: what it says in leaving does not come through here. */
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
    if (this.#phase === 'closed') return `${url} was asked for too late`;
    if (!this.#origins.has(url)) return `${originOf(url)} is not allowed`;
    if (this.#phase === 'reading' && !isReading(method)) return `a page that is only looked at may not ${method}`;
    return undefined;
  }

  #tell(answered: Answered | undefined): void {
    this.last = answered;
    for (const listener of this.#onAnswer) listener(answered);
  }
}

/** The gates of a context, by page. What has none sends nothing. */
export class Gates {
  static readonly #of = new WeakMap<BrowserContext, Promise<Gates>>();
  readonly #gates = new Map<BrowserPage, Gate>();
  readonly #opening = new Set<Promise<BrowserPage>>();

  /** The same for the same context, which is guarded from then on. */
  static in(context: BrowserContext): Promise<Gates> {
    let gates = Gates.#of.get(context);
    if (gates === undefined) {
      gates = new Gates().#guard(context);
      Gates.#of.set(context, gates);
    }
    return gates;
  }

  /** A page, with what it may send. */
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
        // Its connection ended, or its page was closed; whoever waits for it is told by the page.
        await route.abort('failed').catch(() => undefined);
      }
    });
    context.on('page', (page) => this.#closeUnasked(page));
    await context.addInitScript({ content: PRELUDE });
    // What goes through a socket can't be told apart.
    await context.routeWebSocket('**/*', (socket) => socket.close());
    return this;
  }

  /** What nobody here has opened. */
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

/** For who is told of it: `chrome:` and the like have none. */
function originOf(url: string): string {
  const { origin, protocol } = URL.parse(url) ?? {};
  return (origin === 'null' ? protocol : origin) ?? 'what is no URL';
}

/** Whether it is loaded into a document of another origin, which may read it where its server says that anybody may. */
function isForeign(request: BrowserRequest): boolean {
  return !request.isNavigationRequest() && URL.parse(request.frame().url())?.origin !== new URL(request.url()).origin;
}

/** All cookies of the context would be sent, whatever they and the page say of that. */
function withoutCookies(request: BrowserRequest): { readonly headers: { [name: string]: string } } {
  return { headers: { ...request.headers(), cookie: '' } };
}

/** Whether a redirection asks for the same request again, with all that it carries. */
function isRepeating(status: number): boolean {
  return status === 307 || status === 308;
}

function nextOf(url: string, response: BrowserResponse): string | undefined {
  const { location } = response.headers();
  if (location === undefined || ![301, 302, 303, 307, 308].includes(response.status())) return undefined;
  return URL.parse(location, url)?.href ?? 'nowhere';
}
