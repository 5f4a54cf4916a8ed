import { DatabaseSync, type StatementSync } from 'node:sqlite';

/** As that package has it. */
const TIMEOUT_MS = 5_000;

/**
 * The part of the package better-sqlite3 that memories use, on Node's SQLite. That package is
 * compiled for each machine. The experiments check the written data, not the driver.
 */
export default class Database {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = new DatabaseSync(path, { timeout: TIMEOUT_MS });
  }

  exec(sql: string): this {
    this.#database.exec(sql);
    return this;
  }

  prepare(sql: string): Pick<StatementSync, 'run' | 'get' | 'all'> {
    return this.#database.prepare(sql);
  }

  transaction<Args extends unknown[], T>(work: (...args: Args) => T): (...args: Args) => T {
    return (...args) => {
      this.#database.exec('BEGIN');
      try {
        const done = work(...args);
        this.#database.exec('COMMIT');
        return done;
      } catch (error) {
        this.#database.exec('ROLLBACK');
        throw error;
      }
    };
  }

  close(): void {
    this.#database.close();
  }
}
