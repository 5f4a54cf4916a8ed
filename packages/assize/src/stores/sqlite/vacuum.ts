import { prepareToWrite, SETTINGS, using } from './connection/connect.ts';
import { fileUrl } from './connection/file.ts';
import { whenUnlocked } from './connection/retry.ts';

/**
 * Rewrites the file without its free pages, so that the disk gets their space back. Other processes
 * read meanwhile, and their writes wait. This thread does nothing else.
 *
 * @throws SQLite's error; StoreError `store_locked`
 */
export async function vacuum(path: string, lockTimeoutMs: number): Promise<void> {
  const db = using(
    fileUrl(path, { mode: 'rw' }),
    { readOnly: false, allowExtension: false },
    (db) => {
      db.exec(SETTINGS);
      prepareToWrite(db, path, 'full');
      return db;
    },
  );
  try {
    await whenUnlocked(() => db.exec('VACUUM'), path, lockTimeoutMs);
    // Moves the new pages into the file, unless a reader needs the old ones.
    await whenUnlocked(() => db.exec('PRAGMA wal_checkpoint(TRUNCATE)'), path, lockTimeoutMs);
  } finally {
    db.close();
  }
}
