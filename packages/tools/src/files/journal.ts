import { dirname, join } from 'node:path';
import type { Json } from 'assize/internal/base';
import { hashText } from 'assize/internal/canon';
import type { Disk } from './disk.ts';
import { identity, OWN, type Root } from './root.ts';

/**
 * The content of a file before or after an operation, to identify it later. `id`: the file's
 * identity, if known.
 */
export interface Trace {
  readonly hash: string;
  readonly mode: number;
  readonly id?: string;
  /** Owner of the file, if known. */
  readonly owner?: string;
}

/** The stored record of one effect. A missing field is null, as in all stored data. */
export interface Entry {
  readonly format: 1;
  readonly key: string;
  /**
   * The attempt that wrote the entry, so that no other attempt removes it. Absent in entries of
   * earlier versions.
   */
  readonly attempt?: string;
  /** The epoch of the transaction. Null if the caller gave none. */
  readonly epoch: number | null;
  /**
   * `making`: its folders are being created. `ready`: the operation may have been done. `done`: the
   * operation was done. `undoing`: the operation was done, and its compensation is in progress.
   */
  readonly state: 'making' | 'ready' | 'done' | 'undoing' | 'undone';
  readonly does: 'replace' | 'delete' | 'move';
  readonly path: string;
  /** Target path of a move. */
  readonly to: string | null;
  readonly before: Trace | null;
  readonly after: Trace | null;
  /** Folders that were created for the operation, the outermost first. */
  readonly made: readonly string[];
  readonly result: Json;
}

/**
 * The record of file operations for this process and later ones. Each effect has one entry, written
 * before the effect, and next to it the bytes that the effect removes. Stored below
 * `.assize/files`, in a folder for each path.
 * The order of epochs bounds the journal's size. A transaction works at a path only after all older
 * transactions there have ended, so its first entry removes theirs. The journal therefore stores at
 * most the operations of the last transaction at each path.
 */
export class Journal {
  readonly #root: Root;
  readonly #disk: Disk;

  constructor(root: Root, disk: Disk) {
    this.#root = root;
    this.#disk = disk;
  }

  /**
   * Acquires the lock of a path across all processes. Otherwise a late process with an expired
   * lease and the new owner would delete each other's record. One of them would then record that a
   * done operation was not done. Several paths share a lock file. This limits the number of files.
   *
   * @throws NoAnswer if another process holds the lock until the signal aborts; Error if the lock
   * is unavailable
   */
  async lockPath(path: string, signal: AbortSignal): Promise<Disposable | undefined> {
    const turns = join(this.#root.path, OWN, 'turns');
    if ((await this.#disk.idOf(turns)) === undefined)
      for (const folder of [dirname(turns), turns]) await this.#disk.makeFolder(folder);
    return this.#disk.lock?.(join(turns, this.#hashOf(path).slice(0, 2)), signal);
  }

  async read(path: string, key: string): Promise<Entry | undefined> {
    const seen = await this.#disk.look(this.#entryPath(path, key));
    return seen.is === 'file' ? (JSON.parse(seen.bytes.toString()) as Entry) : undefined;
  }

  /** Writes an entry, durable and whole, or not at all. */
  async write(entry: Entry): Promise<void> {
    const path = this.#entryPath(entry.path, entry.key);
    await this.#makeHome(entry.path);
    await this.#disk.remove(`${path}.new`);
    await this.#disk.write(`${path}.new`, Buffer.from(JSON.stringify(entry)), 0o600);
    await this.#disk.rename(`${path}.new`, path);
    await this.#disk.sync(dirname(path));
  }

  /** Stores the bytes that an effect removes. They are durable with the next written entry. */
  async keep(path: string, key: string, bytes: Buffer): Promise<void> {
    await this.#makeHome(path);
    await this.#disk.remove(this.#keptPath(path, key));
    await this.#disk.write(this.#keptPath(path, key), bytes, 0o600);
  }

  async kept(path: string, key: string): Promise<Buffer | undefined> {
    const seen = await this.#disk.look(this.#keptPath(path, key));
    return seen.is === 'file' ? seen.bytes : undefined;
  }

  async deleteKept(path: string, key: string): Promise<void> {
    await this.#disk.remove(this.#keptPath(path, key));
  }

  /** Removes the entry last: bytes without an entry belong to no effect. */
  async delete(path: string, key: string): Promise<void> {
    await this.deleteKept(path, key);
    // An unfinished entry, left by a crash.
    await this.#disk.remove(`${this.#entryPath(path, key)}.new`);
    await this.#disk.remove(this.#entryPath(path, key));
  }

  /** Removes the records of older transactions at a path where this transaction now works. */
  async deleteBefore(path: string, epoch: number): Promise<void> {
    for (const { name } of (await this.#disk.names(this.#home(path))) ?? []) {
      if (!name.endsWith('.json')) continue;
      const key = name.slice(0, -'.json'.length);
      const entry = await this.read(path, key);
      // The older entries were removed before this transaction's first entry. Without the check,
      // each of its calls at one path would read all its entries.
      if (entry?.epoch === epoch) return;
      if (entry?.epoch !== null && entry !== undefined && entry.epoch < epoch)
        await this.delete(path, key);
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
