import { constants, type Stats } from 'node:fs';
import {
  copyFile,
  type FileHandle,
  lstat,
  open,
  readdir,
  readlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { DidNothing } from 'assize/internal/effects';

/**
 * The item at a path. Files and folders stay open, so no other item can replace them during use.
 */
export type OpenedPath =
  | {
      readonly is: 'file' | 'folder';
      readonly stat: Stats;
      readonly handle: FileHandle;
      readonly place: string;
    }
  | { readonly is: 'link'; readonly to: string }
  | { readonly is: 'other' };

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, COPYFILE_EXCL, COPYFILE_FICLONE } = constants;

/**
 * Opens the item at a location, without following a link, and passes it to `use`. Errors name the
 * item by `path`. If the system names open files (`/proc/self/fd`), the item is used by that name.
 * Otherwise a folder is used by its path.
 *
 * @throws DidNothing if the item does not exist, or can't be opened
 */
export async function withOpened<T>(
  place: string,
  path: string,
  use: (held: OpenedPath) => Promise<T>,
): Promise<T> {
  const first = await told(path, () => lstat(place));
  if (first.isSymbolicLink())
    return use({ is: 'link', to: await told(path, () => readlink(place)) });
  if (!first.isFile() && !first.isDirectory()) return use({ is: 'other' });
  // Opened without blocking, because the path may have become a pipe without a writer.
  await using handle = await told(path, () => open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  const stat = await told(path, () => handle.stat());
  if (!stat.isFile() && !stat.isDirectory()) return use({ is: 'other' });
  // The handle stays open until `use` ends.
  return await use({
    is: stat.isFile() ? 'file' : 'folder',
    stat,
    handle,
    place: placeOf(handle, place),
  });
}

/**
 * Names in a folder, in order.
 * @throws DidNothing for a name that no tool path can have
 */
export async function namesAt(place: string, path: string): Promise<readonly string[]> {
  const names = await told(path, () => readdir(place, { encoding: 'buffer' }));
  return names.map((bytes) => textOf(bytes, path)).sort();
}

/**
 * Copies an open file. The copy shares blocks with the file if the system names open files and the
 * file system supports this.
 */
export async function copyOpened(
  { handle, place }: OpenedPath & { is: 'file' | 'folder' },
  to: string,
): Promise<void> {
  if (isNamed) await copyFile(place, to, COPYFILE_FICLONE | COPYFILE_EXCL);
  else await writeFile(to, handle.createReadStream({ autoClose: false }), { flag: 'wx' });
}

const isNamed = process.platform === 'linux';

function placeOf(handle: FileHandle, place: string): string {
  return isNamed ? `/proc/self/fd/${handle.fd}` : place;
}

function textOf(bytes: Buffer, folder: string): string {
  const name = bytes.toString();
  if (Buffer.from(name).equals(bytes)) return name;
  throw new DidNothing(`the name of ${join(folder, name)} is not UTF-8, so no tool can open it`, {
    final: true,
  });
}

/** Reports file system errors under the path that the caller knows. */
async function told<T>(path: string, made: () => Promise<T>): Promise<T> {
  try {
    return await made();
  } catch (error) {
    const [why] = (error as NodeJS.ErrnoException).message.split(',');
    throw new DidNothing(`${path} cannot be read: ${why}`, { cause: error });
  }
}
