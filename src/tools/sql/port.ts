import { z } from 'zod';

/** What a value of a statement can be. It is never a part of the statement's text. */
export type SqlValue = null | string | number | bigint | boolean | Uint8Array;

export interface SqlRow {
  readonly [column: string]: unknown;
}

/** One connection to the caller's database, in whatever way its driver does it. It is used for one call at a time. */
export interface SqlConnection {
  /** The rows that a statement answers with. */
  query(text: string, values: readonly SqlValue[]): readonly SqlRow[] | Promise<readonly SqlRow[]>;
  begin(): unknown;
  commit(): unknown;
  /** Where there is no transaction any more, as after an error of some databases, does nothing. */
  rollback(): unknown;
  /**
   * It is not needed any more; `isBroken`: nobody knows what state it is in, so it must not be used again, and what it has not committed
   * has to go. A statement may be under way then, of what is held too long or of what nobody waits for: it is to fail.
   */
  close?(isBroken: boolean): unknown;
}

export interface SqlDatabase {
  /** A connection that nothing else uses meanwhile; it may be the same each time. */
  connect(): SqlConnection | Promise<SqlConnection>;
  /** How a statement names its values. Default `?`. */
  readonly placeholders?: '?' | '$1';
  /** `one`: whoever writes has the whole database to itself, as in a file of SQLite, so that others here wait for it. Default `many`. */
  readonly writers?: 'one' | 'many';
  /**
   * What is buffered is done in an open transaction of the database while the body runs, and held there for so many milliseconds at most; what
   * it has locked is locked that long. Then it is rolled back, and done again when it is needed. By default it is done after the commit only.
   *
   * @experimental Staged SQL may change in any release.
   */
  readonly heldMs?: number;
}

/** A database that a tool is given. */
export const sqlDatabase = z.custom<SqlDatabase>(
  (value) => typeof (value as SqlDatabase | null | undefined)?.connect === 'function' && isSound(value as SqlDatabase),
  'a database, with connect; heldMs, if it has that, is a whole number of milliseconds from 1, writers is one or many, and placeholders are ? or $1',
);

function isSound({ heldMs, writers, placeholders }: SqlDatabase): boolean {
  const isHeld = heldMs === undefined || (Number.isSafeInteger(heldMs) && heldMs > 0 && heldMs < 2 ** 31);
  const isMarked = placeholders === undefined || placeholders === '?' || placeholders === '$1';
  return isHeld && isMarked && (writers === undefined || writers === 'one' || writers === 'many');
}
