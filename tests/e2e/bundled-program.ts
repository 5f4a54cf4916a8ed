/**
 * A program that a test bundles: `PATH`. It does work that a store does in threads, and prints the
 * results and the number of threads that worked.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { openStore } from '#stores';
import { batchOf, blobOf, chainOf, entryAfter } from '../../packages/testing/src/store-rows.ts';

const SECRET = 'zq7wkx';
/** Files above 8 MiB are rewritten in a thread. */
const TEXTS = 24;
const TEXT_CHARS = 2 ** 20;

async function main(path = ''): Promise<void> {
  let threads = 0;
  process.on(
    'worker',
    (worker: Worker) => void worker.once('exit', (code) => (threads += code === 0 ? 1 : 0)),
  );
  const store = await openStore(`sqlite:${path}`);
  const secret = blobOf(SECRET.repeat(400));
  const rows = chainOf('t', 2);
  const committed = [(await store.commit(batchOf(rows, [secret]))).status];
  let last = rows.at(-1);
  for (let n = 0; n < TEXTS; n++) {
    last = entryAfter(last, 't');
    committed.push(
      (await store.commit(batchOf(last, [blobOf(`${n % 10}`.repeat(TEXT_CHARS))]))).status,
    );
  }
  const reader = store.readInParallel!([
    { trajectory_id: 't', entries: rows.length + TEXTS, position: 0 },
  ]);
  await reader.close();
  const erased = await store.commit({
    entries: [],
    blobs: [],
    erased: [{ hash: secret.hash, by: last!.id }],
  });
  await store.close();
  const folder = dirname(path);
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  const left = files.filter((bytes) => bytes.includes(SECRET)).length;
  console.log(
    JSON.stringify({ committed: [...new Set(committed)], erased: erased.status, left, threads }),
  );
}

void main(process.argv[2]);
