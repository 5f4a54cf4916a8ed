import { type BigIntStats, constants } from 'node:fs';
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  rmdir,
  unlink,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DidNothing } from 'assize/internal/effects';
import { lockOf } from '../lock.ts';
import { namesBelow, type Root } from './root.ts';

/** A file at a path. */
export interface FileContents {
  readonly is: 'file';
  readonly bytes: Buffer;
  readonly mode: number;
  /**
   * Identity of the file, independent of its name. A file that is created after a deletion has
   * another identity.
   */
  readonly id: string;
  /** Owner of the file: user and group. */
  readonly owner?: string;
  /** Number of hard links. */
  readonly links: number;
}

/** The item at a path. */
export type PathContents = FileContents | { readonly is: 'absent' | 'folder' | 'link' | 'other' };

/** An item of a folder: its name and kind. */
export interface FolderItem {
  readonly name: string;
  readonly is: 'file' | 'folder' | 'link' | 'other';
}

/**
 * Primitive file operations, one step each: a crash occurs before or after a step. No step follows
 * a symbolic link, neither as the last name nor on the way.
 */
export interface Disk {
  /**
   * Reads the item at a path.
   * @throws DidNothing for a file of more than `bytesMax`
   */
  look(path: string): Promise<PathContents>;
  /** The identity of the file at a path, without reading it. */
  idOf(path: string): Promise<string | undefined>;
  names(folder: string): Promise<readonly FolderItem[] | undefined>;
  /**
   * Writes a new file, durable except for its name. `owner`: the owner to set, as in
   * `FileContents`, if the system permits this.
   */
  write(path: string, bytes: Uint8Array, mode: number, owner?: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file, and returns whether it existed. */
  remove(path: string): Promise<boolean>;
  makeFolder(path: string): Promise<void>;
  /** Removes an empty folder. */
  removeFolder(path: string): Promise<void>;
  /** Makes the names in a folder durable, if the folder exists. */
  sync(folder: string): Promise<void>;
  /**
   * Locks a file across processes, until the lock is released or the process ends. The file is
   * created if it is missing, and never removed. Without the lock, processes with overlapping
   * leases may each delete the journal entry that the other has just written.
   *
   * @throws NoAnswer if another process holds the lock until the signal aborts
   */
  lock?(path: string, signal: AbortSignal): Promise<Disposable>;
}

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The real file system. */
export function diskAt(root: Root, bytesMax: number): Disk {
  const at = <T>(path: string, use: (place: string) => Promise<T>) => within(root, path, use);
  return {
    look: (path) =>
      absentAs<PathContents>({ is: 'absent' }, () =>
        at(path, (place) => look(path, place, bytesMax)),
      ),
    idOf: (path) =>
      absentAs(undefined, () =>
        at(path, async (place) => idOf(await lstat(place, { bigint: true }))),
      ),
    names: (folder) => absentAs(undefined, () => inside(root, folder, namesIn)),
    write: (path, bytes, mode, owner) => at(path, (place) => write(place, bytes, mode, owner)),
    rename: (from, to) => at(from, (source) => at(to, (target) => rename(source, target))),
    remove: (path) => absentAs(false, () => at(path, (place) => unlink(place).then(() => true))),
    makeFolder: (path) => at(path, (place) => unless('EEXIST', mkdir(place))),
    removeFolder: (path) =>
      absentAs(undefined, () => at(path, (place) => unless('ENOTEMPTY', rmdir(place)))),
    sync: (folder) => absentAs(undefined, () => inside(root, folder, sync)),
    lock: (path, signal) => at(path, (place) => hold(path, place, signal)),
  };
}

/** Uses a path through an open folder, so no other folder can replace it during use. */
async function within<T>(root: Root, path: string, use: (place: string) => Promise<T>): Promise<T> {
  if (path === root.path) return use(path);
  return inside(root, dirname(path), (folder) => use(join(folder, basename(path))));
}

/**
 * Uses a folder below the root, opened name by name. If the system names open folders
 * (`/proc/self/fd`), the opened folder itself is used. Otherwise the folder is inspected, and used
 * by its path.
 */
async function inside<T>(
  root: Root,
  folder: string,
  use: (place: string) => Promise<T>,
): Promise<T> {
  let place = root.path;
  let handle = await open(root.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    place = placeOf(handle, place);
    for (const name of folder === root.path ? [] : namesBelow(root, folder)!) {
      const next = await openFolder(join(place, name), folder);
      await handle.close();
      handle = next;
      place = placeOf(handle, join(place, name));
    }
    return await use(place);
  } finally {
    await handle.close();
  }
}

function placeOf(handle: FileHandle, path: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path;
}

async function openFolder(place: string, folder: string): Promise<FileHandle> {
  try {
    return await open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ELOOP' && code !== 'ENOTDIR') throw error;
    throw new DidNothing(
      `the path to ${folder} has an item that is not a folder, ${basename(place)}`,
      {
        final: true,
        cause: error,
      },
    );
  }
}

async function look(path: string, place: string, bytesMax: number): Promise<PathContents> {
  const first = await lstat(place);
  if (!first.isFile())
    return { is: first.isDirectory() ? 'folder' : first.isSymbolicLink() ? 'link' : 'other' };
  await using handle = await open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const stat = await handle.stat({ bigint: true });
  if (!stat.isFile()) return { is: 'other' };
  if (stat.size > BigInt(bytesMax))
    throw new DidNothing(`${path} has ${stat.size} bytes, more than the limit of ${bytesMax}`, {
      final: true,
    });
  return {
    is: 'file',
    bytes: await handle.readFile(),
    mode: Number(stat.mode & 0o7777n),
    id: idOf(stat),
    owner: `${stat.uid}:${stat.gid}`,
    links: Number(stat.nlink),
  };
}

/**
 * Includes the birth time, because the inode number of a deleted file is reused for the next new
 * file.
 */
function idOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}

