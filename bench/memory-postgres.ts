/**
 * Facts end to end, on PostgreSQL: a contradiction of one caller. The baseline is a loop that waits
 * for the server the same number of times and commits as many bytes once. The number of waits is
 * counted, and does not depend on the number of facts.
 */
import { Client } from 'pg';
import { roundTripsOf } from '../tests/support/postgres/round-trips.ts';
import { histories } from './histories.ts';
import { type BenchResult, formatTable, percentile } from './measure.ts';
import { storageOnPostgres } from './memory-storage.ts';
import { WRITERS, writersBench } from './memory-writers.ts';
import { onPostgres } from './on-postgres.ts';
import { believed, openWard, said, type Ward } from './ward.ts';

const SMALL = 300;
const LARGE = 100_000;
const SAMPLES = 300;
/**
 * Before that, so that it is the compiled program that is measured, and the statements that the
 * server has planned.
 */
const WARM = 2_000;
/** Roughly what a contradiction writes: entry, blobs and rows. */
const BYTES = 6_000;

export function memoryOnPostgres(): Promise<BenchResult[]> {
  return onPostgres(async (base) => [
    ...(await contradictions(base)),
    ...(await writers(base)),
    ...(await storageOnPostgres(base, 'storage')),
  ]);
}

async function writers(base: string): Promise<BenchResult[]> {
  const clients = Array.from({ length: WRITERS }, () => new Client({ connectionString: base }));
  try {
    for (const client of clients) await client.connect();
    await clients[0]!.query(
      'CREATE TABLE commits (n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text TEXT)',
    );
    const insert = {
      name: 'insert',
      text: 'INSERT INTO commits (text) VALUES ($1)',
      values: ['x'.repeat(BYTES)],
    };
    return await writersBench('PostgreSQL', `${base}?schema=writers`, (n) =>
      clients[n]!.query(insert),
    );
  } finally {
    for (const client of clients) await client.end();
  }
}

async function contradictions(base: string): Promise<BenchResult[]> {
  // Both begin empty, so that the server's plans are made before there is anything to look for.
  const small = await openWard(`${base}?schema=small`, { facts: SMALL });
  const large = await openWard(`${base}?schema=large`, { facts: LARGE });
  const client = new Client({ connectionString: base });
  await client.connect();
  try {
    // Those that were said first are forgotten by now, and known again once something was said of
    // them.
    const trips = [await tripsOf(large, 'not in memory'), await tripsOf(large, 'in memory')];
    const turns = await inTurns(client, [small, large], trips[0]!.value);
    return [...trips, ...turns, ...(await histories(small, 'PostgreSQL'))];
  } finally {
    await client.end();
    for (const ward of [small, large]) await ward.close();
  }
}

/** The most of many. */
async function tripsOf({ memories: [memory] }: Ward, known: string): Promise<BenchResult> {
  let most = 0;
  for (let n = 0; n < 20; n++)
    most = Math.max(
      most,
      await roundTripsOf(() => believed(memory.assert(said(n, `${known} ${n}`)))),
    );
  return {
    name: `PostgreSQL: round trips of a contradiction, the partition ${known}`,
    value: most,
    unit: '',
    goal: { max: 4 },
  };
}

/** In alternation, so that each is measured on the same server in the same state. */
async function inTurns(
  client: Client,
  wards: readonly [Ward, Ward],
  trips: number,
): Promise<BenchResult[]> {
  await client.query(
    'CREATE TABLE bare (n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text TEXT)',
  );
  // As many bytes as are given, and not as few as they compress to.
  await client.query('ALTER TABLE bare ALTER text SET STORAGE EXTERNAL');
  const insert = {
    name: 'insert',
    text: 'INSERT INTO bare (text) VALUES ($1)',
    values: ['x'.repeat(BYTES)],
  };
  const select = { name: 'select', text: 'SELECT n FROM bare WHERE n = $1', values: [1] };
  const times: [bare: number[], small: number[], large: number[]] = [[], [], []];
  for (let n = 0; n < SAMPLES + WARM; n++) {
    const steps = [
      async () => {
        for (let trip = 1; trip < trips; trip++) await client.query(select);
        await client.query(insert);
      },
      ...wards.map(
        ({ memories: [memory], facts }) =>
          () =>
            believed(memory.assert(said((n * 7_919) % facts, `again ${n}`))),
      ),
    ];
    for (const [i, step] of steps.entries()) {
      const start = performance.now();
      await step();
      if (n >= WARM) times[i]!.push((performance.now() - start) * 1_000);
    }
  }
  const [base, few, lots] = times.map((each) => percentile(each, 50)) as [number, number, number];
  const baseline = { name: `${trips} bare round trips, one of them a commit`, value: base };
  const result = (facts: number, value: number): BenchResult => ({
    name: `PostgreSQL: a contradiction, one caller, durable, ${facts} facts: p50`,
    value,
    unit: 'µs',
    baseline,
    ratio: value / base,
    goal: { max: 1_500 },
  });
  return [
    result(SMALL, few),
    result(LARGE, lots),
    {
      name: `PostgreSQL: a contradiction: ${LARGE} facts, of ${SMALL}`,
      value: lots / few,
      unit: '',
      goal: { max: 2 },
    },
  ];
}

if (import.meta.main) console.log(formatTable(await memoryOnPostgres()));
