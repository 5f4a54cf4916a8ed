// Same as `writers.ts`, for a PostgreSQL store with connections that are lost all the time:
// `node server-writers.ts <url> <writers>`. All writers of all processes append to the same few
// trajectories. A writer settles its doubts with `resolve` before it continues; a retryable refusal
// counts as a failed batch. A second line on stdin ends the process: it finishes the calls in
// flight, closes its stores, and nothing keeps it alive.
import { setTimeout as sleep } from 'node:timers/promises';
import { isAssizeError } from '#base';
import { type Batch, type CommitResult, type EntryRow, entryRow, type Payload } from '#ledger';
import { openPostgres, type PostgresStore } from '../../packages/postgres/src/index.ts';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { batchOf, blobOf } from '../../packages/testing/src/store-rows.ts';
import { rejectionMembers, rootMembers, second } from '../support/ledger/rows.ts';
import { now, say } from './process-output.ts';

const [url, writers] = process.argv.slice(2) as [string, string];

const TRAJECTORIES = 6;
/** Batches of one writer in flight, each built on the previous batch. */
const DEPTH_MAX = 3;
const HANDLES = 2;

/** A connection over which nothing is heard is given up two seconds later. */
const STATEMENT_TIMEOUT_MS = 2_000;
/** As long as a server may take to come back on a slow machine. */
const CONNECT_ATTEMPTS = 60;

let sent = 0;
let isOver = false;

// Stdin ends without that line if the parent process dies first.
process.stdin.on('end', () => {
  if (!isOver) process.exit();
});
process.stdin.once('data', (seed) => {
  process.stdin.once('data', () => {
    isOver = true;
  });
  void run(Number(seed));
});
say('ready');

async function run(seed: number): Promise<void> {
  const stores: PostgresStore[] = [];
  while (stores.length < HANDLES) {
    stores.push(
      await openPostgres({
        url,
        statementTimeoutMs: STATEMENT_TIMEOUT_MS,
        connectAttempts: CONNECT_ATTEMPTS,
      }),
    );
  }
  say('open');
  await Promise.all(
    Array.from({ length: Number(writers) }, (_, n) => write(stores[n % HANDLES]!, n, seed)),
  );
  for (const store of stores) await store.close();
}

async function write(store: PostgresStore, writer: number, seed: number): Promise<void> {
  const next = seededNumbers(seed * 31 + writer);
  for (let turn = 0; !isOver; turn += 1) {
    const name = `shared-${next(TRAJECTORIES)}`;
    const note = [seed, writer, turn];
    let last = await head(store, writer, name);
    const under: Promise<void>[] = [];
    for (let depth = next(DEPTH_MAX); depth >= 0; depth -= 1) {
      const entries = [ledgerEntryAfter(last, name, note)];
      while (next(2) === 0) entries.push(ledgerEntryAfter(entries.at(-1), name, note));
      const blobs = next(3) === 0 ? [blobOf(`${entries[0]!.id}${'.'.repeat(6_000)}`)] : [];
      under.push(append(store, writer, batchOf(entries, blobs)));
      last = entries.at(-1);
    }
    await Promise.all(under);
  }
}

/**
 * A valid entry for that position: a root, or a rejection with a text that tells it from others at
 * the same position.
 */
function ledgerEntryAfter(
  parent: EntryRow | undefined,
  trajectory_id: string,
  note: unknown,
): EntryRow {
  const seq = parent === undefined ? 0 : parent.seq + 1;
  const place = { trajectory_id, seq, parent: parent?.id ?? null, at: second(seq) };
  const said =
    seq === 0
      ? { kind: 'root', ...rootMembers(), note: JSON.stringify(note) }
      : { kind: 'rejection', ...rejectionMembers({ detail: JSON.stringify(note) }) };
  return entryRow({ ...place, ...said } as unknown as Payload);
}

async function append(store: PostgresStore, writer: number, batch: Batch): Promise<void> {
  const n = ++sent;
  const [first] = batch.entries as [EntryRow];
  const ids = batch.entries.map(({ id }) => id).join(',');
  say(`sent ${n} ${writer} ${now()} ${first.trajectory_id} ${batch.blobs.length} ${ids}`);
  const status = await commit(store, batch);
  say(`${status} ${n} ${now()}`);
  if (status !== 'unknown') return;
  const there = await insist(() => store.resolve(first.id));
  say(`settled ${n} ${now()} ${there === undefined ? 'failed' : 'committed'}`);
}

async function commit(
  store: PostgresStore,
  batch: Batch,
): Promise<CommitResult['status'] | 'failed'> {
  try {
    return (await store.commit(batch)).status;
  } catch (error) {
    await pauseAfter(error);
    return 'failed';
  }
}

async function head(
  store: PostgresStore,
  writer: number,
  trajectory: string,
): Promise<EntryRow | undefined> {
  const invoked = now();
  const row = await insist(() => store.head(trajectory));
  say(
    `read ${writer} ${invoked} ${now()} ${trajectory} ${row === undefined ? 0 : row.seq + 1} ${row?.id ?? ''}`,
  );
  return row;
}

async function insist<T>(read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      await pauseAfter(error);
    }
  }
}

/** @throws what trying again does not help against */
async function pauseAfter(error: unknown): Promise<void> {
  if (!isAssizeError(error) || !error.retryable) throw error;
  await sleep(10);
}
