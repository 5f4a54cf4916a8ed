import { DatabaseSync, StatementSync } from 'node:sqlite';
import { vi } from 'vitest';

type Method = (this: unknown, ...args: unknown[]) => unknown;

const METHODS = [
  [StatementSync.prototype, 'run'],
  [StatementSync.prototype, 'get'],
  [StatementSync.prototype, 'all'],
  [DatabaseSync.prototype, 'exec'],
] as const;

/**
 * Puts itself around every statement that this process gives to SQLite, until `vi.restoreAllMocks`. `proceed` runs the
 * statement; without it, the statement is not run.
 */
export function interceptSql(around: (sql: string, proceed: () => unknown) => unknown): void {
  for (const [prototype, name] of METHODS) {
    const original: Method = Reflect.get(prototype, name);
    function intercepted(this: unknown, ...args: unknown[]): unknown {
      const sql = this instanceof StatementSync ? this.sourceSQL : String(args[0]);
      return around(sql, () => original.apply(this, args));
    }
    // The methods have types of their own, which do not matter here.
    vi.spyOn(prototype as unknown as Record<typeof name, Method>, name).mockImplementation(intercepted);
  }
}

/** An error as node:sqlite throws it. */
export function sqliteError(errcode: number): Error {
  return Object.assign(new Error('injected'), { code: 'ERR_SQLITE_ERROR', errcode });
}
