/** The extra port of a store whose file can be moved away while it is open: SQLite. */
export interface InPlace {
  /**
   * Requires that the files at the path of the store are those that it has open. Without this check
   * reads go on in a file that was renamed or removed.
   *
   * @throws {StoreError} `store_poisoned`, `store_closed`
   */
  requireInPlace(): void;
}
