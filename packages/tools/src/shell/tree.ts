import { createHash, randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import {
  chmod,
  cp,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rm,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from 'assize/internal/base';
import { contentHash } from 'assize/internal/canon';

// Folders with their content: copied, removed and compared.

/**
 * Folders of the tools' own data. A restore does not change them. A name that only starts like them
 * belongs to a command.
 */
const BOOKS: ReadonlySet<string> = new Set(['.assize', '.assize-branches', '.assize-snapshots']);

/** Bytes of a file that are read in one step. */
const PIECE = 2 ** 20;

/**
 * A path, as bytes if a name in it may not be valid UTF-8, because a command can create such names.
 */
type CopyPath = string | Buffer;

/** @throws Error for an item that can't be copied exactly, before any copy */
export async function requireCopyable(folder: string): Promise<void> {
  if ((await statOf(folder))?.isDirectory() !== true)
    throw new Error(`${folder} is no longer a folder`);
  for (const name of await namesIn(folder)) await requireTexts(folder, name);
}

/**
 * A non-UTF-8 name, read as a string, would select another file or no file, and a link would lead
 * to another target.
 */
async function requireTexts(folder: CopyPath, name: Buffer): Promise<void> {
  const place = within(folder, name);
  if (!isText(name)) throw new Error(`the name of ${place} is not UTF-8. Rename it`);
  const stat = await lstat(place);
  if (stat.isSymbolicLink() && !isText(await readlink(place, 'buffer')))
    throw new Error(`the target of the link ${place} is not UTF-8. Rename the target`);
  if (!stat.isDirectory()) return;
  for (const inside of await readdir(place, { encoding: 'buffer' }))
    await requireTexts(place, inside);
}

/** The setuid and setgid bits. */
const ACTS = 0o6000;

/**
 * Copies items with mode and owner if the system permits it. A copy keeps setuid-like bits only if
 * owner and group are the same. The bits are never set for the copying user, not even briefly.
 * @throws the signal's reason
 */
export async function copyInto(from: string, to: string, signal?: AbortSignal): Promise<void> {
  for (const bytes of await namesIn(from)) {
    const name = bytes.toString();
    await cp(join(from, name), join(to, name), {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
      mode: constants.COPYFILE_FICLONE,
      // Checked for each item before its copy, while the target folder is still writable.
      filter: async (source, target) => {
        signal?.throwIfAborted();
        const stat = await lstat(source);
        if (!stat.isFile() || (stat.mode & ACTS) === 0) return true;
        await copyActing(source, target, stat);
        return false;
      },
    });
    await giveAll(join(from, name), join(to, name));
  }
}

/** The mode is set last, because the content belongs to another user than the copying one. */
async function copyActing(from: string, to: string, stat: Stats): Promise<void> {
  await using source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW);
  await using target = await open(to, 'wx', 0o600);
  const piece = Buffer.allocUnsafe(Math.min(stat.size + 1, PIECE));
  for (;;) {
    const { bytesRead } = await source.read(piece);
    if (bytesRead === 0) break;
    await target.writeFile(piece.subarray(0, bytesRead));
  }
  const made = await target.stat();
  await target
    .chown(stat.uid, stat.gid)
    .catch(() => target.chown(made.uid, stat.gid).catch(() => undefined));
  const { uid, gid } = await target.stat();
  const mode = stat.mode & 0o7777;
  await target.chmod(uid === stat.uid && gid === stat.gid ? mode : mode & ~ACTS);
  await target.utimes(stat.atime, stat.mtime);
}

/** A new copy belongs to the user of the copying process. */
async function giveAll(from: string, to: string): Promise<void> {
  const stat = await lstat(from);
  await give(to, stat);
  if (!stat.isDirectory()) return;
  for (const name of await readdir(from)) await giveAll(join(from, name), join(to, name));
}

/** The owner of an item. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export async function ownerOf(folder: string): Promise<Owner> {
  const { uid, gid } = await lstat(folder);
  return { uid, gid };
}

/**
 * Sets the owner of an item: root may set any owner, and other users the groups that they are in.
 * An item is unchanged if its owner can't be set, or if it no longer exists.
 */
export async function give(to: string, { uid, gid }: Owner): Promise<void> {
  const now = await statOf(to);
  if (now === undefined || (now.uid === uid && now.gid === gid)) return;
  await lchown(to, uid, gid).catch(() => lchown(to, now.uid, gid).catch(() => undefined));
}

/**
 * Makes the path a folder, because a command may have removed or replaced it. A link's target is
 * not the folder.
 */
export async function makeFolder(path: string): Promise<void> {
  const stat = await statOf(path);
  if (stat?.isDirectory() === true) return;
  if (stat !== undefined) await rm(path);
  await mkdir(path, 0o700);
}

export async function clear(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) await remove(within(folder, name));
}