/**
 * The inode number alone. Earlier versions recorded only the number, and on systems without birth
 * times only the number is stable.
 */
export function numberOf(id: string): string {
  return id.split(':', 2).join(':');
}

/** Whether two identities name one file, by the recorded parts of the identity. */
export function isSame(id: string, noted: string): boolean {
  return id === noted || (numberOf(noted) === noted && numberOf(id) === noted);
}

async function namesIn(place: string): Promise<FolderItem[]> {
  const entries = await readdir(place, { withFileTypes: true });
  return entries.map((entry) => ({
    name: entry.name,
    is: entry.isFile()
      ? 'file'
      : entry.isDirectory()
        ? 'folder'
        : entry.isSymbolicLink()
          ? 'link'
          : 'other',
  }));
}

async function write(
  place: string,
  bytes: Uint8Array,
  mode: number,
  owner: string | undefined,
): Promise<void> {
  await using handle = await open(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  await handle.writeFile(bytes);
  if (owner !== undefined) await giveTo(handle, owner);
  // The mode is not set at open, because the process's umask would remove bits. It is set after the
  // owner, because a change of owner removes bits too.
  await handle.chmod(mode);
  await handle.sync();
}

/**
 * Root may give a file to any owner, and its creator to the creator's groups. In other cases the
 * owner is unchanged.
 */
async function giveTo(handle: FileHandle, owner: string): Promise<void> {
  const [uid, gid] = owner.split(':').map(Number) as [number, number];
  const now = await handle.stat();
  if (now.uid === uid && now.gid === gid) return;
  await handle.chown(uid, gid).catch(() => handle.chown(now.uid, gid).catch(() => undefined));
}

async function sync(place: string): Promise<void> {
  await using handle = await open(place, O_RDONLY | O_DIRECTORY);
  await handle.sync();
}

/**
 * The file is not opened here: some systems release a process's locks on a file when the process
 * closes any handle of it.
 */
async function hold(path: string, place: string, signal: AbortSignal): Promise<Disposable> {
  const stat = await absentAs(undefined, () => lstat(place));
  if (stat !== undefined && !stat.isFile()) throw new Error(`${path} is not a file. Remove it`);
  return lockOf(place, signal);
}

async function absentAs<T>(absent: T, made: () => Promise<T>): Promise<T> {
  try {
    return await made();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return absent;
    throw error;
  }
}

async function unless(code: string, made: Promise<unknown>): Promise<void> {
  try {
    await made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== code) throw error;
  }
}
