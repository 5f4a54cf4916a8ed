import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Json } from 'assize/internal/base';
import { type CompensationResult, NoAnswer } from 'assize/internal/effects';
import { lockOf } from '../lock.ts';
import { endGroup } from './run-command.ts';
import {
  clear,
  copyInto,
  fingerprint,
  folderHash,
  give,
  makeFolder,
  modeOf,
  type Owner,
  ownerOf,
  remove,
  requireCopyable,
  setMode,
  statOf,
} from './tree.ts';

/**
 * The lock's name differs from the copies and their entries, because their names are keys of 64
 * digits.
 */
const LOCK = '.lock';

/** The record of one run. */
interface Entry {
  readonly format: 1;
  readonly epoch: number | null;
  /**
   * `begun`: the command may be running. `ended`: the command has ended, and `after` describes the
   * folder. `undoing`, `undone`: restored.
   */
  readonly state: 'begun' | 'ended' | 'undoing' | 'undone';
  /**
   * The command's process group and its start time, so that no later process is mistaken for it.
   */
  readonly process: { readonly pid: number; readonly began: string } | null;
  /**
   * Mode of the folder itself. Missing in entries of earlier versions; their `before` and `after`
   * omit it too.
   */
  readonly mode?: number;
  /** Owner of the folder itself. Missing in entries of earlier versions. */
  readonly owner?: Owner;
  readonly before: string;
  readonly after: string | null;
  readonly result: Json;
}

/** The result of a run, or that the run never completed. */
export type RunOutcome =
  | { readonly happened: true; readonly result: Json }
  | { readonly happened: false };

/**
 * Copies of a folder before commands ran in it, next to the folder and accessible only to this
 * user. Each run that can still be compensated has one copy. The first run of a later transaction
 * removes the copies of older ones. These have ended permanently by then. One process at a time
 * works on the copies (`alone`).
 */
export class Snapshots {
  readonly #folder: string;
  readonly #home: string;

  /** The snapshots of a folder, by its real path. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#home = homeOf(folder);
  }

  /**
   * Whether a run there may still be reverted or compensated. This proves that the path was a
   * folder. The method takes no lock, so an entry may disappear before it is read. Such an entry is
   * ignored, and the other entries decide.
   */
  static keptOf(folder: string): boolean {
    const home = homeOf(folder);
    const names = unlessGone(() => readdirSync(home)) ?? [];
    return names.some((name) => {
      if (!name.endsWith('.json')) return false;
      const text = unlessGone(() => readFileSync(join(home, name), 'utf8'));
      return text !== undefined && (JSON.parse(text) as Entry).state !== 'undone';
    });
  }