/**
 * Removes the item, if it exists. Only root can remove items of read-only folders, so these are
 * made writable first.
 */
export async function remove(path: CopyPath): Promise<void> {
  try {
    await openUp(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENAMETOOLONG') throw error;
    await flatten(path);
  }
  await rm(path, { recursive: true, force: true });
}

/**
 * Moves all nested folders up to the given folder, and removes their other items. A deeply nested
 * item has no path short enough to remove it.
 */
async function flatten(folder: CopyPath): Promise<void> {
  for (let inside = await foldersIn(folder); inside.length > 0; inside = await foldersIn(folder))
    for (const place of inside) {
      for (const deeper of await foldersIn(place))
        await rename(deeper, within(folder, Buffer.from(randomUUID())));
      await rm(place, { recursive: true });
    }
}

/** The folders in a folder, made writable: the owner can't move a read-only folder. */
async function foldersIn(folder: CopyPath): Promise<Buffer[]> {
  const all = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  const folders = all.filter((each) => each.isDirectory()).map(({ name }) => within(folder, name));
  for (const each of folders) await setMode(each, 0o700);
  return folders;
}

async function openUp(path: CopyPath): Promise<void> {
  const stat = await statOf(path);
  if (stat?.isDirectory() !== true) return;
  await setMode(path, (stat.mode & 0o7777) | 0o700);
  for (const each of await readdir(path, { withFileTypes: true, encoding: 'buffer' }))
    if (each.isDirectory()) await openUp(within(path, each.name));
}

export async function modeOf(folder: CopyPath): Promise<number> {
  return (await lstat(folder)).mode & 0o7777;
}

/** Only the owner may set a mode, and the mode is usually unchanged. */
export async function setMode(folder: CopyPath, mode: number): Promise<void> {
  if ((await modeOf(folder)) !== mode) await chmod(folder, mode);
}

/** The content of a folder as one hash, even if the path is another item or missing. */
export async function folderHash(
  folder: string,
  { withMode }: { readonly withMode: boolean },
): Promise<string> {
  const stat = await statOf(folder);
  if (stat === undefined) return contentHash([{ at: '', is: 'none' }]);
  if (!stat.isDirectory()) return contentHash([await described(folder, '', stat)]);
  return fingerprint(folder, withMode ? stat.mode & 0o7777 : undefined);
}

/**
 * A folder of that mode and its content as one hash: names, kinds, modes and contents, without
 * times or owners.
 */
export async function fingerprint(folder: string, own: number | undefined): Promise<string> {
  const found: Json[] = own === undefined ? [] : [{ at: '', mode: own, is: 'folder' }];
  const visit = async (place: CopyPath, path: string): Promise<void> => {
    for (const name of await namesIn(place)) {
      const [inside, at] = [within(place, name), join(path, nameOf(name))];
      const stat = await lstat(inside);
      found.push(await described(inside, at, stat));
      if (stat.isDirectory()) await visit(inside, at);
    }
  };
  await visit(folder, '');
  return contentHash(found);
}

async function described(place: CopyPath, at: string, stat: Stats): Promise<Json> {
  const mode = stat.mode & 0o7777;
  if (stat.isDirectory()) return { at, mode, is: 'folder' };
  if (stat.isSymbolicLink()) return { at, to: nameOf(await readlink(place, 'buffer')) };
  if (stat.isFile()) return { at, mode, hash: await hashOf(place, stat.size) };
  return { at, mode, is: 'other' };
}

/** In chunks, because a file may be larger than one read permits. */
async function hashOf(file: CopyPath, size: number): Promise<string> {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(Math.min(size + 1, PIECE));
  await using handle = await open(file);
  for (;;) {
    const { bytesRead } = await handle.read(piece);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(piece.subarray(0, bytesRead));
  }
}

async function namesIn(folder: CopyPath): Promise<Buffer[]> {
  const named = (await readdir(folder, { encoding: 'buffer' })).map((bytes) => ({
    bytes,
    text: bytes.toString(),
  }));
  return named
    .filter(({ text }) => !BOOKS.has(text))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : Buffer.compare(a.bytes, b.bytes)))
    .map(({ bytes }) => bytes);
}

function within(folder: CopyPath, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder as Buffer), Buffer.from('/'), name]);
}

export async function statOf(path: CopyPath): Promise<Stats | undefined> {
  return lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/**
 * The name as a string. A name that is not UTF-8 becomes its digits, with a prefix that no name
 * has.
 */
function nameOf(bytes: Buffer): string {
  return isText(bytes) ? bytes.toString() : `\0${bytes.toString('hex')}`;
}

function isText(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString()).equals(bytes);
}
