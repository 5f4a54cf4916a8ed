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
  /** It is not needed any more; `isBroken`: nobody knows what state it is in, so it must not be used again. */
  close?(isBroken: boolean): unknown;
}

export interface SqlDatabase {
  /** A connection that nothing else uses meanwhile; it may be the same each time. */
  connect(): SqlConnection | Promise<SqlConnection>;
  /** How a statement names its values. Default `?`. */
  readonly placeholders?: '?' | '$1';
}
