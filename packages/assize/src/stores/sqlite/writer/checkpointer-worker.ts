import { parentPort, workerData } from 'node:worker_threads';
import { type ConnectionTask, reconnect } from '../connection/reconnect.ts';
import { sqliteFailure } from '../errors.ts';
import type { CheckpointResult } from './checkpointer.ts';

// If the connection fails, the worker copied nothing and exits. The writer then copies the WAL
// itself.
const db = reconnect(workerData as ConnectionTask);
const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');

parentPort?.on('message', (asked: 'copy' | 'end') => {
  if (asked === 'copy') return parentPort?.postMessage(copied());
  db.close();
  parentPort?.close();
});
parentPort?.postMessage(copied());

function copied(): CheckpointResult {
  try {
    checkpoint.get();
    return { isCopied: true };
  } catch (error) {
    const failure = sqliteFailure(error);
    if (failure === undefined) throw error;
    return failure;
  }
}
