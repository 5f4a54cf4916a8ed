import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, readFile, rename, rm, symlink, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { hashText } from '#canon';
import { DidNothing } from '#effects';
import { canonical, isOwn, namesBelow, OWN, type Root } from '../files/root.ts';
import { endGroup } from '../shell/run-command.ts';
import { beganAt } from '../shell/snapshot.ts';
import { copyHeld, type Held, holding, namesAt } from './held.ts';

/** A copy of a folder, of one transaction. */
export interface Copy {
  /** By the epoch of its transaction, a number of its own, and its process: `7-5f0c…-4242-…`. */
  readonly id: string;
  /** Where it stands: everything in it may be read and written by its branch alone. */
  readonly root: Root;
}

/**
 * Copies of a folder, beside it, so that files share blocks with it where the file system can. They are named by their transaction
 * and their process. What a process has left that ended, its commands too, is taken away by the next before it makes its first;
 * what others have that are alive, or that this machine or container can't tell of, is theirs.
 * Several of one process work beside one another.
 */
export class Copies {
  readonly #root: Root;
  readonly #leaveOut: ReadonlySet<string>;
  readonly #home: string;
  readonly #live = new Map<string, Copy>();
  #swept: Promise<void> | undefined;

  constructor(root: Root, leaveOut: readonly string[]) {
    this.#root = root;
    this.#leaveOut = new Set(leaveOut);
    this.#home = join(dirname(root.path), `${OWN}-branches`, basename(root.path));
  }

