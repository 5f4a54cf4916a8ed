import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  utimes,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { hashText } from 'assize/internal/canon';
import { DidNothing } from 'assize/internal/effects';
import { canonical, isOwn, namesBelow, OWN, type Root } from '../files/root.ts';
import { endGroup } from '../shell/run-command.ts';
import { beganAt } from '../shell/snapshot.ts';
import { copyOpened, namesAt, type OpenedPath, withOpened } from './opened-path.ts';

/** A copy of a folder for one transaction. */
export interface Copy {
  /** The epoch of the transaction, a UUID and the process: `7-5f0c…-4242-…`. */
  readonly id: string;
  /** The root of the copy. Only its branch may read and write there. */
  readonly root: Root;
}

/**
 * Copies of a folder, next to it, so that files share blocks with it if the file system supports
 * this. Their names contain the transaction and the process. A process removes the copies and
 * commands of ended processes before it makes its first copy. Copies of live processes stay, and so
 * do copies of another machine or container. Several instances in one process can work
 * concurrently.
 */
export class Copies {
  readonly #root: Root;
  readonly #exclude: ReadonlySet<string>;
  readonly #home: string;
  readonly #live = new Map<string, Copy>();
  #swept: Promise<void> | undefined;

  constructor(root: Root, exclude: readonly string[]) {
    this.#root = root;
    this.#exclude = new Set(exclude);
    this.#home = join(dirname(root.path), `${OWN}-branches`, basename(root.path));
  }

  /** Whether a name is copied. The tools' own folders and the names in `exclude` are not. */
  has(name: string): boolean {
    return !isOwn(this.#root, name) && !this.#exclude.has(name);
  }

  /** Whether the content of a path of the folder is copied. */
  hasPath(path: string): boolean {
    return namesBelow(this.#root, path)?.every((name) => this.has(name)) === true;
  }

  /** @throws DidNothing if this transaction has no copy of that name */
  get(id: string, epoch: number | undefined): Copy {
    const copy = this.#live.get(id);
    if (copy !== undefined && id.startsWith(`${epoch}-`)) return copy;
    throw new DidNothing(`this transaction has no copy ${id} of ${this.#root.path}`, {
      final: true,
    });
  }

  /**
   * Makes a copy of the folder, or of another copy.
   * @throws DidNothing if an item can't be copied, naming it
   */
  async make(epoch: number | undefined, of?: Copy): Promise<Copy> {
    // A copy that can't be removed does not disturb the new one.
    await this.sweep().catch(() => undefined);
    const id = `${epoch ?? 0}-${randomBytes(8).toString('hex')}-${OWNER}`;
    await mkdir(this.#home, { recursive: true, mode: 0o700 });
    // While the folder is copied, its own mode does not restrict other users. An existing copy of
    // that name belongs to another process.
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

  /** Replaces one copy by another, and removes the replaced copy. */
  async replace(copy: Copy, by: Copy): Promise<void> {
    await removeAll(Buffer.from(copy.root.path));
    await rename(by.root.path, copy.root.path);
    await this.remove([by]);
  }

  /**
   * Removes copies.
   * @throws DidNothing for the first copy that can't be removed, after all others are removed
   */
  async remove(copies: readonly Copy[]): Promise<void> {
    const ids = copies.map(({ id }) => id);
    for (const id of ids) this.#live.delete(id);
    await this.#clearAll(ids);
  }

  /**
   * Removes copies where possible, after another failure. A later process removes the rest
   * (`sweep`).
   */
  async drop(copies: readonly Copy[]): Promise<void> {
    await this.remove(copies).catch(() => undefined);
  }

  /**
   * Records that a command runs in a copy. The process that finds the copy after a crash ends the
   * command.
   */
  async began({ id }: Copy, pid: number): Promise<void> {
    await using file = await open(join(this.#home, id, `${pid}.process`), 'w', 0o600);
    await file.writeFile(beganAt(pid) ?? '');
    await file.sync();
  }

  /**
   * Removes the copies of ended processes, once.
   * @throws DidNothing for the first copy that can't be removed, after all others are removed
   */
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

  /** One copy that can't be removed does not prevent the removal of the others. */
  async #clearAll(ids: readonly string[]): Promise<void> {
    const failures: DidNothing[] = [];
    for (const id of ids) {
      try {
        await this.#clear(id);
      } catch (cause) {
        const place = join(this.#home, id);
        failures.push(
          new DidNothing(`${place} cannot be removed: ${(cause as Error).message}`, {
            final: true,
            cause,
          }),
        );
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
      // Another process may have this number by now, but not while any process of the group exists.
      if (began === undefined || began === (await readFile(join(place, name), 'utf8')))
        await endGroup(pid);
    }
    await removeAll(Buffer.from(place));
  }

  #copy(from: Root, to: string): Promise<void> {
    const visit = (place: string, path: string): Promise<void> =>
      withOpened(place, join(from.path, path), async (held) => {
        const target = join(to, path);
        if (held.is === 'link') return symlink(this.#targetIn(from, to, path), target);
        if (held.is === 'other')
          throw cannot(join(from.path, path), 'it is a device, a pipe or a socket, not a file');
        if (held.is === 'file') await copyOpened(held, target);
        else {
          await mkdir(target);
          for (const name of await namesAt(held.place, join(from.path, path)))
            if (this.has(name)) await visit(join(held.place, name), join(path, name));
        }
        await standAs(target, held);
      });
    return visit(from.path, '');
  }

  /**
   * A link leads to the same path in the copy. A link out of the folder would lead a branch out of
   * it.
   */
  #targetIn(from: Root, to: string, path: string): string {
    const found = canonical(from, join(from.path, path));
    if ('problem' in found)
      throw cannot(
        join(from.path, path),
        `it is a symbolic link, and ${found.problem}. Exclude it from the copy`,
      );
    return relative(dirname(join(to, path)), to + found.path.slice(from.path.length)) || '.';
  }
}

async function standAs(
  target: string,
  { stat }: OpenedPath & { is: 'file' | 'folder' },
): Promise<void> {
  await chmod(target, stat.mode & 0o7777);
  // Keeps the times, so that a build tool rebuilds the same files as in the folder.
  await utimes(target, stat.atime, stat.mtime);
}

/** Where process numbers are comparable: a machine, and a container on it. */
function spaceOf(): string {
  return hashText(`${hostname()} ${containerOf()}`).slice(0, 8);
}

/** Empty on a system without containers, or one that does not report them. */
function containerOf(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** This process in the names of its copies: its number, its start time, and its machine. */
const OWNER = `${process.pid}-${beganAt(process.pid) ?? ''}-${spaceOf()}`;

/** Whether a copy belongs to a process that has ended. */
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
 * The process group of a running command, read from the name of its file. Commands can create other
 * files with that ending, and their numbers are refused. Group 0 would be this process's group, and
 * 1 the group of all processes.
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

/** Removes also folders without write permission: build tools leave them. */
async function removeAll(path: Buffer): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await makeWritable(path);
    await rm(path, { recursive: true, force: true });
  }
}

/** Uses the bytes of names, because a name may not be valid UTF-8. */
async function makeWritable(path: Buffer): Promise<void> {
  if (!(await lstat(path)).isDirectory()) return;
  await chmod(path, 0o700);
  for (const name of await readdir(path, { encoding: 'buffer' }))
    await makeWritable(Buffer.concat([path, Buffer.from('/'), name]));
}

function cannot(path: string, why: string): DidNothing {
  return new DidNothing(`${path} cannot be copied: ${why}`, { final: true });
}
