import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Json } from '#base';
import { NoAnswer, type Undone } from '#effects';
import { lockOf } from '../lock.ts';
import { endGroup } from './run-command.ts';
import {
  clear,
  copyInto,
  fingerprint,
  give,
  makeFolder,
  modeOf,
  type Owner,
  ownerOf,
  remove,
  requireCopyable,
  setMode,
  standing,
  statOf,
} from './tree.ts';

/** Beside the copies and their entries, which are named by keys: 64 digits. */
const LOCK = '.lock';

/** What is known of one run. */
interface Entry {
  readonly format: 1;
  readonly epoch: number | null;
  /** `begun`: the command may be at work. `ended`: it is not, and has left the folder so. `undoing`, `undone`: put back. */
  readonly state: 'begun' | 'ended' | 'undoing' | 'undone';
  /** The command's process group, and when that began, so that no later process is taken for it. */
  readonly process: { readonly pid: number; readonly began: string } | null;
  /** Of the folder itself; missing where it was left out of `before` and `after` too, as earlier versions did. */
  readonly mode?: number;
  /** Whose the folder itself was; missing in entries of earlier versions. */
  readonly owner?: Owner;
  readonly before: string;
  readonly after: string | null;
  readonly result: Json;
}

/** What a run was answered, or that it never came to an end. */
export type Found = { readonly happened: true; readonly result: Json } | { readonly happened: false };

/**
 * Copies of a folder as it was before commands ran in it, where nobody but this user gets at them, beside the folder, one for each run that may yet be undone: those of older
 * transactions go with the first run of a later one, which acts there only when they have ended for good. Whatever is done with them is done by one
 * at a time (`alone`).
 */
export class Snapshots {
  readonly #folder: string;
  readonly #home: string;

