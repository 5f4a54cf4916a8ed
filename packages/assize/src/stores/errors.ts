import { AssizeError } from '#base';

export type StoreErrorCode =
  /** No store has a URL of that form. Write `sqlite:./file.db`, `postgres://…` or `memory:`. */
  | 'store_unknown'
  /**
   * The file or schema belongs to another program, and was left unchanged. Name another file or
   * schema.
   */
  | 'store_not_recognised'
  /**
   * A newer version of Assize wrote or migrated the store; nothing was written. Open the store with
   * that version.
   */
  | 'store_newer_schema'
  /**
   * The store needs a migration, which a reader can't do, or an unreleased version wrote it. Open
   * the store once for writing; export an unreleased store with its version, and import the export.
   */
  | 'store_older_schema'
  /**
   * A table, view, trigger, rule or function of the store was changed, or a trigger was added;
   * nothing was written. Undo the change that the message names, and check with `assize fsck`.
   */
  | 'store_changed_schema'
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
   * The server does not admit this user, or does not permit the operation. Check the user and the
   * grants.
   */
  | 'store_denied'
  /**
   * The driver package is missing, or can't be loaded on this machine. Install the package that the
   * message names.
   */
  | 'store_no_driver'
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
   * the copy with `assize store adopt`.
   */
  | 'store_copied'
  /**
   * The server lacks an entry that it had answered as committed: a standby without it was promoted,
   * or a backup was restored. Stop the writers, and bring back the old primary.
   */
  | 'store_rewound'
  /**
   * The store is sealed, and the process has no root key. Set ASSIZE_ROOT_KEY_FILE, or pass
   * `rootKeys` to `openStore`.
   */
  | 'unsealed_writer'
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
   * The store lacks entries of its last checkpoint. Restore the lost entries, or open with
   * `checkpoint: false` to look.
   */
  | 'store_behind_checkpoint'
  /**
   * The store's entries differ from its last checkpoint. Compare with a backup, or open with
   * `checkpoint: false` to look.
   */
  | 'store_diverged_from_checkpoint'
  /**
   * The checkpoint file can't be read. Restore the file, or open with `checkpoint: false` to look.
   */
  | 'store_bad_checkpoint'
  /**
   * Texts of the store are in an archive, and the caller named none. Pass the archive as `archive`
   * of `openStore`, as `--archive`, or in ASSIZE_ARCHIVE.
   */
  | 'archive_not_named'
  /** The text is not a place for an archive. Write `file:FOLDER` or `s3:BUCKET/PREFIX`. */
  | 'archive_unknown'
  /**
   * The archive lacks a file of a segment. Name the archive that the store was written to, or
   * restore the file from a copy.
   */
  | 'archive_missing'
  /**
   * A file of a segment differs from the file that was written. Restore the file that the message
   * names from a copy of the archive.
   */
  | 'archive_damaged'
  /**
   * The folder or the object store refused an operation. Read `cause`, remove it, and repeat the
   * command.
   */
  | 'archive_failed'
  /**
   * Nothing was archived: the store has no archive, differs from the checkpoint, or has entries
   * that do not verify. Do what the message says.
   */
  | 'archive_refused';

/** A store that can't do what a caller asked. `evidence` names the file, row or argument. */
export class StoreError extends AssizeError<StoreErrorCode> {
  override readonly name = 'StoreError';
}

export function closedError(path: string): StoreError {
  return new StoreError('store_closed', `The store ${path} is closed. Open it again.`, {
    evidence: { path },
  });
}
