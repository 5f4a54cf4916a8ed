// A process that appends until it is killed: `node store-writer.ts <path> <trajectories>`. It prints the id of each batch's
// first entry once the store has answered, written at once, so that nothing acknowledged is lost with the process; then
// `unknown <id>` and `poisoned` where a write fails, which ends it. Used by tests that kill it.
import { writeSync } from 'node:fs';
import { isAssizeError } from '#canon';
import { openSqlite, type SqliteStore } from '#stores';
import { batchOf, blobOf, entryAfter } from './store-rows.ts';

const [path, trajectories] = process.argv.slice(2) as [string, string];

/** Batches that one trajectory has under way at once, each built on the one before. */
const DEPTH = 3;

// Whoever started it kills it; should that one die first, nobody would.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit(1);
}, 1_000).unref();

try {
  const store = await openSqlite({ path });
  say('open');
  await Promise.all(Array.from({ length: Number(trajectories) }, (_, n) => appendForever(store, `t${n}`)));
} catch (error) {
  if (!isAssizeError(error, 'store_poisoned')) throw error;
  say('poisoned');
}

async function appendForever(store: SqliteStore, trajectory: string): Promise<never> {
  for (;;) {
    let last = await store.head(trajectory);
    const under: Promise<unknown>[] = [];
    for (let n = 0; n < DEPTH; n += 1) {
      const first = entryAfter(last, trajectory, process.pid);
      const second = entryAfter(first, trajectory, process.pid);
      // Larger than a page, so that a torn batch has more than one place to tear.
      const blob = blobOf(`${first.id}${'.'.repeat(6_000)}`);
      const answered = store.commit(batchOf([first, second], [blob])).then(({ status }) => {
        if (status === 'committed') say(first.id);
        if (status === 'unknown') say(`unknown ${first.id}`);
      });
      under.push(answered);
      last = second;
    }
    await Promise.all(under);
  }
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}
