import type { DatabaseSync } from 'node:sqlite';
import { arg, checkArgument } from 'assize/internal/base';
import type { WitnessRecord } from 'assize/internal/merkle';

const WITNESS_RECORD = arg.members({ size: arg.number, root: arg.bytes });

/**
 * The cosigned trees of a witness, in one SQLite file: the latest tree of each log, and its note.
 */
export class WitnessFile {
  readonly #db: DatabaseSync;

  /**
   * Creates the file if it does not exist.
   *
   * @throws the errors of node:sqlite; ArgumentError `bad_argument`
   */
  constructor(path: string) {
    checkArgument(arg.text, path, 'path');
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    this.#db = new DatabaseSync(path, { timeout: 5_000 });
    // The record must be durable before the answer: a witness that loses it can be made to cosign a
    // fork. FULL syncs the file but not the removal of its journal. A journal that reappears after
    // a power failure rolls the answered record back.
    this.#db.exec(`PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA; PRAGMA fullfsync = ON;
      CREATE TABLE IF NOT EXISTS tree (origin TEXT PRIMARY KEY, size TEXT NOT NULL, root BLOB NOT NULL, note TEXT NOT NULL) STRICT`);
  }

  /**
   * The latest tree of a log.
   *
   * @throws ArgumentError `bad_argument`
   */
  recorded(origin: string): WitnessRecord | undefined {
    checkArgument(arg.text, origin, 'origin');
    const row = this.#db.prepare('SELECT size, root FROM tree WHERE origin = ?').get(origin);
    return row && { size: BigInt(row['size'] as string), root: row['root'] as Uint8Array };
  }

  /** @throws ArgumentError `bad_argument` */
  record(origin: string, record: WitnessRecord, note: string): void {
    checkArgument(arg.text, origin, 'origin');
    checkArgument(WITNESS_RECORD, record, 'record');
    checkArgument(arg.text, note, 'note');
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

  /** Reads and records in one atomic step, also between processes. A throw rolls the step back. */
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
