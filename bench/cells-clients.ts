/**
 * The clients of `cells.ts`, in a process of their own. The parent sends a `CellsTurn`, and gets a
 * `CellMeasured` for each cell.
 */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from './measure.ts';
import { visit } from './shop.ts';

export interface CellTarget {
  readonly port: number;
  readonly trajectory: string;
  readonly token: string;
}

export interface CellsTurn {
  readonly cells: readonly CellTarget[];
  /** Concurrent requests to each cell. */
  readonly clients: number;
  readonly ms: number;
  readonly members: number;
  /** A name that no other turn has. */
  readonly turn: string;
}

export interface CellMeasured {
  readonly perSecond: number;
  readonly p99: number;
  /** Answers that were not rulings, and requests without an answer. */
  readonly refused: number;
}

/** The pause of a client after a refusal. */
const REFUSED_MS = 20;

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

async function run(turn: CellsTurn): Promise<CellMeasured[]> {
  return Promise.all(turn.cells.map((cell) => runCell(cell, turn)));
}

async function runCell(
  cell: CellTarget,
  { clients, ms, members, turn }: CellsTurn,
): Promise<CellMeasured> {
  const latencies: number[] = [];
  let next = 0;
  let refused = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() - start < ms) {
        const n = next++;
        const sentAt = performance.now();
        if (await propose(cell, `${turn}-${n}`, JSON.stringify(visit(n, members))))
          latencies.push(performance.now() - sentAt);
        else {
          refused++;
          await sleep(REFUSED_MS);
        }
      }
    }),
  );
  return {
    perSecond: (latencies.length / (performance.now() - start)) * 1_000,
    p99: percentile(latencies, 99),
    refused,
  };
}

/** Whether it was committed. */
function propose(
  { port, trajectory, token }: CellTarget,
  key: string,
  body: string,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'idempotency-key': key,
  };
  const path = `/v1/trajectories/${trajectory}/proposals`;
  const sent = request(
    { agent, port, host: '127.0.0.1', method: 'POST', path, headers },
    (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => resolve(text.includes('"committed"')));
      response.on('error', () => resolve(false));
    },
  );
  sent.on('error', () => resolve(false));
  sent.end(body);
  return promise;
}

process.on('message', async (turn: CellsTurn) => process.send?.(await run(turn)));
process.on('disconnect', () => process.exit());
