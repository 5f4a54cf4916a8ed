import { AssizeError } from '#base';

export type StoreErrorCode =
  /** No store has a URL of that form. Write `sqlite:./file.db`, `postgres://…` or `memory:`. */
  | 'store_unknown'
  /**
   * The file, its folder or the open mode does not allow writing. Change the permissions, or open
   * with another mode.
   */
  | 'store_readonly'
  /**
   * Another program held the file or a row for too long; nothing was written. Try again later; the
   * error is retryable.
   */
  | 'store_locked'
  /**
   * The server gave no connection, or the connection was lost. Try again; nothing was written
   * unless the commit is unknown.
   */
  | 'store_unreachable'
  /**
   * The file or table is damaged. Keep a copy, and restore the store from a backup or an export.
   */
  | 'store_corrupt'
  /** The database or the file system refused an operation. Read `cause`, and remove it. */
  | 'store_failed'
  /** The store was closed before the call. Open the store again. */
  | 'store_closed'
  /**
   * A write failed, or the open file was moved or cut, so only a new handle can tell what the disk
   * holds. Open the store again, and verify it. A server ends with the exit code 3: start it again.
   */
  | 'store_poisoned'
  /**
   * The store was retired and accepts no writes. Open the store that replaced it, or read this one
   * with mode `readonly`.
   */
  | 'store_retired'
  /**
   * The store is a copy, and its original may call the same tools. Retire the original, then adopt
   * the copy with `assize restore adopt`.
   */
  | 'store_copied'
  /**
   * The server lacks an entry that it had answered as committed: a standby without it was promoted,
   * or a backup was restored. Stop the writers, and bring back the old primary.
   */
  | 'store_rewound'
  /**
   * An erasure is committed, but the files may still hold the erased bytes. Open the store for
   * writing again; the error is retryable.
   */
  | 'store_not_scrubbed'
  /**
   * The facts are being rebuilt, or await an import, or were interrupted. Wait, or run `assize
   * memory rebuild`.
   */
  | 'store_facts_incomplete'
  /**
   * The rows or arguments do not fit the port; nothing was written. Correct the argument that the
   * message names.
   */
  | 'store_invalid_input'
  /**
   * Texts of the store are in an archive, and the caller named none. Pass the archive as `archive`
   * of `openStore`, as `--archive`, or in ASSIZE_ARCHIVE.
   */
  | 'archive_not_named'
  /**
   * A file of a segment differs from the file that was written. Restore the file that the message
   * names from a copy of the archive.
   */
  | 'archive_damaged'
  /**
   * The file or schema is of another version of Assize, was changed, or belongs to another program;
   * nothing was written. Follow the message: use that version, migrate, or name another store.
   */
  | 'store_other_schema';

/** A store that can't do what a caller asked. `evidence` names the file, row or argument. */
export class StoreError extends AssizeError<StoreErrorCode> {
  override readonly name = 'StoreError';
}

/** The URL of a new store in memory. It also names the store in errors. */
export const MEMORY_URL = 'memory:';

export function closedError(path: string): StoreError {
  const message =
    path === MEMORY_URL
      ? 'The in-memory store is closed, and its content is gone. Create a new one.'
      : `The store ${path} is closed. Open it again.`;
  return new StoreError('store_closed', message, { evidence: { path } });
}
