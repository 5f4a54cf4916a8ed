/**
 * Statements that servers send to PostgreSQL: for a warm proposal, and without requests. Counted by
 * pg_stat_statements. Run it alone: `node bench/round-trips.ts`.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresServer } from '../tests/support/postgres/server.ts';
import { BenchProcess } from './http-process.ts';
import { type BenchResult, formatTable } from './measure.ts';
import { onPostgres } from './on-postgres.ts';

const PROPOSALS = 1_000;
/** After it the work of a start is done, and servers know each other. */
const SETTLED_MS = 15_000;
const IDLE_SECONDS = 60;

export function roundTripsBench(): Promise<BenchResult[]> {
  return onPostgres(
    async (url, postgres) => {
      await postgres.query('CREATE EXTENSION pg_stat_statements');
      return [await ofProposal(url, postgres), ...(await ofIdleServers(url, postgres))];
    },
    { settings: { shared_preload_libraries: 'pg_stat_statements' } },
  );
}

async function ofProposal(url: string, postgres: PostgresServer): Promise<BenchResult> {
  const server = await BenchProcess.server('assize', `${url}?schema=warm`);
  const clients = BenchProcess.clients();
  try {
    await clients.propose(server, 1, PROPOSALS);
    const work = () => clients.propose(server, 1, PROPOSALS);
    return {
      name: 'statements that each warm proposal sends',
      value: await statementsOf(postgres, work, PROPOSALS),
      unit: 'statements',
      goal: { max: 1 },
    };
  } finally {
    for (const each of [server, clients]) await each.end();
  }
}

async function ofIdleServers(url: string, postgres: PostgresServer): Promise<BenchResult[]> {
  const seed = randomBytes(32).toString('hex');
  const servers: BenchProcess[] = [];
  const results: BenchResult[] = [];
  try {
    for (const [name, kinds, max] of [
      ['one idle server', ['unrouted'], 0.5],
      ['two idle servers that forward requests', ['routed', 'routed'], 1],
    ] as const) {
      for (const kind of kinds)
        servers.push(await BenchProcess.server(kind, `${url}?schema=${kind}`, seed));
      await sleep(SETTLED_MS);
      const sent = await statementsOf(postgres, () => sleep(IDLE_SECONDS * 1_000));
      results.push({ name, value: sent / IDLE_SECONDS, unit: 'statements/s', goal: { max } });
      for (const each of servers.splice(0)) await each.end();
    }
    return results;
  } finally {
    for (const each of servers) await each.end();
  }
}

/** The statements that each part of the work sends, without those that count. */
async function statementsOf(
  postgres: PostgresServer,
  work: () => Promise<unknown>,
  parts = 1,
): Promise<number> {
  await postgres.query('SELECT pg_stat_statements_reset()');
  await work();
  const [row] = await postgres.query(
    `SELECT sum(calls / ${parts})::float8 AS sent FROM pg_stat_statements WHERE query !~ 'pg_stat_statements'`,
  );
  return Number(row?.['sent'] ?? 0);
}

if (import.meta.main) console.log(formatTable(await roundTripsBench()));
