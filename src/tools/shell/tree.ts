import { createHash, randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { chmod, cp, lchown, lstat, mkdir, open, readdir, readlink, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '#base';
import { contentHash } from '#canon';

// Folders with all that is in them: copied, taken away and told apart.

/** Where tools keep their books, which stay as they are when a folder is put back. A name that only begins so is a command's. */
const BOOKS: ReadonlySet<string> = new Set(['.assize', '.assize-branches', '.assize-snapshots']);

/** Bytes of a file that are read at once. */
const PIECE = 2 ** 20;

/** A path; as bytes where a name in it may be no UTF-8, as a command can leave it. */
type Place = string | Buffer;

/** @throws Error for what can't be copied as it is, before anything is copied */
export async function requireCopyable(folder: string): Promise<void> {
  if ((await statOf(folder))?.isDirectory() !== true) throw new Error(`${folder} is no folder any more`);
  for (const name of await namesIn(folder)) await requireTexts(folder, name);
}

/** By its text, another name would be copied in the place of one that is no UTF-8, or none; and a link would lead elsewhere. */
async function requireTexts(folder: Place, name: Buffer): Promise<void> {
  const place = within(folder, name);
  if (!isText(name)) throw new Error(`${place} has a name that is no UTF-8; rename it`);
  const stat = await lstat(place);
  if (stat.isSymbolicLink() && !isText(await readlink(place, 'buffer')))
    throw new Error(`${place} leads to a name that is no UTF-8; rename that`);
  if (!stat.isDirectory()) return;
  for (const inside of await readdir(place, { encoding: 'buffer' })) await requireTexts(place, inside);
}

/** Bits by which a file acts for its owner, or for its group. */
const ACTS = 0o6000;

/**
 * As they are, and whose they are, as far as the system lets; a file acts for its owner or its group (setuid and the like) only where both are the
 * same, and never, not for a moment, for who copies it. @throws the signal's reason
 */
export async function copyInto(from: string, to: string, signal?: AbortSignal): Promise<void> {
  for (const bytes of await namesIn(from)) {
    const name = bytes.toString();
    await cp(join(from, name), join(to, name), {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
      mode: constants.COPYFILE_FICLONE,
      // Asked of each before it is copied, while what it goes into takes files still.
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

/** It has its mode last, as its content is somebody else's, and not of who copies. */
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
  await target.chown(stat.uid, stat.gid).catch(() => target.chown(made.uid, stat.gid).catch(() => undefined));
  const { uid, gid } = await target.stat();
  const mode = stat.mode & 0o7777;
  await target.chmod(uid === stat.uid && gid === stat.gid ? mode : mode & ~ACTS);
  await target.utimes(stat.atime, stat.mtime);
}

/** A copy is whose process has made it. */
async function giveAll(from: string, to: string): Promise<void> {
  const stat = await lstat(from);
  await give(to, stat);
  if (!stat.isDirectory()) return;
  for (const name of await readdir(from)) await giveAll(join(from, name), join(to, name));
}

/** Whose something is. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export async function ownerOf(folder: string): Promise<Owner> {
  const { uid, gid } = await lstat(folder);
  return { uid, gid };
}

/**
 * Has it belong to them: root gives to anybody, and others to the groups that they are in. What can't be given, or is not there any more, is
 * left.
 */
export async function give(to: string, { uid, gid }: Owner): Promise<void> {
  const now = await statOf(to);
  if (now === undefined || (now.uid === uid && now.gid === gid)) return;
  await lchown(to, uid, gid).catch(() => lchown(to, now.uid, gid).catch(() => undefined));
}

/** A folder of that path, where a command may have left none, or something else: what a link leads to is not the folder. */
export async function makeFolder(path: string): Promise<void> {
  const stat = await statOf(path);
  if (stat?.isDirectory() === true) return;
  if (stat !== undefined) await rm(path);
  await mkdir(path, 0o700);
}

export async function clear(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) await remove(within(folder, name));
}

/** Whatever is there, if anything is. Folders inside that take no files let none go either, but for root: they are opened first. */
export async function remove(path: Place): Promise<void> {
  try {
    await openUp(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENAMETOOLONG') throw error;
    await flatten(path);
  }
  await rm(path, { recursive: true, force: true });
}

/** Moves all folders in a folder up to it and takes away what they had beside: what is too far down has no path to take it away by. */
async function flatten(folder: Place): Promise<void> {
  for (let inside = await foldersIn(folder); inside.length > 0; inside = await foldersIn(folder))
    for (const place of inside) {
      for (const deeper of await foldersIn(place)) await rename(deeper, within(folder, Buffer.from(randomUUID())));
      await rm(place, { recursive: true });
    }
}

/** Folders that stand in a folder, opened: none is moved that its owner may not write to. */
async function foldersIn(folder: Place): Promise<Buffer[]> {
  const all = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  const folders = all.filter((each) => each.isDirectory()).map(({ name }) => within(folder, name));
  for (const each of folders) await setMode(each, 0o700);
  return folders;
}

async function openUp(path: Place): Promise<void> {
  const stat = await statOf(path);
  if (stat?.isDirectory() !== true) return;
  await setMode(path, (stat.mode & 0o7777) | 0o700);
  for (const each of await readdir(path, { withFileTypes: true, encoding: 'buffer' }))
    if (each.isDirectory()) await openUp(within(path, each.name));
}

export async function modeOf(folder: Place): Promise<number> {
  return (await lstat(folder)).mode & 0o7777;
}

/** Nobody sets it but the owner, and it mostly is as it was. */
export async function setMode(folder: Place, mode: number): Promise<void> {
  if ((await modeOf(folder)) !== mode) await chmod(folder, mode);
}

/** How a folder stands, as one hash; also where something else is in its place by now, or nothing. */
export async function standing(folder: string, { withMode }: { readonly withMode: boolean }): Promise<string> {
  const stat = await statOf(folder);
  if (stat === undefined) return contentHash([{ at: '', is: 'none' }]);
  if (!stat.isDirectory()) return contentHash([await described(folder, '', stat)]);
  return fingerprint(folder, withMode ? stat.mode & 0o7777 : undefined);
}

/** A folder of that mode and what is in it, as one hash: names, kinds, modes and contents, and not when or how it got there. */
export async function fingerprint(folder: string, own: number | undefined): Promise<string> {
  const found: Json[] = own === undefined ? [] : [{ at: '', mode: own, is: 'folder' }];
  const visit = async (place: Place, path: string): Promise<void> => {
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

async function described(place: Place, at: string, stat: Stats): Promise<Json> {
  const mode = stat.mode & 0o7777;
  if (stat.isDirectory()) return { at, mode, is: 'folder' };
  if (stat.isSymbolicLink()) return { at, to: nameOf(await readlink(place, 'buffer')) };
  if (stat.isFile()) return { at, mode, hash: await hashOf(place, stat.size) };
  return { at, mode, is: 'other' };
}

/** Piece by piece: a file may be larger than what can be read at once. */
async function hashOf(file: Place, size: number): Promise<string> {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(Math.min(size + 1, PIECE));
  await using handle = await open(file);
  for (;;) {
    const { bytesRead } = await handle.read(piece);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(piece.subarray(0, bytesRead));
  }
}

async function namesIn(folder: Place): Promise<Buffer[]> {
  const named = (await readdir(folder, { encoding: 'buffer' })).map((bytes) => ({ bytes, text: bytes.toString() }));
  return named
    .filter(({ text }) => !BOOKS.has(text))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : Buffer.compare(a.bytes, b.bytes)))
    .map(({ bytes }) => bytes);
}

function within(folder: Place, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder as Buffer), Buffer.from('/'), name]);
}

export async function statOf(path: Place): Promise<Stats | undefined> {
  return lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/** As text; what is none as its digits, with a sign before them that no name has. */
function nameOf(bytes: Buffer): string {
  return isText(bytes) ? bytes.toString() : `\0${bytes.toString('hex')}`;
}

function isText(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString()).equals(bytes);
}
