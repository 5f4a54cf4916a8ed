import { z } from 'zod';

/** A value of a statement. A value is never part of the statement's text. */
export type SqlValue = null | string | number | bigint | boolean | Uint8Array;

export interface SqlRow {
  readonly [column: string]: unknown;
}

/** One connection to the caller's database, over any driver. One call at a time uses it. */
export interface SqlConnection {
  /** Runs a statement and returns its rows. */
  query(text: string, values: readonly SqlValue[]): readonly SqlRow[] | Promise<readonly SqlRow[]>;
  begin(): unknown;
  commit(): unknown;
  /**
   * Rolls the transaction back. Does nothing without an open transaction, as after some databases'
   * errors.
   */
  rollback(): unknown;
  /**
   * Returns the connection. `isBroken`: its state is unknown, so it must not be reused, and its
   * uncommitted work must be dropped. A statement may be in progress then, after a time limit or an
   * abort. It must fail.
   */
  close?(isBroken: boolean): unknown;
}

export interface SqlDatabase {
  /** A connection that no other code uses in the meantime. Each call may return the same one. */
  connect(): SqlConnection | Promise<SqlConnection>;
  /** The placeholder syntax of statements. Default `?`. */
  readonly placeholders?: '?' | '$1';
  /**
   * `one`: a writer locks the whole database, as in an SQLite file, so other writers here wait.
   * Default `many`.
   */
  readonly writers?: 'one' | 'many';
  /**
   * Stages buffered calls in an open database transaction while the body runs, for at most this
   * number of milliseconds. Their locks are held for the same time. Then the transaction is rolled
   * back, and repeated when needed. By default the calls run only after the commit.
   *
   * @experimental Staged SQL may change in any release.
   */
  readonly stagedTimeoutMs?: number;
}

/** The database of a tool. */
export const sqlDatabase = z.custom<SqlDatabase>(
  (value) =>
    typeof (value as SqlDatabase | null | undefined)?.connect === 'function' &&
    isSound(value as SqlDatabase),
  'a database with connect. stagedTimeoutMs must be whole milliseconds from 1, writers one or many, placeholders ? or $1',
);

function isSound({ stagedTimeoutMs, writers, placeholders }: SqlDatabase): boolean {
  const isHeld =
    stagedTimeoutMs === undefined ||
    (Number.isSafeInteger(stagedTimeoutMs) && stagedTimeoutMs > 0 && stagedTimeoutMs < 2 ** 31);
  const isMarked = placeholders === undefined || placeholders === '?' || placeholders === '$1';
  return isHeld && isMarked && (writers === undefined || writers === 'one' || writers === 'many');
}
