/**
 * One answer of the outside world, stored permanently under the hash of its question unless an
 * entry erases it.
 */
export interface OracleRow {
  /** 64 hex digits: hash of scope, request and theta. */
  readonly key: string;
  /** Canonical text of the answer. Empty if it was erased. */
  readonly answer: string;
  /** The time of the first recording. Empty if it was erased before it was recorded. */
  readonly at: string;
  /**
   * The erasing entry. Nothing more is recorded under that key. A store ignores this field in a
   * given row.
   */
  readonly erased_by?: string;
}

/**
 * Insert-if-absent, each in its own short store transaction, durable before any caller acts on the
 * answer.
 */
export interface OracleStore {
  oracleGet(key: string): Promise<OracleRow | undefined>;
  /**
   * Returns the row that is in the store afterwards: the given one, or the earlier one, even if
   * that was erased. `within`: 64 hex digits, the key of its list.
   */
  oraclePut(row: OracleRow, within?: string): Promise<OracleRow>;
  /**
   * Optional: the rows put with this `within`, in order of their keys, after one key, at most
   * `limit`. Erased rows are excluded. A store without this method retains the answers about an
   * erased subject that no entry names.
   */
  oracleWithin?(
    within: string,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<OracleRow[]>;
  /**
   * Optional: the erased rows, in order of their keys, after one key, at most `limit`. Without this
   * method no check can find the entry for each erasure.
   */
  oracleErased?(page: { readonly after?: string; readonly limit: number }): Promise<OracleRow[]>;
}
