import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { sqliteFailure } from './errors.ts';
import { BLOCKING_WAIT_MS } from './retry.ts';
import type { RewriteOutcome, RewriteTask } from './rewrite.ts';
import { Scrubber } from './scrub.ts';

const { path, pragmas } = workerData as RewriteTask;
parentPort?.postMessage(rewritten());

function rewritten(): RewriteOutcome {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: BLOCKING_WAIT_MS });
    for (const [name, value] of pragmas) db.exec(`PRAGMA ${name} = ${value}`);
    const scrubber = new Scrubber(db);
    scrubber.rewrite();
    // Where somebody reads at this moment the rest is for who asked.
    scrubber.cut(true);
    return { done: true };
  } catch (error) {
    const failure = sqliteFailure(error);
    if (failure === undefined) throw error;
    return { done: false, ...failure };
  } finally {
    db?.close();
  }
}
