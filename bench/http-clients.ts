/**
 * The clients of `http.ts` and `servers.ts`, in a process of their own. The parent sends a `Turn`,
 * and gets a `Measured` when all its requests are answered.
 */
import { Agent, request } from 'node:http';
import { percentile } from './measure.ts';
import { visit } from './shop.ts';

export interface Turn {
  /** Of the servers. They get the requests in turn. */
  readonly ports: readonly number[];
  readonly token: string;
  /** Concurrent requests. */
  readonly clients: number;
  readonly requests: number;
  readonly members: number;
  /** The number of the first request. */
  readonly first: number;
}

/** Requests per second, and the 99th percentile of the time to an answer. */
export interface Measured {
  readonly perSecond: number;
  readonly p99: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

async function run({ ports, token, clients, requests, members, first }: Turn): Promise<Measured> {
  const latencies: number[] = [];
  let next = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (next < requests) {
        const n = first + next++;
        const sentAt = performance.now();
        await propose(ports[n % ports.length]!, token, n, JSON.stringify(visit(n, members)));
        latencies.push(performance.now() - sentAt);
      }
    }),
  );
  return {
    perSecond: (requests / (performance.now() - start)) * 1_000,
    p99: percentile(latencies, 99),
  };
}

function propose(port: number, token: string, n: number, body: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'idempotency-key': `visit-${n}`,
  };
  const options = {
    agent,
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/v1/trajectories/t/proposals',
    headers,
  };
  const sent = request(options, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    response.on('end', () => {
      if (text.includes('"committed"')) resolve();
      else reject(new Error(`unexpected: ${response.statusCode} ${text}`));
    });
  });
  sent.on('error', (error) => {
    // The server closed an idle connection at that moment.
    if (sent.reusedSocket) propose(port, token, n, body).then(resolve, reject);
    else reject(error);
  });
  sent.end(body);
  return promise;
}

process.on('message', async (turn: Turn) => process.send?.(await run(turn)));
process.on('disconnect', () => process.exit());
