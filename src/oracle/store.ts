/** One answer of the outside world, kept under the hash of its question: for ever, unless an entry erases it. */
export interface OracleRow {
  /** 64 hex digits: hash of scope, request and theta. */
  readonly key: string;
  /** Canonical text of the answer; empty where it was erased. */
  readonly answer: string;
  /** When it was first recorded; empty where it was erased before it came. */
  readonly at: string;
  /** The entry that erased it: nothing is recorded under that key any more. A store that is given a row does not look at it. */
  readonly erased_by?: string;
}

/** Insert-if-absent, each in its own short transaction, durable before anyone acts on the answer. */
export interface OracleStore {
  oracleGet(key: string): Promise<OracleRow | undefined>;
  /**
   * Returns the row that is in the store afterwards: the given one, or the one that was there first, also where that was erased.
   * `within`: 64 hex digits, by which it is listed.
   */
  oraclePut(row: OracleRow, within?: string): Promise<OracleRow>;
  /**
   * Optional: what was put with this `within`, in order of its keys, after one of them, at most `limit`; what was erased is not among it.
   * A store that has it not keeps what no entry names of an erased subject.
   */
  oracleWithin?(within: string, page: { readonly after?: string; readonly limit: number }): Promise<OracleRow[]>;
  /**
   * Optional: what was erased, in order of its keys, after one of them, at most `limit`. Of a store that has it not nobody can tell whether
   * an entry says so.
   */
  oracleErased?(page: { readonly after?: string; readonly limit: number }): Promise<OracleRow[]>;
}