  /** Of a folder by its real path. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#home = homeOf(folder);
  }

  /**
   * Whether a run there may yet be put back, or undone: whatever stands there now, what it has copied was a folder. Nobody's turn is waited
   * for, so an entry that was there may have gone when it is read: that one is nothing, and says nothing of the others.
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
   * Takes a step with the folder while nobody else takes one, in whatever process: who is late, as its lease has run out, and who took over
   * would else each put back what the other is about to let go.
   *
   * @throws NoAnswer where it is somebody else's turn until the signal says to stop; Error where there can be no place for copies
   */
  async alone<T>(signal: AbortSignal, step: () => Promise<T>): Promise<T> {
    await this.makePlace();
    using _turn = await lockOf(join(this.#home, LOCK), signal);
    return await step();
  }

  /** Where copies are kept. @throws Error where it can't be made */
  async makePlace(): Promise<void> {
    await mkdir(this.#home, { recursive: true, mode: 0o700 });
  }

  /**
   * Copies the folder; durable in the sense of this adapter when it returns.
   *
   * @throws Error where it can't be copied, or the signal says to stop before
   */
  async take(key: string, epoch: number | undefined, signal?: AbortSignal): Promise<void> {
    await this.makePlace();
    // The folder itself, or what is around it, may be what keeps others away.
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
    // To read it all again takes its time, too.
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

  /** The command is at work. */
  async began(key: string, pid: number): Promise<void> {
    await this.#change(key, { process: { pid, began: beganAt(pid) ?? '' } });
  }

  async ended(key: string, result: Json): Promise<void> {
    await this.#change(key, {
      state: 'ended',
      after: await standing(this.#folder, { withMode: true }),
      result,
    });
  }

  /** What became of a run. One that was interrupted is ended, and the folder put back. */
  async settle(key: string): Promise<Found> {
    const entry = await this.#read(key);
    if (entry === undefined || entry.state === 'undone') {
      await this.#forget(key);
      return { happened: false };
    }
    // Also one that is half undone has happened: it is undone again.
    if (entry.state !== 'begun') return { happened: true, result: entry.result };
    await this.#revert(key, entry);
    return { happened: false };
  }

  /** Puts the folder back after a run of this process that did not come to its end. @throws Error where that can't be done */
  async revert(key: string): Promise<void> {
    const entry = await this.#read(key);
    if (entry === undefined) throw this.#gone(key);
    await this.#revert(key, entry);
  }

  /** Puts back what was there before a run that came to its end, if the folder stands as that left it. */
  async undo(key: string): Promise<Undone> {
    const entry = await this.#read(key);
    if (entry === undefined) return this.#partly('nothing is kept of what was there before', {});
    if (entry.state === 'undone') return { undone: 'all' };
    if (entry.state === 'ended') {
      const now = await standing(this.#folder, { withMode: entry.mode !== undefined });
      if (now !== entry.after && now !== entry.before)
        return this.#partly('somebody has changed it since', { found: now, left: entry.after });
    }
    await this.#change(key, { state: 'undoing' });
    await this.#putBack(key, entry);
    await this.#change(key, { state: 'undone' });
    await remove(this.#copyAt(key));
    return { undone: 'all' };
  }

  async forget(key: string): Promise<void> {
    await this.#forget(key);
  }

  async #revert(key: string, entry: Entry): Promise<void> {
    await this.#end(entry);
    await this.#putBack(key, entry);
    // Who comes after a crash in the middle of forgetting must not put back what is left of the copy.
    await this.#change(key, { state: 'undone' });
    await this.#forget(key);
  }

  /**
   * Makes the folder what it was; safe to repeat.
   *
   * @throws NoAnswer where the copy is not what was copied, with the folder left as it is, or where the folder is not what it was in the end
   */
  async #putBack(key: string, { mode, owner, before }: Entry): Promise<void> {
    const copy = this.#copyAt(key);
    if ((await statOf(copy)) === undefined || (await fingerprint(copy, mode)) !== before)
      throw new NoAnswer(`The snapshot ${key} is not what was there; ${this.#folder} was left as it is.`, {
        why: 'snapshot_damaged',
      });
    await makeFolder(this.#folder);
    if (owner !== undefined) await give(this.#folder, owner);
    // The command may have shut it, and who is to put it back has to get in.
    if (mode !== undefined) await setMode(this.#folder, mode | 0o700);
    await clear(this.#folder);
    await copyInto(copy, this.#folder);
    if (mode !== undefined) await setMode(this.#folder, mode);
    if ((await standing(this.#folder, { withMode: mode !== undefined })) !== before)
      throw new NoAnswer(`${this.#folder} was put back, and is not what it was: somebody is at work there.`, {
        why: 'not_put_back',
      });
  }

  /** Another process may have its number by now, but none while any of its group is there. */
  async #end({ process }: Entry): Promise<void> {
    if (process === null) return;
    const began = beganAt(process.pid);
    if (began === undefined || began === process.began) await endGroup(process.pid);
  }

  #partly(why: string, more: object): Undone {
    return { undone: 'partly', residue: { folder: this.#folder, why, ...more } as Json };
  }

  /** Copies that were not finished, of which nobody asks: their calls did nothing. */
  async #forgetUnwritten(): Promise<void> {
    const names = new Set(await readdir(this.#home));
    for (const name of names) if (!name.includes('.') && !names.has(`${name}.json`)) await remove(this.#copyAt(name));
  }

  async #forgetBefore(epoch: number): Promise<void> {
    for (const name of await readdir(this.#home)) {
      if (!name.endsWith('.json')) continue;
      const key = name.slice(0, -'.json'.length);
      const entry = await this.#read(key);
      // Theirs had gone before its first was written: else each of its runs would read the entries of all before it.
      if (entry?.epoch === epoch) return;
      if (entry?.epoch !== null && entry !== undefined && entry.epoch < epoch) await this.#forget(key);
    }
  }

  /** The entry last, so that no copy is left that nothing speaks of. */
  async #forget(key: string): Promise<void> {
    await remove(this.#copyAt(key));
    // As a crash has left it, before it was the entry.
    await rm(`${this.#entryAt(key)}.new`, { force: true });
    await rm(this.#entryAt(key), { force: true });
  }

  async #change(key: string, change: Partial<Entry>): Promise<void> {
    const entry = await this.#read(key);
    if (entry === undefined) throw this.#gone(key);
    await this.#write(key, { ...entry, ...change });
  }

  #gone(key: string): NoAnswer {
    return new NoAnswer(`The snapshot ${key} of ${this.#folder} is gone.`, { why: 'snapshot_gone' });
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

/** Undefined for what is not there any more. */
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

/** When a process began, as its system counts it; undefined where there is none, or the system does not say. */
export function beganAt(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 22 of proc(5), counted from after the name, which may have anything in it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
