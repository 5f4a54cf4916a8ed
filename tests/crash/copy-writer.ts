// A process that writes long texts to a SQLite file, several concurrently:
// `node copy-writer.ts <path>`. It prints each answered entry, and writes until it is killed.
import { openSqlite } from '#stores';
import { batchOf, entryAfter } from '../../packages/testing/src/store-rows.ts';
import { textOf } from './long-text.ts';
import { say } from './process-output.ts';

const CALLERS = 4;

const [path] = process.argv.slice(2) as [string];
const store = await openSqlite({ path });
await Promise.all(
  Array.from({ length: CALLERS }, async (_, caller) => {
    const name = `${process.pid} ${caller}`;
    let last = entryAfter(undefined, name);
    for (;;) {
      const { status } = await store.commit(batchOf(last, [textOf(last.id)]));
      say(`${status} ${name} ${last.seq} ${last.id}`);
      last = entryAfter(last, name);
    }
  }),
);
