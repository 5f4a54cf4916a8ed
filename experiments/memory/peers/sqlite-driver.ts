import { DatabaseSync, type StatementSync } from 'node:sqlite';

/** As that package has it. */
const TIMEOUT_MS = 5_000;

/**
 * What memories use of the package better-sqlite3, on the SQLite of Node: that package is compiled for each machine, and what is judged
 * here is what is written, and not by which driver.
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