  /** Whether that name is copied: not the tools' own books, nor what is left out. */
  has(name: string): boolean {
    return !isOwn(this.#root, name) && !this.#leaveOut.has(name);
  }

  /** Whether what stands at a path of the folder is copied. */
  hasPath(path: string): boolean {
    return namesBelow(this.#root, path)?.every((name) => this.has(name)) === true;
  }

  /** @throws DidNothing where there is none of that name, in this transaction */
  get(id: string, epoch: number | undefined): Copy {
    const copy = this.#live.get(id);
    if (copy !== undefined && id.startsWith(`${epoch}-`)) return copy;
    throw new DidNothing(`there is no copy ${id} of ${this.#root.path} in this transaction`, { final: true });
  }

  /** A copy of the folder, or of another copy. @throws DidNothing where something in it can't be copied, naming it */
  async make(epoch: number | undefined, of?: Copy): Promise<Copy> {
    // What can't be taken away is in nobody's way.
    await this.sweep().catch(() => undefined);
    const id = `${epoch ?? 0}-${randomBytes(8).toString('hex')}-${OWNER}`;
    await mkdir(this.#home, { recursive: true, mode: 0o700 });
    // While a folder is copied, not even its own mode keeps others away. One that is there already is somebody else's.
    await mkdir(join(this.#home, id), { mode: 0o700 });
    const path = join(this.#home, id, TREE);
    const copy: Copy = { id, root: { ...this.#root, path } };
    this.#live.set(id, copy);
    try {
      await this.#copy(of?.root ?? this.#root, path);
    } catch (error) {
      await this.drop([copy]);
      throw error;
    }
    return copy;
  }

  /** Puts one in the place of another, which goes. */
  async replace(copy: Copy, by: Copy): Promise<void> {
    await removeAll(Buffer.from(copy.root.path));
    await rename(by.root.path, copy.root.path);
    await this.remove([by]);
  }

  /** @throws DidNothing for the first that can't be removed, when all others are */
  async remove(copies: readonly Copy[]): Promise<void> {
    const ids = copies.map(({ id }) => id);
    for (const id of ids) this.#live.delete(id);
    await this.#clearAll(ids);
  }

  /** As far as they can be removed, where something else is what failed; what stays, a later process takes away (`sweep`). */
  async drop(copies: readonly Copy[]): Promise<void> {
    await this.remove(copies).catch(() => undefined);
  }

  /** A command is at work in a copy: whoever finds the copy after a crash ends it. */
  async began({ id }: Copy, pid: number): Promise<void> {
    await using file = await open(join(this.#home, id, `${pid}.process`), 'w', 0o600);
    await file.writeFile(beganAt(pid) ?? '');
    await file.sync();
  }

  /** Takes away what processes left that have ended; once. @throws DidNothing for the first that can't be, when all others are */
  sweep(): Promise<void> {
    this.#swept ??= this.#sweep().catch((error: unknown) => {
      this.#swept = undefined;
      throw error;
    });
    return this.#swept;
  }

  async #sweep(): Promise<void> {
    await this.#clearAll((await namesIn(this.#home)).filter(isLeft));
  }

  /** One that stays keeps none of the others. */
  async #clearAll(ids: readonly string[]): Promise<void> {
    const failures: DidNothing[] = [];
    for (const id of ids) {
      try {
        await this.#clear(id);
      } catch (cause) {
        const place = join(this.#home, id);
        failures.push(new DidNothing(`${place} can't be removed: ${(cause as Error).message}`, { final: true, cause }));
      }
    }
    if (failures[0] !== undefined) throw failures[0];
  }

  async #clear(id: string): Promise<void> {
    const place = join(this.#home, id);
    for (const name of await namesIn(place)) {
      const pid = groupOf(name);
      if (pid === undefined) continue;
      const began = beganAt(pid);
      // Another process may have its number by now, but none while any of its group is there.
      if (began === undefined || began === (await readFile(join(place, name), 'utf8'))) await endGroup(pid);
    }
    await removeAll(Buffer.from(place));
  }

  #copy(from: Root, to: string): Promise<void> {
    const visit = (place: string, path: string): Promise<void> =>
      holding(place, join(from.path, path), async (held) => {
        const target = join(to, path);
        if (held.is === 'link') return symlink(this.#targetIn(from, to, path), target);
        if (held.is === 'other') throw cannot(join(from.path, path), 'it is no file, but a device, a pipe or a socket');
        if (held.is === 'file') await copyHeld(held, target);
        else {
          await mkdir(target);
          for (const name of await namesAt(held.place, join(from.path, path)))
            if (this.has(name)) await visit(join(held.place, name), join(path, name));
        }
        await standAs(target, held);
      });
    return visit(from.path, '');
  }

  /** A link leads to the same place in the copy. One that leads out would lead a branch out. */
  #targetIn(from: Root, to: string, path: string): string {
    const found = canonical(from, join(from.path, path));
    if ('problem' in found)
      throw cannot(join(from.path, path), `it is a symbolic link, and ${found.problem}; leave it out`);
    return relative(dirname(join(to, path)), to + found.path.slice(from.path.length)) || '.';
  }
}

async function standAs(target: string, { stat }: Held & { is: 'file' | 'folder' }): Promise<void> {
  await chmod(target, stat.mode & 0o7777);
  // Whatever builds by time builds what it would build there.
  await utimes(target, stat.atime, stat.mtime);
}

/** Where numbers of processes mean something: a machine, and a container on it. */
function spaceOf(): string {
  return hashText(`${hostname()} ${containerOf()}`).slice(0, 8);
}

/** Empty on a system that has none, or does not tell. */
function containerOf(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** This process, as the names of its copies say it: its number, when it began, and where it runs. */
const OWNER = `${process.pid}-${beganAt(process.pid) ?? ''}-${spaceOf()}`;

/** Whether it is of a process that has ended. */
function isLeft(id: string): boolean {
  const [, pid, began, space] = /^\d+-[0-9a-f]+-(\d+)-(\d*)-([0-9a-f]{8})$/.exec(id) ?? [];
  if (space === undefined || !OWNER.endsWith(`-${space}`)) return false;
  return !isAlive(Number(pid), began ?? '');
}

function isAlive(pid: number, began: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return (beganAt(pid) ?? '') === began;
}

const TREE = 'tree';

/**
 * The group of a command that is at work in a copy, by the name of its file. Whatever else ends so, which commands may make there, is
 * none: 0 would be the group of this process, and 1 that of all.
 */
function groupOf(name: string): number | undefined {
  const [, digits] = /^([1-9]\d{0,9})\.process$/.exec(name) ?? [];
  return digits === undefined || digits === '1' ? undefined : Number(digits);
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Also what nobody may write to, as build tools leave it. */
async function removeAll(path: Buffer): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await makeWritable(path);
    await rm(path, { recursive: true, force: true });
  }
}

/** By the bytes of names, as they may be no text. */
async function makeWritable(path: Buffer): Promise<void> {
  if (!(await lstat(path)).isDirectory()) return;
  await chmod(path, 0o700);
  for (const name of await readdir(path, { encoding: 'buffer' }))
    await makeWritable(Buffer.concat([path, Buffer.from('/'), name]));
}

function cannot(path: string, why: string): DidNothing {
  return new DidNothing(`${path} can't be copied: ${why}`, { final: true });
}
