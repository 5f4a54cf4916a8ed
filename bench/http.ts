/**
 * Proposals over HTTP beside a bare server on the same HTTP library in the same run: it validates
 * the same body, and inserts one row durably for each request. The store writes proposals that wait
 * together in one transaction; the bare server does not. Clients are in a process of their own, and
 * each server too. Then what a thousand idle event streams cost.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Measured } from './http-clients.ts';
import { BenchProcess } from './http-process.ts';
import { type BenchResult, formatTable, median, rateResult } from './measure.ts';
import { onPostgres } from './on-postgres.ts';

const CLIENTS = [1, 16, 64];
/** Requests of each server before the first measured turn, so that its code is compiled. */
const WARM_REQUESTS = 4_000;
/** Requests of a turn, by number of clients. */
const REQUESTS: Readonly<Record<number, number>> = { 1: 500, 16: 2_000, 64: 4_000 };
const ROUNDS = 5;
const STREAMS = 1_000;
const GOAL = { ratioMin: 0.6 };

export async function httpBench(): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  try {
    results.push(...(await measure('SQLite', (name) => `sqlite:${join(folder, `${name}.db`)}`)));
    results.push(...(await measureStreams(`sqlite:${join(folder, 'streams.db')}`)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const onServer = await onPostgres((url) =>
    measure('PostgreSQL', (name) => (name === 'bare' ? url : `${url}?schema=${name}`)),
  );
  return [...results, ...onServer];
}

async function measure(where: string, urlOf: (name: string) => string): Promise<BenchResult[]> {
  const [own, bare, clients] = [
    await BenchProcess.server('assize', urlOf('own')),
    await BenchProcess.server('bare', urlOf('bare')),
    BenchProcess.clients(),
  ];
  try {
    const results: BenchResult[] = [];
    for (const server of [own, bare]) await clients.propose(server, 16, WARM_REQUESTS);
    for (const count of CLIENTS)
      results.push(...(await compareAt(where, count, own, bare, clients)));
    return results;
  } finally {
    for (const each of [own, bare, clients]) await each.end();
  }
}

async function compareAt(
  where: string,
  count: number,
  own: BenchProcess,
  bare: BenchProcess,
  clients: BenchProcess,
): Promise<BenchResult[]> {
  const measured: Record<'own' | 'bare', Measured[]> = { own: [], bare: [] };
  const turn = (server: BenchProcess) => clients.propose(server, count, REQUESTS[count]!);
  for (let round = -1; round < ROUNDS; round++) {
    const turns = [
      async () => measured.bare.push(await turn(bare)),
      async () => measured.own.push(await turn(own)),
    ];
    for (const each of round % 2 === 0 ? turns : turns.reverse()) await each();
  }
  const name = `${where}: proposals over HTTP, ${count} concurrent`;
  const rate = (which: 'own' | 'bare', named: string) => {
    const rounds = measured[which].slice(1).map(({ perSecond }) => perSecond);
    return { name: named, perSecond: median(rounds), rounds };
  };
  const p99 = (which: 'own' | 'bare') => median(measured[which].slice(1).map((each) => each.p99));
  return [
    rateResult(rate('own', name), rate('bare', 'bare Hono and insert'), GOAL),
    {
      name: `${name}: p99`,
      value: p99('own'),
      unit: 'ms',
      baseline: { name: 'bare Hono and insert', value: p99('bare') },
      ratio: p99('own') / p99('bare'),
    },
  ];
}

/** Streams of another trajectory are idle, whatever is proposed. */
async function measureStreams(url: string): Promise<BenchResult[]> {
  const [own, clients] = [await BenchProcess.server('assize', url), BenchProcess.clients()];
  const sockets: Socket[] = [];
  try {
    const turn = () => clients.propose(own, 16, REQUESTS[16]!);
    await clients.propose(own, 16, WARM_REQUESTS);
    const without: Measured[] = [];
    const withStreams: Measured[] = [];
    for (let round = 0; round < ROUNDS; round++) without.push(await turn());
    const before = await own.memory();
    for (let n = 0; n < STREAMS; n++) sockets.push(await openStream(own));
    const after = await own.memory();
    for (let round = 0; round < ROUNDS; round++) withStreams.push(await turn());
    const name = `${STREAMS} idle event streams`;
    const p99 = (of: readonly Measured[]) => median(of.map((each) => each.p99));
    return [
      {
        name: `${name}: memory`,
        value: (after.rss - before.rss) / 1e6,
        unit: 'MB',
        goal: { max: 50 },
      },
      {
        name: `${name}: p99 of proposals, 16 concurrent`,
        value: p99(withStreams),
        unit: 'ms',
        baseline: { name: 'without streams', value: p99(without) },
        ratio: p99(withStreams) / p99(without),
      },
    ];
  } finally {
    for (const socket of sockets) socket.destroy();
    for (const each of [own, clients]) await each.end();
  }
}

async function openStream({ ready }: BenchProcess): Promise<Socket> {
  const { port, readerToken } = ready!;
  const socket = connect(port, '127.0.0.1');
  const lines = [
    'GET /v1/events?trajectory=other HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${readerToken}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  await once(socket, 'data');
  return socket.resume();
}

if (import.meta.main) console.log(formatTable(await httpBench()));
