import { dirname, join } from 'node:path';
import type { Json } from '#base';
import { hashText } from '#canon';
import type { Disk } from './disk.ts';
import { identity, OWN, type Root } from './root.ts';

/** A file as it was, or was to be, by which it is known again. `id`: which file it is, where that is known. */
export interface Trace {
  readonly hash: string;
  readonly mode: number;
  readonly id?: string;
  /** Whose it is, where that is known. */
  readonly owner?: string;
}

/** What is kept of one effect. A member that may be absent is null, as in all that is stored. */
export interface Entry {
  readonly format: 1;
  readonly key: string;
  /** Which attempt has written it, so that no other one takes it away. Absent in what earlier versions wrote. */
  readonly attempt?: string;
  /** Of the transaction; null where nobody said. */
  readonly epoch: number | null;
  /** `making`: folders for it are made. `ready`: it may have been done. `done`: it was. `undoing`: it was, and is undone. */
  readonly state: 'making' | 'ready' | 'done' | 'undoing' | 'undone';
  readonly does: 'replace' | 'delete' | 'move';
  readonly path: string;
  /** Where it is moved to. */
  readonly to: string | null;
  readonly before: Trace | null;
  readonly after: Trace | null;
  /** Folders that were made for it, the outermost first. */
  readonly made: readonly string[];
  readonly result: Json;
}

/**
 * What this process and those after it need to know of what was done to files: one entry an effect, written before the effect and
 * beside it the bytes that it takes away. Below `.assize/files`, in a folder for each path.
 *
 * It stays small by the order of epochs: a transaction acts at a path only when all older ones there have ended for good, so that
 * with its first entry theirs go. What is kept is at most what the last transaction at each path has done.
 */
export class Journal {
  readonly #root: Root;
  readonly #disk: Disk;

  constructor(root: Root, disk: Disk) {
    this.#root = root;
    this.#disk = disk;
  }

  /**
   * Until it is let go, nobody else does anything about a path, in whatever process: who is late, as its lease has run out, and who took over
   * would else each take down what the other has just found out, and one of them that what was done was not. Some paths share a turn, so
   * that there are never more than so many files for it.
   *
   * @throws NoAnswer where it is somebody else's until the signal says to stop; Error where there can be none
   */
  async turnAt(path: string, signal: AbortSignal): Promise<Disposable | undefined> {
    const turns = join(this.#root.path, OWN, 'turns');
    if ((await this.#disk.idOf(turns)) === undefined)
      for (const folder of [dirname(turns), turns]) await this.#disk.makeFolder(folder);
    return this.#disk.hold?.(join(turns, this.#hashOf(path).slice(0, 2)), signal);
  }

  async read(path: string, key: string): Promise<Entry | undefined> {
    const seen = await this.#disk.look(this.#entryPath(path, key));
    return seen.is === 'file' ? (JSON.parse(seen.bytes.toString()) as Entry) : undefined;
  }

  /** Durable when this returns, whole or not at all. */
  async write(entry: Entry): Promise<void> {
    const path = this.#entryPath(entry.path, entry.key);
    await this.#makeHome(entry.path);
    await this.#disk.remove(`${path}.new`);
    await this.#disk.write(`${path}.new`, Buffer.from(JSON.stringify(entry)), 0o600);
    await this.#disk.rename(`${path}.new`, path);
    await this.#disk.sync(dirname(path));
  }

  /** Keeps what an effect takes away; durable with the entry that is written next. */
  async keep(path: string, key: string, bytes: Buffer): Promise<void> {
    await this.#makeHome(path);
    await this.#disk.remove(this.#keptPath(path, key));
    await this.#disk.write(this.#keptPath(path, key), bytes, 0o600);
  }

  async kept(path: string, key: string): Promise<Buffer | undefined> {
    const seen = await this.#disk.look(this.#keptPath(path, key));
    return seen.is === 'file' ? seen.bytes : undefined;
  }

  async forgetKept(path: string, key: string): Promise<void> {
    await this.#disk.remove(this.#keptPath(path, key));
  }

  /** The entry last: what has none was never kept for anything. */
  async forget(path: string, key: string): Promise<void> {
    await this.forgetKept(path, key);
    // As a crash has left it, before it was the entry.
    await this.#disk.remove(`${this.#entryPath(path, key)}.new`);
    await this.#disk.remove(this.#entryPath(path, key));
  }

  /** Forgets what older transactions did at a path, where this one now acts. */
  async forgetBefore(path: string, epoch: number): Promise<void> {
    for (const { name } of (await this.#disk.names(this.#home(path))) ?? []) {
      if (!name.endsWith('.json')) continue;
      const key = name.slice(0, -'.json'.length);
      const entry = await this.read(path, key);
      // Theirs had gone before its first was written: else each of its calls at one path would read those of all before it.
      if (entry?.epoch === epoch) return;
      if (entry?.epoch !== null && entry !== undefined && entry.epoch < epoch) await this.forget(path, key);
    }
  }

  async #makeHome(path: string): Promise<void> {
    const home = this.#home(path);
    if ((await this.#disk.look(home)).is === 'folder') return;
    for (const folder of [dirname(dirname(home)), dirname(home), home]) {
      await this.#disk.makeFolder(folder);
      await this.#disk.sync(dirname(folder));
    }
  }

  #home(path: string): string {
    return join(this.#root.path, OWN, 'files', this.#hashOf(path));
  }

  #hashOf(path: string): string {
    return hashText(identity(this.#root, path));
  }

  #entryPath(path: string, key: string): string {
    return join(this.#home(path), `${key}.json`);
  }

  #keptPath(path: string, key: string): string {
    return join(this.#home(path), `${key}.before`);
  }
}
