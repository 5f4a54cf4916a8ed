import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { NoAnswer } from 'assize/internal/effects';

// Mutual exclusion across processes.

/** Milliseconds between two attempts to acquire a held lock. */
const TRY_MS = 20;
/** SQLite's primary result code, without the extended bits. */
const BUSY = 5;

/**
 * Locks a file until the lock is released. The system releases the lock with its process, so a
 * killed process leaves no lock. The lock is a transaction of an empty database, because SQLite
 * knows the file locks of each system. The file is created if it is missing, and stays. If it were
 * removed, two processes could each lock a file of that name.
 *
 * @throws NoAnswer `folder_in_use` if another process holds the lock until the signal aborts,
 * because the effect of that process is unknown
 */
export async function lockOf(path: string, signal: AbortSignal): Promise<Disposable> {
  const sqlite = process.getBuiltinModule('node:sqlite');
  const db = new sqlite.DatabaseSync(path);
  try {
    while (!isHeld(db)) {
      if (signal.aborted)
        throw new NoAnswer(`Another process holds ${path}.`, { why: 'folder_in_use' });
      await pause(TRY_MS);
    }
  } catch (error) {
    db.close();
    throw error;
  }
  return {
    [Symbol.dispose]: () => {
      if (db.isOpen) db.close();
    },
  };
}

function isHeld(db: DatabaseSync): boolean {
  try {
    db.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (((error as { readonly errcode?: number }).errcode ?? 0) % 256 !== BUSY) throw error;
    return false;
  }
}
