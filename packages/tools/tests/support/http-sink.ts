import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Sink } from 'assize/internal/effects';
import { OutsideSink } from '../../../../tests/support/tools/effect-sink.ts';

/**
 * The outcome of a request.
 * - A number: refused with that status, without effect.
 * - `after`: executed, and answered with 500.
 * - `lose`: executed, and the connection ends.
 * - `lose_before`: not executed, and the connection ends.
 * - `hang`: executed, and not answered.
 * - `garbage`: executed, with an invalid answer.
 */
export type RequestFault = 'none' | 'after' | 'lose' | 'lose_before' | 'hang' | 'garbage' | number;

/**
 * A shop on this machine that accepts orders: POST /orders, DELETE /orders/WHAT, GET /effects/KEY.
 * It has its own log.
 */
export class HttpSink implements AsyncDisposable {
  readonly sink: OutsideSink;
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage['headers'];
  }[] = [];
  /** Of the next requests, in their order. */
  readonly faults: RequestFault[];
  readonly #server: Server;

  private constructor(sort: Sink, faults: RequestFault[]) {
    this.sink = new OutsideSink(sort);
    this.faults = faults;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async open(sort: Sink, faults: readonly RequestFault[] = []): Promise<HttpSink> {
    const made = new HttpSink(sort, [...faults]);
    made.#server.listen(0, '127.0.0.1');
    await once(made.#server, 'listening');
    return made;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    this.requests.push({ method, url, headers });
    const chunks = await request.toArray();
    const fault = this.faults.shift() ?? 'none';
    if (typeof fault === 'number') {
      response
        .writeHead(fault, fault >= 300 && fault < 400 ? { location: '/elsewhere' } : {})
        .end('refused');
      return;
    }
    if (fault === 'lose_before') {
      request.socket.destroy();
      return;
    }
    const [status, body] = this.#act(
      method,
      url,
      String(headers['idempotency-key']),
      Buffer.concat(chunks).toString(),
    );
    if (fault === 'lose') request.socket.destroy();
    else if (fault === 'after') response.writeHead(500).end('{}');
    else if (fault === 'garbage') response.writeHead(200).end('{"a":1,"a":2}');
    else if (fault !== 'hang')
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #act(method: string, url: string, key: string, text: string): [number, unknown] {
    const [, folder, name = ''] = url.split('/').map(decodeURIComponent);
    if (method === 'POST' && folder === 'orders') {
      const { what } = JSON.parse(text) as { what: string };
      this.sink.do(key, what);
      return [201, { id: what }];
    }
    if (method === 'DELETE' && folder === 'orders') {
      this.sink.undo(key.replace(/^undo-/, ''), name);
      return [200, {}];
    }
    if (method === 'GET' && folder === 'effects') {
      const order = this.sink.log.find(({ key: of }) => of === name);
      return this.sink.has(name) ? [200, { id: order?.what }] : [404, {}];
    }
    if (method === 'GET' && folder === 'moved') return [200, { at: url }];
    return [404, {}];
  }
}
