import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * The fate of the next commit that a store sends:
 * - `before`: the server never sees it.
 * - `torn`: the server sees half of it.
 * - `under way`: the server has it. The store loses the connection immediately, and the server does
 *   not notice.
 * - `answered`: the server has answered, and the answer is lost.
 * - `silence`: the server has it. The store receives nothing more over a connection that stays.
 */
export type Loss = 'before' | 'torn' | 'under way' | 'answered' | 'silence';

/** How the calls of commits begin in what the driver sends. */
const COMMIT = 'assize append';

/** A relay to a server on loopback that loses messages on demand. */
export class Relay {
  readonly #server: Server;
  readonly #target: number;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #loss: Loss | undefined;
  #call: string = COMMIT;
  #lost: () => void = () => undefined;
  /** Connections are closed as soon as they are made. */
  isClosed = false;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#relay(client));
  }

  static async start(target: number): Promise<Relay> {
    const relay = new Relay(target);
    await once(relay.#server.listen(0, '127.0.0.1'), 'listening');
    return relay;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Settles when it has happened. `call`: to which commit; default: any. */
  lose(loss: Loss, call: string = COMMIT): Promise<void> {
    this.#loss = loss;
    this.#call = call;
    return new Promise((resolve) => (this.#lost = resolve));
  }

  /** Breaks every connection. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.resetAndDestroy();
    this.#pairs.clear();
  }

  async stop(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #relay(client: Socket): void {
    if (this.isClosed) {
      client.destroy();
      return;
    }
    const server = connect(this.#target, '127.0.0.1');
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    let loss: Loss | undefined;
    const end = (): void => {
      client.destroy();
      if (loss === 'under way') return;
      server.destroy();
      this.#pairs.delete(pair);
    };
    for (const socket of pair) socket.on('error', end).on('close', end);
    client.on('data', (data) => {
      if (this.#loss !== undefined && data.includes(this.#call)) {
        loss = this.#loss;
        this.#loss = undefined;
        if (loss === 'torn') server.write(data.subarray(0, data.length / 2), end);
        if (loss === 'under way') server.write(data, end);
        if (loss === 'before') end();
        if (loss !== 'answered') this.#lost();
        if (loss !== 'answered' && loss !== 'silence') return;
      }
      server.write(data);
    });
    server.on('data', (data) => {
      if (loss === undefined) client.write(data);
      if (loss !== 'answered') return;
      end();
      this.#lost();
    });
  }
}
