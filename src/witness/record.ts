import type { DatabaseSync } from 'node:sqlite';
import { form, requireForm } from '#base';
import type { WitnessRecord } from '#merkle';

const WITNESS_RECORD = form.members({ size: form.number, root: form.bytes });

/** What a witness has cosigned, in one SQLite file: the latest tree of each log, and the note that it showed for it. */
export class WitnessFile {
  readonly #db: DatabaseSync;

  /** Makes the file where there is none. @throws as node:sqlite does; ArgumentError `bad_argument` */
  constructor(path: string) {
    requireForm(form.text, path, 'path');
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    this.#db = new DatabaseSync(path, { timeout: 5_000 });
    // Before the answer it must be on the disk: a witness that forgets can be made to cosign a fork. With FULL the file would be,
    // but not that its journal is gone: one that comes back with the power takes back what was answered.
    this.#db.exec(`PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA; PRAGMA fullfsync = ON;
      CREATE TABLE IF NOT EXISTS tree (origin TEXT PRIMARY KEY, size TEXT NOT NULL, root BLOB NOT NULL, note TEXT NOT NULL) STRICT`);
  }

  /**
   * The latest tree of a log.
   *
   * @throws ArgumentError `bad_argument`
   */
  recorded(origin: string): WitnessRecord | undefined {
    requireForm(form.text, origin, 'origin');
    const row = this.#db.prepare('SELECT size, root FROM tree WHERE origin = ?').get(origin);
    return row && { size: BigInt(row['size'] as string), root: row['root'] as Uint8Array };
  }

  /** @throws ArgumentError `bad_argument` */
  record(origin: string, record: WitnessRecord, note: string): void {
    requireForm(form.text, origin, 'origin');
    requireForm(WITNESS_RECORD, record, 'record');
    requireForm(form.text, note, 'note');
    const { size, root } = record;
    this.#db
      .prepare('INSERT OR REPLACE INTO tree (origin, size, root, note) VALUES (?, ?, ?, ?)')
      .run(origin, String(size), root, note);
  }

  /** The latest cosigned checkpoints. */
  notes(): { origin: string; note: string }[] {
    const rows = this.#db.prepare('SELECT origin, note FROM tree').all();
    return rows.map((row) => ({ origin: row['origin'] as string, note: row['note'] as string }));
  }

  /** Reading and recording in one step, which no other process comes between; nothing of it stays when it throws. */
  atomically<T>(step: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const result = step();
      this.#db.exec('COMMIT');
      return result;
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    }
  }

  close(): void {
    this.#db.close();
  }
}
