import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { type ConnectionTask, reconnect } from '../connection/reconnect.ts';
import { sqliteFailure } from '../errors.ts';
import type { RewriteOutcome } from './rewrite.ts';
import { Scrubber } from './scrub.ts';

parentPort?.postMessage(rewritten());

function rewritten(): RewriteOutcome {
  let db: DatabaseSync | undefined;
  try {
    db = reconnect(workerData as ConnectionTask);
    const scrubber = new Scrubber(db);
    scrubber.rewrite();
    // If a reader uses the WAL now, the caller truncates it later.
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
