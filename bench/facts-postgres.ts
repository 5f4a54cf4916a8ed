/**
 * A contradiction resolved at the store on PostgreSQL, by one caller. The run reads the partition,
 * decides with the strategy, and commits the change, with few facts and with many. A loop runs in
 * turns with it, waits for the server equally often and commits the same amount of text.
 * `memory-postgres.ts` measures the whole path through a proposal.
 */
import { openStore } from 'assize';
import { Client } from 'pg';
import type { Store } from '#stores';
import { contradict, firstSaid, inTurn, momentOf, textOf } from './facts.ts';
import { type BenchResult, formatTable, percentile } from './measure.ts';
import { onPostgres } from './on-postgres.ts';

const SIZES: readonly [few: number, many: number] = [300, 100_000];
/** Facts of one commit, before anything is measured. */
const BATCH = 1_000;
const SAMPLES = 300;
/** Warm-up contradictions, so that compiled code and planned statements are measured. */
const WARM = 2_000;
/**
 * Of one kind in a row: one by one, each would find in the processor's caches what another process
 * of the server has left there.
 */
const TURN = 50;
const GOAL_US = 1_500;

export function factsOnPostgres(): Promise<BenchResult[]> {
  return onPostgres(async (base) => {
    const client = new Client({ connectionString: base });
    await client.connect();
    const stores: Store[] = [];
    try {
      for (const facts of SIZES) {
        const store = await openStore(`${base}?schema=facts_${facts}`);
        stores.push(store);
        for (let from = 0; from < facts; from += BATCH)
          await firstSaid(store, from, Math.min(facts, from + BATCH));
      }
      return await inTurns(client, stores);
    } finally {
      for (const store of stores) await store.close();
      await client.end();
    }
  });
}

/** In alternation, so that each is measured on the same server in the same state. */
async function inTurns(client: Client, stores: readonly Store[]): Promise<BenchResult[]> {
  await client.query(
    'CREATE TABLE bare (n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text TEXT)',
  );
  const insert = {
    name: 'insert',
    text: 'INSERT INTO bare (text) VALUES ($1)',
    values: [textOf(2)],
  };
  const select = { name: 'select', text: 'SELECT n FROM bare WHERE n = $1', values: [1] };
  const steps = [
    async () => {
      await client.query(select);
      await client.query(insert);
    },
    ...stores.map(
      (store, i) => (n: number) => contradict(store, inTurn(n, SIZES[i]!), momentOf(n)),
    ),
  ];
  const times: number[][] = steps.map(() => []);
  for (let from = 0; from < SAMPLES + WARM; from += TURN) {
    for (const [i, step] of steps.entries()) {
      for (let n = from; n < from + TURN; n++) {
        const start = performance.now();
        await step(n);
        if (n >= WARM) times[i]!.push((performance.now() - start) * 1_000);
      }
    }
  }
  const [base, few, many] = times.map((each) => percentile(each, 50)) as [number, number, number];
  const result = (facts: number, value: number): BenchResult => ({
    name: `PostgreSQL: a contradiction resolved at the store, one caller, durable, ${facts} facts: p50`,
    value,
    unit: 'µs',
    baseline: { name: 'two bare round trips, one of them a commit', value: base },
    ratio: value / base,
    goal: { max: GOAL_US },
  });
  return [
    result(SIZES[0], few),
    result(SIZES[1], many),
    {
      name: `PostgreSQL: a contradiction resolved at the store: ${SIZES[1]} facts, of ${SIZES[0]}`,
      value: many / few,
      unit: '',
      goal: { max: 2 },
    },
  ];
}

if (import.meta.main) console.log(formatTable(await factsOnPostgres()));
