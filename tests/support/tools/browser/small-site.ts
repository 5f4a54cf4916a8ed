import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Answers = (request: IncomingMessage, response: ServerResponse) => unknown;

/** By path: as HTML, or as what answers. */
export interface Pages {
  readonly [path: string]: string | Answers;
}

/** A site of a few pages, on this machine. It tells what it was asked for. */
export class SmallSite implements AsyncDisposable {
  /** `GET /path`, in their order. */
  readonly asked: string[] = [];
  readonly #pages: Pages;
  readonly #server: Server;

  private constructor(pages: Pages) {
    this.#pages = pages;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async open(pages: Pages): Promise<SmallSite> {
    const site = new SmallSite(pages);
    site.#server.listen(0, '127.0.0.1');
    await once(site.#server, 'listening');
    return site;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The same site under another name, so of another origin. */
  get alias(): string {
    return `http://localhost:${this.port}`;
  }

  get posts(): string[] {
    return this.asked.filter((one) => one.startsWith('POST'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    this.asked.push(`${request.method} ${pathname}`);
    const page = this.#pages[pathname];
    if (typeof page === 'function') page(request, response);
    else
      answerWith(page ?? 'there is no such page', { status: page === undefined ? 404 : 200 })(
        request,
        response,
      );
  }
}

/** A page as it is. */
export function answerWith(
  body: string,
  {
    status = 200,
    type = 'text/html',
    headers = {},
  }: { status?: number; type?: string; headers?: object } = {},
): Answers {
  const text = type === 'text/html' ? `<!doctype html>${body}` : body;
  return (_, response) =>
    response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, ...headers }).end(text);
}

export function script(body: string): Answers {
  return answerWith(body, { type: 'text/javascript' });
}

export function leadTo(location: string, status = 302): Answers {
  return (_, response) => response.writeHead(status, { location }).end();
}
