/** The extra port of a store in a file of this machine: SQLite. */
export interface InPlace {
  /**
   * Requires that the files at the path of the store are those that it has open. Without this check
   * reads go on in a file that was renamed or removed.
   *
   * @throws {StoreError} `store_poisoned`, `store_closed`
   */
  requireInPlace(): void;

  /**
   * Requires space on the disk, if the last write found none.
   *
   * @throws {StoreError} `store_failed`
   */
  requireSpace(): void;
}
