import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Fault } from '../schedule.ts';

/**
 * A receiver of webhooks on this machine, with its own log of the requests, in order, each key
 * once.
 */
export interface WebhookServer extends AsyncDisposable {
  /** With the port. */
  readonly host: string;
  readonly taken: readonly string[];
}

/**
 * `faultOf`: the fault of the next request with that content. `exception`: the receiver refuses it
 * for now. `lost`: the receiver accepts it, and the connection ends without an answer.
 */
export async function openWebhookServer(
  faultOf: (what: string) => Fault = () => 'none',
): Promise<WebhookServer> {
  const taken: string[] = [];
  const keys = new Set<string>();
  const server = createServer((request, response) => {
    request.toArray().then(
      (chunks) => {
        const key = String(request.headers['idempotency-key']);
        const { what } = JSON.parse(Buffer.concat(chunks).toString()) as { what: string };
        const fault = faultOf(what);
        if (fault === 'exception') return void response.writeHead(429).end();
        if (!keys.has(key)) taken.push(what);
        keys.add(key);
        if (fault === 'lost') request.socket.destroy();
        else response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      },
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
