/**
 * The first page of a search over a million entries, by the index of the server, on SQLite and on
 * PostgreSQL. The baseline reads as many of the newest entries. `node bench/find-entries.ts` runs
 * it alone.
 */
import { integrateLog } from '#ledger';
import { openStore, type Store } from '#stores';
import { Blocks } from '../packages/server/src/activity/blocks.ts';
import { type EntrySearch, findEntries } from '../packages/server/src/activity/find-entries.ts';
import { writeLedger } from './ledger.ts';
import { type BenchResult, formatTable, percentile } from './measure.ts';
import { onPostgres } from './on-postgres.ts';

const COMMITS = 1_000_000;
const PAGE = 100;
const SAMPLES = 30;
const MAX_MS = 100;
const SECRET = new Uint8Array(32).fill(1);

/** The entries of the ledger are of one agent, and only the first one is `begun`. */
const SEARCHES: readonly (readonly [string, Partial<EntrySearch>])[] = [
  ['the newest', {}],
  ['of an agent', { names: ['by:agent:bench'] }],
  ['of a rare ruling', { names: ['ruling:begun'] }],
  ['of nobody', { names: ['by:agent:nobody'] }],
];

export async function findEntriesBench(): Promise<BenchResult[]> {
  const ledger = await writeLedger(COMMITS);
  try {
    const store = await openStore(ledger.url);
    try {
      return [
        ...(await measured(store, 'SQLite')),
        ...(await onPostgres((url) => copyMeasured(store, url))),
      ];
    } finally {
      await store.close();
    }
  } finally {
    ledger.remove();
  }
}

async function copyMeasured(source: Store, url: string): Promise<BenchResult[]> {
  const store = await openStore(url);
  try {
    await copied(source, store);
    return await measured(store, 'PostgreSQL');
  } finally {
    await store.close();
  }
}

/** The entries alone: a search without a text reads no values that are stored apart. */
async function copied(source: Store, target: Store): Promise<void> {
  const size = await integrateLog(source);
  for (let from = 0; from < size; from += PAGE * 10) {
    const entries = await source.logged(from, PAGE * 10);
    const { status } = await target.commit({ entries, blobs: [] });
    if (status !== 'committed') throw new Error(`unexpected: ${status}`);
  }
}

async function measured(store: Store, name: string): Promise<BenchResult[]> {
  const size = await integrateLog(store);
  const start = performance.now();
  await new Blocks(store, SECRET).store(size, new AbortController().signal);
  const built = size / ((performance.now() - start) / 1_000);
  const opened = performance.now();
  const blocks = new Blocks(store, SECRET);
  await blocks.head(0);
  const openedMs = performance.now() - opened;
  const log = { size, logged: store.logged.bind(store) };
  const bare = await p50(async () => {
    for (const { payload } of await store.logged(size - PAGE, PAGE)) JSON.parse(payload);
  });
  const results: BenchResult[] = [
    { name: `the index of entries is written, ${name}`, value: built, unit: '/s' },
    {
      name: `the heads of the index are read at the start, ${name}`,
      value: openedMs,
      unit: 'ms',
    },
  ];
  for (const [what, search] of SEARCHES) {
    const value = await p50(() => findEntries(log, blocks, { names: [], limit: PAGE, ...search }));
    results.push({
      name: `the first page ${what} of a million entries, ${name}: p50`,
      ...{ value, unit: 'ms', ratio: value / bare, goal: { max: MAX_MS } },
      baseline: { name: `read and parse ${PAGE} entries`, value: bare },
    });
  }
  return results;
}

async function p50(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < SAMPLES; n++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return percentile(times, 50);
}

if (import.meta.main) console.log(formatTable(await findEntriesBench()));
