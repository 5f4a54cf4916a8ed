import { parentPort, workerData } from 'node:worker_threads';
import { type ConnectionTask, connectAgain } from '../connection/reconnect.ts';
import { sqliteFailure } from '../errors.ts';
import type { Copied } from './checkpointer.ts';

// Where that fails there is no thread for it: nothing was copied, and whoever writes does that.
const db = connectAgain(workerData as ConnectionTask);
const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');

parentPort?.on('message', (asked: 'copy' | 'end') => {
  if (asked === 'copy') return parentPort?.postMessage(copied());
  db.close();
  parentPort?.close();
});
parentPort?.postMessage(copied());

function copied(): Copied {
  try {
    checkpoint.get();
    return { isCopied: true };
  } catch (error) {
    const failure = sqliteFailure(error);
    if (failure === undefined) throw error;
    return failure;
  }
}
