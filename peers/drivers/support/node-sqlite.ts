import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

/** As better-sqlite3 has it. */
const TIMEOUT_MS = 5_000;

/** The part of better-sqlite3 that `SqliteSaver` uses, on Node's SQLite, as that one is compiled. */
export class NodeSqlite {
  readonly database: DatabaseSync;

  constructor(path: string) {
    this.database = new DatabaseSync(path, { timeout: TIMEOUT_MS });
  }

  pragma(text: string): void {
    this.database.exec(`PRAGMA ${text}`);
  }

  exec(sql: string): void {
    this.database.exec(sql);
  }

  prepare(sql: string): Pick<StatementSync, 'run' | 'get' | 'all' | 'iterate'> {
    const statement = this.database.prepare(sql);
    // better-sqlite3 takes undefined for NULL.
    const given = (values: readonly unknown[]) =>
      values.map((value) => value ?? null) as SQLInputValue[];
    return {
      run: (...values: unknown[]) => statement.run(...given(values)),
      get: (...values: unknown[]) => statement.get(...given(values)),
      all: (...values: unknown[]) => statement.all(...given(values)),
      iterate: (...values: unknown[]) => statement.iterate(...given(values)),
    };
  }

  transaction<Args extends unknown[]>(work: (...args: Args) => void): (...args: Args) => void {
    return (...args) => {
      this.database.exec('BEGIN IMMEDIATE');
      try {
        work(...args);
        this.database.exec('COMMIT');
      } catch (error) {
        this.database.exec('ROLLBACK');
        throw error;
      }
    };
  }
}
