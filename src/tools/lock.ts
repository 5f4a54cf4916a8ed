import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { NoAnswer } from '#effects';

// What one does at a time, in whatever process.

/** Milliseconds between two tries to get what somebody else has. */
const TRY_MS = 20;
/** SQLite's number for that, without what more it says of it. */
const BUSY = 5;

/**
 * Holds a file until it is let go. The system lets it go with the process that holds it, so no lock is ever left by one that was killed: it is
 * a transaction of a database that stays empty, as SQLite knows how each system locks a file. The file is made where there is none, and stays:
 * were it removed, two could each hold one of its name.
 *
 * @throws NoAnswer `folder_in_use` where the signal says to stop while another one holds it: nobody knows what that one does
 */
export async function lockOf(path: string, signal: AbortSignal): Promise<Disposable> {
  const sqlite = process.getBuiltinModule('node:sqlite');
  const db = new sqlite.DatabaseSync(path);
  try {
    while (!isHeld(db)) {
      if (signal.aborted) throw new NoAnswer(`${path} is held by another one.`, { why: 'folder_in_use' });
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
