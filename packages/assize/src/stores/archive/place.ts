/**
 * The files of an archive. A name has only letters, digits, `-` and `.`, and starts with a digit. A
 * file never changes. Failures are StoreErrors.
 */
export interface ArchivePlace {
  /** The place as a caller names it: `file:` with an absolute path, or `s3:`. */
  readonly name: string;
  /**
   * The bytes of a file of that size. Of a larger file, one byte more at most. Undefined if the
   * file does not exist.
   */
  read(name: string, bytes: number): Promise<Buffer | undefined>;
  /** Resolves when the file is durable under its name. Replaces a file of that name. */
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** Deletes a file durably. Does nothing if there is none. */
  remove(name: string): Promise<void>;
}
