import { constants, readlinkSync } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, open, readdir, readFile, rename, rm, symlink, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { hashText } from '#canon';
import { DidNothing } from '#effects';
import { canonical, OWN, type Root } from '../files/root.ts';
import { endGroup } from '../shell/run-command.ts';
import { beganAt } from '../shell/snapshot.ts';

/** A copy of a folder, of one transaction. */
export interface Copy {
  /** By the epoch of its transaction, and its process: `7-0-4242-…`. */
  readonly id: string;
  /** Where it stands: everything in it may be read and written by its branch alone. */
  readonly root: Root;
}

/**
 * Copies of a folder, beside it, so that files share blocks with it where the file system can. They are named by their transaction
 * and their process. What a process has left that ended, its commands too, is taken away by the next before it makes its first;
 * what others have that are alive, or that this machine or container can't tell of, is theirs.
 */
export class Copies {
  readonly #root: Root;
  readonly #leaveOut: ReadonlySet<string>;
  readonly #home: string;
  readonly #live = new Map<string, Copy>();
  #made = 0;
  #swept: Promise<void> | undefined;

  constructor(root: Root, leaveOut: readonly string[]) {
    this.#root = root;
    this.#leaveOut = new Set(leaveOut);
    this.#home = join(dirname(root.path), `${OWN}-branches`, basename(root.path));
  }

  /** Whether that name is copied: not the tools' own books, nor what is left out. */
  has(name: string): boolean {
    return !name.toLowerCase().startsWith(OWN) && !this.#leaveOut.has(name);
  }

  /** @throws DidNothing where there is none of that name, in this transaction */
  get(id: string, epoch: number | undefined): Copy {
    const copy = this.#live.get(id);
    if (copy !== undefined && id.startsWith(`${epoch}-`)) return copy;
    throw new DidNothing(`there is no copy ${id} of ${this.#root.path} in this transaction`, { final: true });
  }

  /** A copy of the folder, or of another copy. @throws DidNothing where something in it can't be copied, naming it */
  async make(epoch: number | undefined, of?: Copy): Promise<Copy> {
    await this.sweep();
    const id = `${epoch ?? 0}-${this.#made++}-${OWNER}`;
    // While a folder is copied, not even its own mode keeps others away.
    await mkdir(join(this.#home, id), { recursive: true, mode: 0o700 });
    const path = join(this.#home, id, TREE);
    const copy: Copy = { id, root: { ...this.#root, path } };
    this.#live.set(id, copy);
    try {
      await this.#copy(of?.root ?? this.#root, path);
    } catch (error) {
      await this.remove([copy]);
      throw error;
    }
    return copy;
  }

  /** Puts one in the place of another, which goes. */
  async replace(copy: Copy, by: Copy): Promise<void> {
    await removeAll(copy.root.path);
    await rename(by.root.path, copy.root.path);
    await this.remove([by]);
  }

  async remove(copies: readonly Copy[]): Promise<void> {
    for (const { id } of copies) {
      await this.#clear(id);
      this.#live.delete(id);
    }
  }

  /** A command is at work in a copy: whoever finds the copy after a crash ends it. */
  async began({ id }: Copy, pid: number): Promise<void> {
    await using file = await open(join(this.#home, id, `${pid}.process`), 'w', 0o600);
    await file.writeFile(beganAt(pid) ?? '');
    await file.sync();
  }

  /** Takes away what processes left that have ended; once. */
  sweep(): Promise<void> {
    this.#swept ??= this.#sweep().catch((error: unknown) => {
      this.#swept = undefined;
      throw error;
    });
    return this.#swept;
  }

  async #sweep(): Promise<void> {
    for (const id of await namesIn(this.#home)) if (isLeft(id)) await this.#clear(id);
  }

  async #clear(id: string): Promise<void> {
    const place = join(this.#home, id);
    for (const name of await namesIn(place)) {
      if (!name.endsWith(PROCESS)) continue;
      const pid = Number(name.slice(0, -PROCESS.length));
      const began = beganAt(pid);
      // Another process may have its number by now, but none while any of its group is there.
      if (began === undefined || began === (await readFile(join(place, name), 'utf8'))) await endGroup(pid);
    }
    await removeAll(place);
  }

  async #copy(from: Root, to: string): Promise<void> {
    const visit = async (path: string): Promise<void> => {
      const [source, target] = [join(from.path, path), join(to, path)];
      const stat = await lstat(source);
      if (stat.isSymbolicLink()) await symlink(this.#targetIn(from, to, path), target);
      else if (stat.isFile()) await copyFile(source, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      else if (!stat.isDirectory()) throw cannot(source, 'it is no file, but a device, a pipe or a socket');
      if (stat.isSymbolicLink()) return;
      if (stat.isDirectory()) {
        await mkdir(target);
        for (const name of await namesIn(source)) if (this.has(name)) await visit(join(path, name));
      }
      await chmod(target, stat.mode & 0o7777);
      // Whatever builds by time builds what it would build there.
      await utimes(target, stat.atime, stat.mtime);
    };
    await visit('');
  }

  /** A link leads to the same place in the copy. One that leads out would lead a branch out. */
  #targetIn(from: Root, to: string, path: string): string {
    const found = canonical(from, join(from.path, path));
    if ('problem' in found)
      throw cannot(join(from.path, path), `it is a symbolic link, and ${found.problem}; leave it out`);
    return relative(dirname(join(to, path)), to + found.path.slice(from.path.length)) || '.';
  }
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
  const [, pid, began, space] = /^\d+-\d+-(\d+)-(\d*)-([0-9a-f]{8})$/.exec(id) ?? [];
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
const PROCESS = '.process';

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Also what nobody may write to, as build tools leave it. */
async function removeAll(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await makeWritable(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function makeWritable(path: string): Promise<void> {
  if (!(await lstat(path)).isDirectory()) return;
  await chmod(path, 0o700);
  for (const name of await namesIn(path)) await makeWritable(join(path, name));
}

function cannot(path: string, why: string): DidNothing {
  return new DidNothing(`${path} can't be copied: ${why}`, { final: true });
}
