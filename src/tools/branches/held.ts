import { constants, type Stats } from 'node:fs';
import { copyFile, type FileHandle, lstat, open, readdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DidNothing } from '#effects';

/** What stands at a path. A file and a folder are held open, so that nobody can put another one in their place meanwhile. */
export type Held =
  | { readonly is: 'file' | 'folder'; readonly stat: Stats; readonly handle: FileHandle; readonly place: string }
  | { readonly is: 'link'; readonly to: string }
  | { readonly is: 'other' };

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, COPYFILE_EXCL, COPYFILE_FICLONE } = constants;

/**
 * Uses what stands at a place, and no link is followed there. `path` is how it is told of. Where the system names what is open
 * (`/proc/self/fd`), it is used by that name; elsewhere a folder is used by its path.
 *
 * @throws DidNothing where it is not there, or can't be opened
 */
export async function holding<T>(place: string, path: string, use: (held: Held) => Promise<T>): Promise<T> {
  const first = await told(path, () => lstat(place));
  if (first.isSymbolicLink()) return use({ is: 'link', to: await told(path, () => readlink(place)) });
  if (!first.isFile() && !first.isDirectory()) return use({ is: 'other' });
  // Without waiting, as it may have become a pipe that nobody writes to.
  await using handle = await told(path, () => open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  const stat = await told(path, () => handle.stat());
  if (!stat.isFile() && !stat.isDirectory()) return use({ is: 'other' });
  // Held until that is over.
  return await use({ is: stat.isFile() ? 'file' : 'folder', stat, handle, place: placeOf(handle, place) });
}

/** Names in a folder, in order. @throws DidNothing for what no path of a tool could name */
export async function namesAt(place: string, path: string): Promise<readonly string[]> {
  const names = await told(path, () => readdir(place, { encoding: 'buffer' }));
  return names.map((bytes) => textOf(bytes, path)).sort();
}

/** Shares blocks with the file where the system names what is open, and the file system can. */
export async function copyHeld({ handle, place }: Held & { is: 'file' | 'folder' }, to: string): Promise<void> {
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
  throw new DidNothing(`${join(folder, name)} has a name that is no UTF-8, which no tool can be given`, {
    final: true,
  });
}

/** What the file system refuses is told by the path that is known to people. */
async function told<T>(path: string, made: () => Promise<T>): Promise<T> {
  try {
    return await made();
  } catch (error) {
    const [why] = (error as NodeJS.ErrnoException).message.split(',');
    throw new DidNothing(`${path} can't be read: ${why}`, { cause: error });
  }
}
