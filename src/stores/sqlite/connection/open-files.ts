import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { movedError } from '../errors.ts';

/** A name in the file system, and the file that it named when the store was opened. */
interface Named {
  readonly path: string;
  /** Undefined if the path named no file. */
  readonly file: string | undefined;
}

/**
 * The names of the files that a connection has open: the database, its WAL and the index of the
 * WAL.
 *
 * The operating system lets a process write to a removed or renamed file. A commit in such a file
 * is lost for every process that opens the store by its path. Without a shared index of the WAL,
 * two processes overwrite each other's commits.
 */
export class OpenFiles {
  readonly #store: string;
  readonly #named: readonly Named[];

  /**
   * Call this after the connection has opened its WAL. `path`: the path that the store was opened
   * by, which can be a link. `opened`: `fileAt(path)` before the connection was opened.
   *
   * @throws {StoreError} `store_poisoned` if a file was removed or replaced in the meantime
   */
  constructor(db: DatabaseSync, path: string, opened: string | undefined) {
    this.#store = path;
    // SQLite places the WAL next to the target of a symbolic link.
    const target = db.location() ?? path;
    const named = [...new Set([path, target]), `${target}-wal`].map((name) => ({
      path: name,
      file: this.#fileAt(name) ?? this.#refuse(name),
    }));
    if (named[0]!.file !== opened) this.#refuse(path);
    // A process has one index for all its connections to a file, also after its name is removed.
    this.#named = [...named, { path: `${target}-shm`, file: this.#fileAt(`${target}-shm`) }];
  }

  /**
   * Call this after a commit and before its answer.
   *
   * @throws {StoreError} `store_poisoned` if a name is gone, or names another file
   */
  requireNamed(): void {
    for (const { path, file } of this.#named) if (this.#fileAt(path) !== file) this.#refuse(path);
  }

  #fileAt(path: string): string | undefined {
    try {
      return fileAt(path);
    } catch (cause) {
      return this.#refuse(path, cause);
    }
  }

  #refuse(path: string, cause?: unknown): never {
    throw movedError(this.#store, path, cause);
  }
}

/**
 * Device and inode of the file, which no other file has while a process has the file open.
 * Undefined if there is no file. @throws the error of the file system
 */
export function fileAt(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}
