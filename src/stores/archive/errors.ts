import { AssizeError } from '#base';

export type ArchiveErrorCode =
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

/** A failure of an archive. `evidence` names the archive and the file. */
export class ArchiveError extends AssizeError<ArchiveErrorCode> {
  override readonly name = 'ArchiveError';
}
