import { existsSync } from 'node:fs';
import { arg, checkArgument } from '#base';
import { StoreError } from '../errors.ts';
import { FolderPlace } from './folder-place.ts';
import type { ArchivePlace } from './place.ts';
import { S3Place } from './s3-place.ts';

/** Bucket and prefix have the characters that need no escape in a URL, and no part `.` or `..`. */
const S3 = /^s3:([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9_.-]+)*)\/?$/;

/**
 * The archive at `file:FOLDER` or `s3:BUCKET/PREFIX`. Opens nothing.
 *
 * @throws StoreError `store_unknown`
 */
export function archivePlace(name: string): ArchivePlace {
  if (name.startsWith('file:') && name.length > 'file:'.length && !name.includes('\0'))
    return new FolderPlace(name.slice('file:'.length));
  const [, bucket, prefix = ''] = S3.exec(name) ?? [];
  if (bucket !== undefined) return new S3Place(bucket, prefix.slice(1));
  // Only the scheme: the rest can contain a password.
  const scheme = name.slice(0, name.indexOf(':') + 1);
  throw new StoreError(
    'store_unknown',
    `The place of the archive is not valid (${scheme === '' ? 'it has no scheme' : `'${scheme}'`}). Write file:FOLDER or s3:BUCKET/PREFIX.`,
    { evidence: { scheme } },
  );
}

/**
 * The default archive of the store at a URL: the folder `<file>.archive` next to a SQLite file, if
 * there is one.
 *
 * @throws ArgumentError `bad_argument`
 */
export function defaultArchive(url: string): string | undefined {
  checkArgument(arg.text, url, 'url');
  if (!url.startsWith('sqlite:')) return undefined;
  const folder = `${url.slice('sqlite:'.length)}.archive`;
  return existsSync(folder) ? `file:${folder}` : undefined;
}
