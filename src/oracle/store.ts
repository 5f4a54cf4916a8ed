/** One answer of the outside world, kept for ever under the hash of its question. */
export interface OracleRow {
  /** 64 hex digits: hash of scope, request and theta. */
  readonly key: string;
  /** Canonical text of the answer. */
  readonly answer: string;
  /** When it was first recorded. */
  readonly at: string;
}

/** Insert-if-absent, each in its own short transaction, durable before anyone acts on the answer. */
export interface OracleStore {
  oracleGet(key: string): Promise<OracleRow | undefined>;
  /** Returns the row that is in the store afterwards: the given one, or the one that was there first. */
  oraclePut(row: OracleRow): Promise<OracleRow>;
}
