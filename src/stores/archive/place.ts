import { existsSync } from 'node:fs';
import { ArchiveError } from './errors.ts';
import { FolderPlace } from './folder-place.ts';

/**
 * The files of an archive. A name has only letters, digits, `-` and `.`, and starts with a digit. A
 * file never changes. Failures are ArchiveErrors.
 */
export interface ArchivePlace {
  /** The place as a caller names it: `file:` with an absolute path, or `s3:`. */
  readonly name: string;
  /** The bytes of a file. Undefined if there is none. */
  read(name: string): Promise<Buffer | undefined>;
  /** Resolves when the file is durable under its name. Replaces a file of that name. */
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** Deletes a file durably. Does nothing if there is none. */
  remove(name: string): Promise<void>;
}

/**
 * The archive at `file:FOLDER` or `s3:BUCKET/PREFIX`. Opens nothing.
 *
 * @throws ArchiveError `archive_unknown`
 */
export function archivePlace(name: string): ArchivePlace {
  if (name.startsWith('file:') && name.length > 'file:'.length && !name.includes('\0'))
    return new FolderPlace(name.slice('file:'.length));
  throw new ArchiveError(
    'archive_unknown',
    `'${name}' is not the place of an archive. Write file:FOLDER or s3:BUCKET/PREFIX.`,
    { evidence: { archive: name } },
  );
}

/**
 * The default archive of the store at a URL: the folder `<file>.archive` next to a SQLite file, if
 * there is one.
 */
export function defaultArchive(url: string): string | undefined {
  if (!url.startsWith('sqlite:')) return undefined;
  const folder = `${url.slice('sqlite:'.length)}.archive`;
  return existsSync(folder) ? `file:${folder}` : undefined;
}
