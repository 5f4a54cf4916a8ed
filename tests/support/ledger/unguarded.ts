import { DatabaseSync } from 'node:sqlite';

/**
 * Opens the file of a SQLite store without the triggers that keep entries and facts, as an attacker
 * who can write the file does. Closing the database puts the triggers back.
 */
export function openUnguarded(path: string): DatabaseSync {
  return new Unguarded(path);
}

class Unguarded extends DatabaseSync {
  readonly #dropped: readonly string[];

  constructor(path: string) {
    super(path);
    const triggers = this.prepare(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND (name GLOB 'entry_*' OR name GLOB 'fact_*')",
    ).all();
    this.#dropped = triggers.map(({ sql }) => sql as string);
    for (const { name } of triggers) this.exec(`DROP TRIGGER "${name as string}"`);
  }

  override close(): void {
    for (const sql of this.#dropped) this.exec(sql);
    super.close();
  }
}
