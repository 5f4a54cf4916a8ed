import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Sink } from 'assize/internal/effects';

/** A request that reached a sink and was executed. A keyed sink ignores a repeated key. */
export interface Arrival {
  readonly did: 'do' | 'undo';
  readonly tool: string;
  readonly order: string;
  readonly key: string;
}

/** The sinks of tools in other processes. Results are read only from these sinks. */
export class Sinks {
  readonly log: Arrival[];
  readonly #sort: Sink;
  readonly #seen: Set<string>;
  readonly #stands: Set<string>;
  readonly #server: Server;
  /**
   * Called with each executed request before its answer. If it returns true, the request gets no
   * answer.
   */
  #silent: (arrival: Arrival) => boolean = () => false;

  /** Starts with the arrivals of `before`. */
  constructor(sort: Sink, before?: Sinks) {
    this.#sort = sort;
    this.log = [...(before?.log ?? [])];
    this.#seen = new Set(before === undefined ? [] : before.#seen);
    this.#stands = new Set(before === undefined ? [] : before.#stands);
    this.#server = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      const asked = JSON.parse(text) as
        | Arrival
        | { readonly did: 'ask'; readonly tool: string; readonly key: string };
      const id = `${asked.tool} ${asked.key}`;
      if (asked.did !== 'ask') {
        this.#take(asked, id);
        if (this.#silent(asked)) return;
      }
      response.end(JSON.stringify({ stands: this.#stands.has(id) }));
    });
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Others of the same sort, to which the same has come. */
  copy(): Sinks {
    return new Sinks(this.#sort, this);
  }

  /** Stops answering the requests for which `silent` returns true. */
  silentTo(silent: (arrival: Arrival) => boolean): void {
    this.#silent = silent;
  }

  times(did: Arrival['did'], tool: string, order: string): number {
    return this.log.filter((each) => each.did === did && each.tool === tool && each.order === order)
      .length;
  }

  #take(arrival: Arrival, id: string): void {
    if (arrival.did === 'do') {
      if (this.#sort === 'keyed' && this.#seen.has(id)) return;
      this.#seen.add(id);
      this.#stands.add(id);
    } else if (!this.#stands.delete(id) && this.#sort !== 'blind') return;
    this.log.push(arrival);
  }
}
