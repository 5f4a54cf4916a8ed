import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a receiver of notices got. */
export interface ReceivedNotice {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: any;
}

/** Answers one request. `n` counts the requests from 1. */
export type Answer = (response: ServerResponse, n: number) => void;

/** A receiver of webhooks on this machine, with its own list of requests. */
export class NoticeSink implements AsyncDisposable {
  readonly received: ReceivedNotice[] = [];
  answer: Answer;
  readonly #server: Server;

  private constructor(answer: Answer) {
    this.answer = answer;
    this.#server = createServer((request, response) => {
      let text = '';
      request.on('data', (part) => (text += part));
      request.on('end', () => {
        const { headers } = request;
        this.received.push({ id: String(headers['webhook-id']), headers, body: JSON.parse(text) });
        this.answer(response, this.received.length);
      });
    });
  }

  static async open(
    answer: Answer = (response) => void response.end(),
    port = 0,
  ): Promise<NoticeSink> {
    const sink = new NoticeSink(answer);
    await once(sink.#server.listen(port, '127.0.0.1'), 'listening');
    return sink;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/notices`;
  }

  /** The bodies of a type. */
  of(type: string): any[] {
    return this.received.map(({ body }) => body).filter((body) => body.type === type);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
