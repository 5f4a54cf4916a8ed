/** The maximum size of the body of a side row, in bytes of UTF-8. */
export const SIDE_BODY_BYTES_MAX: number = 64 * 1024;

/** The maximum number of characters in the kind and in the key of a side row. */
export const SIDE_NAME_MAX = 512;

/** The maximum number of changes in one put. */
export const SIDE_CHANGES_MAX = 1_000;

/** A row that a process stores next to the ledger, such as a token, a session or a notice. */
export interface SideRow {
  /**
   * The kind and the key name the row. Each is text of 1 to `SIDE_NAME_MAX` characters in composed
   * form (NFC).
   */
  readonly kind: string;
  readonly key: string;
  /** A positive integer. Each write gets a greater one, also after the row was deleted. */
  readonly version: number;
  /** Canonical JSON of at most `SIDE_BODY_BYTES_MAX` bytes. */
  readonly body: string;
}

/** One row of a put. */
export interface SideChange {
  readonly kind: string;
  readonly key: string;
  /** The version that the row must have. Null: the row must be absent. */
  readonly expected: number | null;
  /** The new body. Null deletes the row. */
  readonly body: string | null;
}

/** A page of side rows: the keys after `after`, at most `limit`. */
export interface SidePage {
  readonly after?: string;
  readonly limit: number;
}

/**
 * The side log: rows that are not part of the ledger. No entry names them, an export has none of
 * them, and no check compares them. They hold what a process must remember but must not append.
 */
export interface SideStore {
  sideGet(kind: string, key: string): Promise<SideRow | undefined>;
  /** The rows of one kind, by key in code-point order. */
  sideList(kind: string, page: SidePage): Promise<SideRow[]>;
  /**
   * Writes all changes or none, in one durable transaction. Resolves to false, without any change,
   * if a row does not have its expected version. Of several puts that expect one version of a row,
   * at most one resolves to true.
   *
   * Changes that name a row twice, or that fit no row, are misuse (`store_invalid_input`). If the
   * promise rejects for another reason, the put may have happened. Read the rows before another
   * put.
   */
  sidePut(changes: readonly SideChange[]): Promise<boolean>;
}
