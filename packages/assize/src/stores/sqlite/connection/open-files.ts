import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
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
 * two processes overwrite each other's commits. A database that was cut has lost commits.
 */
export class OpenFiles {
  readonly #store: string;
  readonly #named: readonly Named[];
  readonly #database: string;
  readonly #schemaVersion: StatementSync;
  /** The length of the database at the last look, and how often it had been rewritten. */
  #length = 0;
  #rewritten: unknown;

  /**
   * Call this after the connection has opened its WAL. `path`: the path that the store was opened
   * by. It can be a link. `opened`: `fileAt(path)` before the connection was opened.
   *
   * @throws {StoreError} `store_poisoned` if a file was removed or replaced in the meantime
   */
  constructor(db: DatabaseSync, path: string, opened: string | undefined) {
    this.#store = path;
    // SQLite places the WAL next to the target of a symbolic link.
    const target = db.location() ?? path;
    this.#database = target;
    this.#schemaVersion = db.prepare('PRAGMA schema_version');
    const named = [...new Set([path, target]), `${target}-wal`].map((name) => ({
      path: name,
      file: this.#fileAt(name) ?? this.#refuse(name),
    }));
    if (named[0]!.file !== opened) this.#refuse(path);
    // A process has one index for all its connections to a file, also after its name is removed.
    this.#named = [...named, { path: `${target}-shm`, file: this.#fileAt(`${target}-shm`) }];
    this.#requireWhole();
  }

  /**
   * Call this after a commit and before its answer.
   *
   * @throws {StoreError} `store_poisoned` if a name is gone, or names another file, or the database
   *   was cut
   */
  requireNamed(): void {
    for (const { path, file } of this.#named) if (this.#fileAt(path) !== file) this.#refuse(path);
    this.#requireWhole();
  }

  /** Only a VACUUM shortens a database, and each VACUUM changes the version of the schema. */
  #requireWhole(): void {
    const length = statSync(this.#database, { throwIfNoEntry: false })?.size ?? 0;
    if (length === this.#length) return;
    try {
      const rewritten = this.#schemaVersion.get()?.['schema_version'];
      if (length > this.#length || rewritten !== this.#rewritten) {
        this.#length = length;
        this.#rewritten = rewritten;
        return;
      }
    } catch (cause) {
      // A longer file is looked at again after the next commit.
      if (length > this.#length) return;
      this.#refuse(this.#database, cause, 'cut');
    }
    this.#refuse(this.#database, undefined, 'cut');
  }

  #fileAt(path: string): string | undefined {
    try {
      return fileAt(path);
    } catch (cause) {
      return this.#refuse(path, cause);
    }
  }

  #refuse(path: string, cause?: unknown, what = 'removed, renamed or replaced'): never {
    throw movedError(this.#store, path, what, cause);
  }
}

/**
 * Device and inode of the file. No other file has them while a process has the file open. Undefined
 * if the file does not exist. @throws the error of the file system
 */
export function fileAt(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}
