import { DatabaseSync } from 'node:sqlite';

/**
 * Opens the file of a SQLite store without the triggers that keep entries, as an attacker who can
 * write the file does.
 */
export function openUnguarded(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  const triggers = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'entry'").all();
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name as string}`);
  return db;
}
