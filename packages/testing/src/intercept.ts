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
 * Intercepts every statement that this process sends to SQLite, until `vi.restoreAllMocks`.
 * `proceed` runs the statement; without it, the statement does not run.
 */
export function interceptSql(around: (sql: string, proceed: () => unknown) => unknown): void {
  for (const [prototype, name] of METHODS) {
    const original: Method = Reflect.get(prototype, name);
    function intercepted(this: unknown, ...args: unknown[]): unknown {
      const sql = this instanceof StatementSync ? this.sourceSQL : String(args[0]);
      return around(sql, () => original.apply(this, args));
    }
    // The specific types of the methods do not matter here.
    vi.spyOn(prototype as unknown as Record<typeof name, Method>, name).mockImplementation(
      intercepted,
    );
  }
}

/** An error in the form that node:sqlite throws. */
export function sqliteError(errcode: number): Error {
  return Object.assign(new Error('injected'), { code: 'ERR_SQLITE_ERROR', errcode });
}
