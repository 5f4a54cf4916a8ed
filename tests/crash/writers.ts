// A process to be killed: `node writers.ts <path> <writers>`. It prints `ready`, waits for a line
// on stdin, opens the SQLite store and appends until it is killed. Each writer appends to its own
// trajectory, and all of them to a shared one, where they conflict. Everything sent, answered or
// read goes to stdout before the writer continues, so that no answer is lost with the process.
// `writer-process.ts` reads it.
import { isAssizeError } from '#base';
import type { Batch, CommitResult, EntryRow } from '#ledger';
import { openSqlite, type SqliteStore } from '../../packages/assize/src/stores/sqlite/index.ts';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { batchOf, blobOf, entryAfter } from '../../packages/testing/src/store-rows.ts';
import { now, say } from './process-output.ts';

const [path, writers] = process.argv.slice(2) as [string, string];

/** Batches of one writer in flight on its own trajectory, each built on the previous batch. */
const DEPTH = 3;
/** Each process has two connections to the file, as two processes would. */
const HANDLES = 2;

let sent = 0;

// The parent process kills this one. If the parent dies first, stdin ends.
process.stdin.on('end', () => process.exit());
process.stdin.once('data', (seed) => {
  run(Number(seed)).catch((error: unknown) => {
    if (!isAssizeError(error, 'store_poisoned')) throw error;
    say('poisoned');
    process.exit(0);
  });
});
say('ready');

async function run(seed: number): Promise<void> {
  const stores: SqliteStore[] = [];
  while (stores.length < HANDLES) stores.push(await openSqlite({ path }));
  say('open');
  await Promise.all(
    Array.from({ length: Number(writers) }, (_, n) => write(stores[n % HANDLES]!, n, seed)),
  );
}

async function write(store: SqliteStore, writer: number, seed: number): Promise<never> {
  const next = seededNumbers(seed * 31 + writer);
  const own = `own-${writer}`;
  let last = await store.head(own);
  for (let turn = 0; ; turn += 1) {
    const note = [seed, writer, turn];
    const shared = await head(store, writer, 'shared');
    const under = [append(store, writer, batchOf(entryAfter(shared, 'shared', note)))];
    for (let depth = 0; depth < DEPTH; depth += 1) {
      const entries = [entryAfter(last, own, note)];
      while (next(2) === 0) entries.push(entryAfter(entries.at(-1), own, note));
      // Larger than a page, so that a torn batch has more than one place to tear.
      const blobs = next(3) === 0 ? [] : [blobOf(`${entries[0]!.id}${'.'.repeat(6_000)}`)];
      under.push(append(store, writer, batchOf(entries, blobs)));
      last = entries.at(-1);
    }
    const statuses = await Promise.all(under);
    // Where another process writes to it too.
    if (statuses.slice(1).includes('conflict')) last = await head(store, writer, own);
  }
}

async function append(
  store: SqliteStore,
  writer: number,
  batch: Batch,
): Promise<CommitResult['status']> {
  const n = ++sent;
  const [first] = batch.entries as [EntryRow];
  const ids = batch.entries.map(({ id }) => id).join(',');
  say(`sent ${n} ${writer} ${now()} ${first.trajectory_id} ${batch.blobs.length} ${ids}`);
  const { status } = await store.commit(batch);
  say(`${status} ${n} ${now()}`);
  return status;
}

async function head(
  store: SqliteStore,
  writer: number,
  trajectory: string,
): Promise<EntryRow | undefined> {
  const invoked = now();
  const row = await store.head(trajectory);
  say(
    `read ${writer} ${invoked} ${now()} ${trajectory} ${row === undefined ? 0 : row.seq + 1} ${row?.id ?? ''}`,
  );
  return row;
}