  /**
   * Runs a step while no other process works on the folder. Without the lock, a late process with
   * an expired lease and the new owner would each restore a copy that the other removes.
   *
   * @throws NoAnswer if another process holds the lock until the signal aborts; Error if the
   * copies' folder is unavailable
   */
  async exclusively<T>(signal: AbortSignal, step: () => Promise<T>): Promise<T> {
    await this.makePlace();
    using _turn = await lockOf(join(this.#home, LOCK), signal);
    return await step();
  }

  /**
   * Creates the folder of the copies.
   * @throws Error if the folder can't be created
   */
  async makePlace(): Promise<void> {
    await mkdir(this.#home, { recursive: true, mode: 0o700 });
  }

  /**
   * Copies the folder. The copy is durable, in the sense of this adapter, when the method returns.
   *
   * @throws Error if the folder can't be copied, or if the signal aborts earlier
   */
  async take(key: string, epoch: number | undefined, signal?: AbortSignal): Promise<void> {
    await this.makePlace();
    // The mode of the folder or its parent may be the only protection from other users.
    await chmod(this.#home, 0o700);
    await this.#forgetUnwritten();
    if (epoch !== undefined) await this.#forgetBefore(epoch);
    await requireCopyable(this.#folder);
    await remove(this.#copyAt(key));
    await mkdir(this.#copyAt(key), 0o700);
    await copyInto(this.#folder, this.#copyAt(key), signal);
    const owner = await ownerOf(this.#folder);
    const mode = await modeOf(this.#folder);
    const before = await fingerprint(this.#copyAt(key), mode);
    // Reading all files again takes time too.
    signal?.throwIfAborted();
    await this.#write(key, {
      format: 1,
      epoch: epoch ?? null,
      state: 'begun',
      process: null,
      mode,
      owner,
      before,
      after: null,
      result: null,
    });
  }

  /** Records that the command is running. */
  async began(key: string, pid: number): Promise<void> {
    await this.#change(key, { process: { pid, began: beganAt(pid) ?? '' } });
  }

  async ended(key: string, result: Json): Promise<void> {
    await this.#change(key, {
      state: 'ended',
      after: await folderHash(this.#folder, { withMode: true }),
      result,
    });
  }

  /** The outcome of a run. An interrupted run is ended, and the folder restored. */
  async settle(key: string): Promise<RunOutcome> {
    const entry = await this.#read(key);
    if (entry === undefined || entry.state === 'undone') {
      await this.#forget(key);
      return { happened: false };
    }
    // A partly compensated run has happened too, and is compensated again.
    if (entry.state !== 'begun') return { happened: true, result: entry.result };
    await this.#revert(key, entry);
    return { happened: false };
  }

  /**
   * Restores the folder after a run of this process that did not complete.
   * @throws Error if the folder can't be restored
   */
  async revert(key: string): Promise<void> {
    const entry = await this.#read(key);
    if (entry === undefined) throw this.#gone(key);
    await this.#revert(key, entry);
  }

  /** Restores the earlier content after a completed run, if the folder is as the run left it. */
  async undo(key: string): Promise<CompensationResult> {
    const entry = await this.#read(key);
    if (entry === undefined) return this.#partly('no copy of the earlier content exists', {});
    if (entry.state === 'undone') return { undone: 'all' };
    if (entry.state === 'ended') {
      const now = await folderHash(this.#folder, { withMode: entry.mode !== undefined });
      if (now !== entry.after && now !== entry.before)
        return this.#partly('another program changed it since', { found: now, left: entry.after });
    }
    await this.#change(key, { state: 'undoing' });
    await this.#putBack(key, entry);
    await this.#change(key, { state: 'undone' });
    await remove(this.#copyAt(key));
    return { undone: 'all' };
  }

  async delete(key: string): Promise<void> {
    await this.#forget(key);
  }

  async #revert(key: string, entry: Entry): Promise<void> {
    await this.#end(entry);
    await this.#putBack(key, entry);
    // After a crash during the removal, no process may restore the partial copy.
    await this.#change(key, { state: 'undone' });
    await this.#forget(key);
  }

  /**
   * Restores the folder. Safe to repeat.
   *
   * @throws NoAnswer if the copy is damaged, with the folder unchanged, or if the restored folder
   * differs from the original
   */
  async #putBack(key: string, { mode, owner, before }: Entry): Promise<void> {
    const copy = this.#copyAt(key);
    if ((await statOf(copy)) === undefined || (await fingerprint(copy, mode)) !== before)
      throw new NoAnswer(`The snapshot ${key} is damaged, so ${this.#folder} was not restored.`, {
        why: 'snapshot_damaged',
      });
    await makeFolder(this.#folder);
    if (owner !== undefined) await give(this.#folder, owner);
    // The command may have removed the owner's access, and the restore needs it.
    if (mode !== undefined) await setMode(this.#folder, mode | 0o700);
    await clear(this.#folder);
    await copyInto(copy, this.#folder);
    if (mode !== undefined) await setMode(this.#folder, mode);
    if ((await folderHash(this.#folder, { withMode: mode !== undefined })) !== before)
      throw new NoAnswer(
        `${this.#folder} was restored but differs from its snapshot: another program writes there.`,
        {
          why: 'not_put_back',
        },
      );
  }

  /** Another process may have this number by now, but not while any process of the group exists. */
  async #end({ process }: Entry): Promise<void> {
    if (process === null) return;
    const began = beganAt(process.pid);
    if (began === undefined || began === process.began) await endGroup(process.pid);
  }

  #partly(why: string, more: object): CompensationResult {
    return { undone: 'partly', residue: { folder: this.#folder, why, ...more } as Json };
  }

  /** Removes unfinished copies. Their calls did nothing. */
  async #forgetUnwritten(): Promise<void> {
    const names = new Set(await readdir(this.#home));
    for (const name of names)
      if (!name.includes('.') && !names.has(`${name}.json`)) await remove(this.#copyAt(name));
  }

  async #forgetBefore(epoch: number): Promise<void> {
    for (const name of await readdir(this.#home)) {
      if (!name.endsWith('.json')) continue;
      const key = name.slice(0, -'.json'.length);
      const entry = await this.#read(key);
      // The older entries were removed before this transaction's first entry. Without the check,
      // each of its runs would read all its entries.
      if (entry?.epoch === epoch) return;
      if (entry?.epoch !== null && entry !== undefined && entry.epoch < epoch)
        await this.#forget(key);
    }
  }

  /** Removes the entry last, so that every copy has an entry. */
  async #forget(key: string): Promise<void> {
    await remove(this.#copyAt(key));
    // An unfinished entry, left by a crash.
    await rm(`${this.#entryAt(key)}.new`, { force: true });
    await rm(this.#entryAt(key), { force: true });
  }

  async #change(key: string, change: Partial<Entry>): Promise<void> {
    const entry = await this.#read(key);
    if (entry === undefined) throw this.#gone(key);
    await this.#write(key, { ...entry, ...change });
  }

  #gone(key: string): NoAnswer {
    return new NoAnswer(`The snapshot ${key} of ${this.#folder} is gone.`, {
      why: 'snapshot_gone',
    });
  }

  async #read(key: string): Promise<Entry | undefined> {
    try {
      return JSON.parse(await readFile(this.#entryAt(key), 'utf8')) as Entry;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async #write(key: string, entry: Entry): Promise<void> {
    const path = this.#entryAt(key);
    {
      await using handle = await open(`${path}.new`, 'w', 0o600);
      await handle.writeFile(JSON.stringify(entry));
      await handle.sync();
    }
    await rename(`${path}.new`, path);
  }

  #copyAt(key: string): string {
    return join(this.#home, key);
  }

  #entryAt(key: string): string {
    return join(this.#home, `${key}.json`);
  }
}

/** Undefined if the item no longer exists. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function homeOf(folder: string): string {
  return join(dirname(folder), '.assize-snapshots', basename(folder));
}

/**
 * The start time of a process, in its system's unit. Undefined if the process does not exist, or
 * the system does not report it.
 */
export function beganAt(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 22 of proc(5), counted after the name: the name may contain any character.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
