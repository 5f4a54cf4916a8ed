/**
 * Group commit on PostgreSQL beside bare inserts into the same tables of the same server, over the
 * same driver. Bare means: one prepared statement that inserts the rows of a group together and
 * commits, values already as the driver takes them, no promises but its own and no checks, and the
 * very groups that the store made: the same rows in the same number of transactions. The server is
 * one of the tests, with its own settings, so that a commit is on disk when it is answered.
 */
import { hash } from 'node:crypto';
import { type EntryRow, openStore } from 'assize';
import { Client } from 'pg';
import type { PostgresServer } from '../tests/support/postgres/server.ts';
import { type Bare, driveHere, measureAppends, perSecond, type Rows } from './appends.ts';
import { type BenchResult, formatTable } from './measure.ts';
import { onPostgres } from './on-postgres.ts';
import { CALLERS, measureProposals } from './proposals.ts';

/** Entries per round, by number of callers. */
const ENTRIES: Readonly<Record<number, number>> = { 1: 200, 16: 2_400, 64: 4_096 };
const PROPOSALS = 4_096;

export function postgresBench(): Promise<BenchResult[]> {
  return onPostgres(async (_, server) => {
    const results: BenchResult[] = [];
    for (const callers of [1, 16, 64]) results.push(...(await measure(server, callers)));
    results.push(await proposals(server));
    return results;
  });
}

async function measure(server: PostgresServer, callers: number): Promise<BenchResult[]> {
  const store = await openStore(urlOf(server, `own_${callers}`));
  const bare = await BareInserts.open(server, `bare_${callers}`, callers);
  const results = await measureAppends({
    name: `PostgreSQL: append, ${callers} callers`,
    callers,
    entries: ENTRIES[callers]!,
    store,
    bare,
    drive: driveHere,
    goal: { ratioMin: 0.5 },
  });
  await bare.close();
  await store.close();
  return results;
}

async function proposals(server: PostgresServer): Promise<BenchResult> {
  const store = await openStore(urlOf(server, 'own_proposals'));
  const bare = await BareInserts.open(server, 'bare_proposals', 1);
  const insert = (rows: readonly EntryRow[]): Promise<number> => {
    const bound = bare.bind([rows]);
    const groups = Array.from({ length: Math.ceil(rows.length / CALLERS) }, (_, group) =>
      Math.min(CALLERS, rows.length - group * CALLERS),
    );
    return perSecond(rows.length, () => bare.insert(bound, groups));
  };
  const result = await measureProposals(store, insert, PROPOSALS);
  await bare.close();
  await store.close();
  return { name: `PostgreSQL: whole proposals, ${CALLERS} callers, durable`, ...result };
}

function urlOf(server: PostgresServer, schema: string): string {
  return `postgres://postgres@127.0.0.1:${server.port}/postgres?schema=${schema}`;
}

type Bound = readonly [
  trajectory: number,
  seq: number,
  id: string,
  parent: string | null,
  kind: string,
  text: string,
];

class BareInserts implements Bare<Bound> {
  readonly #client: Client;
  readonly #insert: { readonly name: string; readonly text: string };

  static async open(server: PostgresServer, schema: string, callers: number): Promise<BareInserts> {
    const url = urlOf(server, schema);
    await (await openStore(url)).close();
    const client = new Client({ connectionString: url });
    await client.connect();
    for (let caller = 0; caller < callers; caller += 1) {
      const name = `t${caller}`;
      const text = `INSERT INTO ${schema}.trajectory (key, hash, name) VALUES ($1, $2, $3)`;
      await client.query(text, [caller, hash('sha256', name, 'buffer'), name]);
    }
    return new BareInserts(client, schema);
  }

  private constructor(client: Client, schema: string) {
    this.#client = client;
    const text = `INSERT INTO ${schema}.entry (trajectory, seq, id, parent, kind, payload)
      SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[], $5::text[], $6::text[])`;
    this.#insert = { name: 'insert', text };
  }

  bind(chains: Rows): Bound[] {
    return chains[0]!.flatMap((_, index) =>
      chains.map((chain, caller) => bind(chain[index]!, caller)),
    );
  }

  async insert(rows: readonly Bound[], groups: readonly number[]): Promise<void> {
    let next = 0;
    for (const size of groups) {
      const group = rows.slice(next, next + size);
      const column = (index: number): unknown[] => group.map((row) => row[index]);
      await this.#client.query({ ...this.#insert, values: [0, 1, 2, 3, 4, 5].map(column) });
      next += size;
    }
    if (next !== rows.length) throw new Error(`the groups have ${next} rows of ${rows.length}`);
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}

function bind({ seq, id, parent, kind, payload }: EntryRow, caller: number): Bound {
  return [caller, seq, `\\x${id}`, parent && `\\x${parent}`, kind, payload];
}

if (import.meta.main) console.log(formatTable(await postgresBench()));
