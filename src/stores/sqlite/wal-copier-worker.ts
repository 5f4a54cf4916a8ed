import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { sqliteFailure } from './errors.ts';
import { fileUrl } from './file.ts';
import { BLOCKING_WAIT_MS } from './retry.ts';
import type { Copied, CopierTask } from './wal-copier.ts';

const { path, pragmas } = workerData as CopierTask;
// Where that fails there is no thread for it: nothing was copied, and whoever writes does that.
const db = new DatabaseSync(fileUrl(path, { mode: 'rw' }), { timeout: BLOCKING_WAIT_MS });
for (const [name, value] of pragmas) db.exec(`PRAGMA ${name} = ${value}`);
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
