import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DidNothing } from '#effects';
import { lockOf } from '../lock.ts';
import { namesBelow, type Root } from './root.ts';

/** A file as it stands. */
export interface FileSeen {
  readonly is: 'file';
  readonly bytes: Buffer;
  readonly mode: number;
  /** Which file it is, whatever its name. A file that is made when it has gone has another one. */
  readonly id: string;
  /** Whose it is: user and group. */
  readonly owner?: string;
  /** How many names it has. */
  readonly links: number;
}

/** What stands at a path. */
export type Seen = FileSeen | { readonly is: 'absent' | 'folder' | 'link' | 'other' };

/** What is in a folder: a name, and what stands there. */
export interface Named {
  readonly name: string;
  readonly is: 'file' | 'folder' | 'link' | 'other';
}

/**
 * What is done to files, one step each: a crash comes before one or after. No step follows a symbolic link, at the end of a path or
 * on the way.
 */
export interface Disk {
  /** @throws DidNothing for a file of more than `bytesMax` */
  look(path: string): Promise<Seen>;
  /** Which file stands there, without reading it. */
  idOf(path: string): Promise<string | undefined>;
  names(folder: string): Promise<readonly Named[] | undefined>;
  /** Makes a new file, durable but for its name. `owner`: as in `FileSeen`, whose it is to be, as far as the system lets it. */
  write(path: string, bytes: Uint8Array, mode: number, owner?: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Whether there was one. */
  remove(path: string): Promise<boolean>;
  makeFolder(path: string): Promise<void>;
  /** Where it is empty. */
  removeFolder(path: string): Promise<void>;
  /** Makes the names in a folder durable, if it is there. */
  sync(folder: string): Promise<void>;
  /**
   * Has a file to itself, in whatever process, until that is let go, or its process has ended; made where it is missing, and never removed.
   * Without this, processes whose leases overlap may each take down what the other one has just found out of a path.
   *
   * @throws NoAnswer where it is somebody else's until the signal says to stop
   */
  hold?(path: string, signal: AbortSignal): Promise<Disposable>;
}

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The file system itself. */
export function diskAt(root: Root, bytesMax: number): Disk {
  const at = <T>(path: string, use: (place: string) => Promise<T>) => within(root, path, use);
  return {
    look: (path) => absentAs<Seen>({ is: 'absent' }, () => at(path, (place) => look(path, place, bytesMax))),
    idOf: (path) => absentAs(undefined, () => at(path, async (place) => idOf(await lstat(place, { bigint: true })))),
    names: (folder) => absentAs(undefined, () => inside(root, folder, namesIn)),
    write: (path, bytes, mode, owner) => at(path, (place) => write(place, bytes, mode, owner)),
    rename: (from, to) => at(from, (source) => at(to, (target) => rename(source, target))),
    remove: (path) => absentAs(false, () => at(path, (place) => unlink(place).then(() => true))),
    makeFolder: (path) => at(path, (place) => unless('EEXIST', mkdir(place))),
    removeFolder: (path) => absentAs(undefined, () => at(path, (place) => unless('ENOTEMPTY', rmdir(place)))),
    sync: (folder) => absentAs(undefined, () => inside(root, folder, sync)),
    hold: (path, signal) => at(path, (place) => hold(path, place, signal)),
  };
}

/** Uses a path by a folder that is held open: nobody can put another one in its place meanwhile. */
async function within<T>(root: Root, path: string, use: (place: string) => Promise<T>): Promise<T> {
  if (path === root.path) return use(path);
  return inside(root, dirname(path), (folder) => use(join(folder, basename(path))));
}

/**
 * Uses a folder of the root, opened from there name by name. Where the system names open folders (`/proc/self/fd`), what is used is
 * the very folder that was opened; elsewhere it is looked at, and used by its path.
 */
async function inside<T>(root: Root, folder: string, use: (place: string) => Promise<T>): Promise<T> {
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
    throw new DidNothing(`on the way to ${folder} is what is no folder, ${basename(place)}`, {
      final: true,
      cause: error,
    });
  }
}

async function look(path: string, place: string, bytesMax: number): Promise<Seen> {
  const first = await lstat(place);
  if (!first.isFile()) return { is: first.isDirectory() ? 'folder' : first.isSymbolicLink() ? 'link' : 'other' };
  await using handle = await open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const stat = await handle.stat({ bigint: true });
  if (!stat.isFile()) return { is: 'other' };
  if (stat.size > BigInt(bytesMax))
    throw new DidNothing(`${path} has ${stat.size} bytes, more than the ${bytesMax} that are worked with`, {
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

/** With when it was made: the number of a file that has gone is given to the next one that is made. */
function idOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}

/** The number of a file alone: all that earlier versions have noted, and all that stays where a system knows no time of birth. */
export function numberOf(id: string): string {
  return id.split(':', 2).join(':');
}

/** Whether it is one file, as far as what was noted of it tells. */
export function isSame(id: string, noted: string): boolean {
  return id === noted || (numberOf(noted) === noted && numberOf(id) === noted);
}

async function namesIn(place: string): Promise<Named[]> {
  const entries = await readdir(place, { withFileTypes: true });
  return entries.map((entry) => ({
    name: entry.name,
    is: entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'other',
  }));
}

async function write(place: string, bytes: Uint8Array, mode: number, owner: string | undefined): Promise<void> {
  await using handle = await open(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  await handle.writeFile(bytes);
  if (owner !== undefined) await giveTo(handle, owner);
  // Not at open, where the process's mask would take some of it away; and after whose it is, which takes some away, too.
  await handle.chmod(mode);
  await handle.sync();
}

/** Root gives a file to anybody, and who has made it, to the groups that they are in: the rest stays as it is made. */
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

/** Not opened here: with any handle that a process closes, a system may let go what it has locked there. */
async function hold(path: string, place: string, signal: AbortSignal): Promise<Disposable> {
  const stat = await absentAs(undefined, () => lstat(place));
  if (stat !== undefined && !stat.isFile()) throw new Error(`${path} is no file; remove it`);
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
