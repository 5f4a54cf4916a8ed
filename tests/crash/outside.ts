import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Sink } from '#effects';
import { OutsideSink } from '../support/tools/effect-sink.ts';

/** How a request goes: it is refused before anything is done, or what it did is not answered. */
export type Mishap = 'none' | 'refused' | 'unanswered';

/**
 * The sinks of the tools, in this process. It is not killed. The tests read the received calls
 * here, and nowhere else.
 */
export class Outside {
  readonly sinks: Record<Sink, OutsideSink> = {
    keyed: new OutsideSink('keyed'),
    queryable: new OutsideSink('queryable'),
    blind: new OutsideSink('blind'),
  };
  /**
   * Called at each request: `do`, `undo`, `has`, or the `look` of an operator. All succeed by
   * default.
   */
  mishap: (sort: Sink, does: string) => Mishap = () => 'none';
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      const { key, what } = JSON.parse(text);
      const [, sort, does = ''] = request.url!.split('/');
      const sink = this.sinks[sort as Sink];
      const mishap = this.mishap(sort as Sink, does);
      if (does === 'do' && mishap !== 'refused') sink.do(key, what);
      if (does === 'undo' && mishap !== 'refused') sink.undo(key, what);
      if (mishap !== 'none') response.statusCode = 500;
      response.end(JSON.stringify({ has: sink.has(key) }));
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return String((this.#server.address() as AddressInfo).port);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
