/**
 * Several servers on one PostgreSQL, whose clients all propose to one trajectory, beside one server
 * with as many clients, in alternation. Clients ask the servers in turn, as behind a load balancer.
 * Servers that forward requests to the writer of the trajectory, and servers that do not.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresServer } from '../tests/support/postgres/server.ts';
import type { Measured } from './http-clients.ts';
import { BenchProcess } from './http-process.ts';
import { type BenchResult, formatTable, median, rateResult } from './measure.ts';
import { onPostgres } from './on-postgres.ts';

const SERVERS = 8;
const CLIENTS = [8, 64];
const REQUESTS = 2_000;
const WARM_REQUESTS = 4_000;
const ROUNDS = 5;
/** Every server knows the others after this time. */
const KNOWN_MS = 3_000;
const GOAL = { ratioMin: 0.5 };

export function serversBench(): Promise<BenchResult[]> {
  return onPostgres(async (url, postgres) => [
    ...(await compare('routed', `${SERVERS} servers that forward requests`, url, GOAL)),
    ...(await compare('unrouted', `${SERVERS} servers that do not`, url)),
    await bytesOfEntry(postgres),
  ]);
}

/** The tables of a store with their indexes, for each entry. */
async function bytesOfEntry(postgres: PostgresServer): Promise<BenchResult> {
  const [row] = await postgres.query(
    `SELECT (SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c WHERE c.relnamespace = 'one_routed'::regnamespace
      AND c.relkind = 'r')::float8 / (SELECT count(*) FROM one_routed.entry) AS bytes`,
  );
  return {
    name: 'PostgreSQL: an entry of a small proposal, with its indexes',
    value: Math.round(row!['bytes']),
    unit: 'bytes',
  };
}

async function compare(
  kind: 'routed' | 'unrouted',
  name: string,
  url: string,
  goal?: { readonly ratioMin: number },
): Promise<BenchResult[]> {
  const seed = randomBytes(32).toString('hex');
  const one = await BenchProcess.server('assize', `${url}?schema=one_${kind}`);
  const many: BenchProcess[] = [];
  // The first server creates the store, and the world.
  for (let n = 0; n < SERVERS; n++)
    many.push(await BenchProcess.server(kind, `${url}?schema=many_${kind}`, seed));
  const clients = BenchProcess.clients();
  try {
    await sleep(KNOWN_MS);
    const results: BenchResult[] = [];
    for (const each of [one, many]) await clients.propose(each, 16, WARM_REQUESTS);
    for (const count of CLIENTS) {
      const measured: Record<'one' | 'many', Measured[]> = { one: [], many: [] };
      for (let round = 0; round < ROUNDS; round++) {
        measured.one.push(await clients.propose(one, count, REQUESTS));
        measured.many.push(await clients.propose(many, count, REQUESTS));
      }
      const named = `${name}, one trajectory, ${count} clients`;
      const rate = (of: 'one' | 'many', title: string) => {
        const rounds = measured[of].map(({ perSecond }) => perSecond);
        return { name: title, perSecond: median(rounds), rounds };
      };
      const p99 = (of: 'one' | 'many') => median(measured[of].map((each) => each.p99));
      results.push(rateResult(rate('many', named), rate('one', 'one server'), goal), {
        name: `${named}: p99`,
        value: p99('many'),
        unit: 'ms',
        baseline: { name: 'one server', value: p99('one') },
        ratio: p99('many') / p99('one'),
      });
    }
    return results;
  } finally {
    for (const each of [one, ...many, clients]) await each.end();
  }
}

if (import.meta.main) console.log(formatTable(await serversBench()));
