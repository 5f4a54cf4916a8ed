import { constants, readFileSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, open, readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { contentHash, hashBytes, type Json } from '#canon';
import type { Undone } from '#effects';
import { endGroup } from './run-command.ts';

/** Names of tools' own books, which stay as they are when a folder is put back. */
const OWN = '.assize';

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
  readonly before: string;
  readonly after: string | null;
  readonly result: Json;
}

/** What a run was answered, or that it never came to an end. */
export type Found = { readonly happened: true; readonly result: Json } | { readonly happened: false };

/**
 * Copies of a folder as it was before commands ran in it, where nobody but this user gets at them, beside the folder, one for each run that may yet be undone: those of older
 * transactions go with the first run of a later one, which acts there only when they have ended for good.
 */
export class Snapshots {
  readonly #folder: string;
  readonly #home: string;

  /** Of a folder by its real path. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#home = join(dirname(folder), `${OWN}-snapshots`, basename(folder));
  }

  /** Copies the folder; durable in the sense of this adapter when it returns. @throws Error where it can't be copied */
  async take(key: string, epoch: number | undefined): Promise<void> {
    await mkdir(this.#home, { recursive: true, mode: 0o700 });
    // The folder itself, or what is around it, may be what keeps others away.
    await chmod(this.#home, 0o700);
    if (epoch !== undefined) await this.#forgetBefore(epoch);
    await remove(this.#copyAt(key));
    await mkdir(this.#copyAt(key), 0o700);
    await copyInto(this.#folder, this.#copyAt(key));
    const mode = await modeOf(this.#folder);
    const before = await fingerprint(this.#copyAt(key), mode);
    await this.#write(key, {
      format: 1,
      epoch: epoch ?? null,
      state: 'begun',
      process: null,
      mode,
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
      after: await fingerprint(this.#folder, await modeOf(this.#folder)),
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
    await this.#end(entry);
    await this.#putBack(key, entry);
    await this.#forget(key);
    return { happened: false };
  }

  /** Puts back what was there before a run that came to its end, if the folder stands as that left it. */
  async undo(key: string): Promise<Undone> {
    const entry = await this.#read(key);
    if (entry === undefined) return this.#partly('nothing is kept of what was there before', {});
    if (entry.state === 'undone') return { undone: 'all' };
    if (entry.state === 'ended') {
      const now = await fingerprint(this.#folder, entry.mode === undefined ? undefined : await modeOf(this.#folder));
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

  /** Makes the folder what it was; safe to repeat. */
  async #putBack(key: string, { mode }: Entry): Promise<void> {
    // The command may have shut it, and who is to put it back has to get in.
    if (mode !== undefined) await setMode(this.#folder, mode | 0o700);
    await clear(this.#folder);
    await copyInto(this.#copyAt(key), this.#folder);
    if (mode !== undefined) await setMode(this.#folder, mode);
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

  async #forgetBefore(epoch: number): Promise<void> {
    for (const name of await readdir(this.#home)) {
      if (!name.endsWith('.json')) continue;
      const key = name.slice(0, -'.json'.length);
      const entry = await this.#read(key);
      if (entry?.epoch !== null && entry !== undefined && entry.epoch < epoch) await this.#forget(key);
    }
  }

  /** The entry last, so that what it speaks of is never without it. */
  async #forget(key: string): Promise<void> {
    await remove(this.#copyAt(key));
    await rm(this.#entryAt(key), { force: true });
  }

  async #change(key: string, change: Partial<Entry>): Promise<void> {
    const entry = await this.#read(key);
    if (entry === undefined) throw new Error(`The snapshot ${key} of ${this.#folder} is gone.`);
    await this.#write(key, { ...entry, ...change });
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

async function copyInto(from: string, to: string): Promise<void> {
  for (const bytes of await namesIn(from)) {
    const name = bytes.toString();
    // By its text, another one would be copied in its place, or none.
    if (!Buffer.from(name).equals(bytes)) throw new Error(`${join(from, name)} has a name that is no UTF-8; rename it`);
    await cp(join(from, name), join(to, name), {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
      mode: constants.COPYFILE_FICLONE,
    });
  }
}

/** A path; as bytes where a name in it may be no UTF-8, as a command can leave it. */
type Place = string | Buffer;

function within(folder: Place, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder as Buffer), Buffer.from('/'), name]);
}

async function clear(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) await remove(within(folder, name));
}

/** Whatever is there, if anything is. Folders inside that take no files let none go either, but for root: they are opened first. */
async function remove(path: Place): Promise<void> {
  await openUp(path);
  await rm(path, { recursive: true, force: true });
}

async function openUp(path: Place): Promise<void> {
  const stat = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (stat?.isDirectory() !== true) return;
  await setMode(path, (stat.mode & 0o7777) | 0o700);
  for (const each of await readdir(path, { withFileTypes: true, encoding: 'buffer' }))
    if (each.isDirectory()) await openUp(within(path, each.name));
}

async function namesIn(folder: Place): Promise<Buffer[]> {
  const named = (await readdir(folder, { encoding: 'buffer' })).map((bytes) => ({ bytes, text: bytes.toString() }));
  return named
    .filter(({ text }) => !text.startsWith(OWN))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : Buffer.compare(a.bytes, b.bytes)))
    .map(({ bytes }) => bytes);
}

async function modeOf(folder: Place): Promise<number> {
  return (await lstat(folder)).mode & 0o7777;
}

/** Nobody sets it but the owner, and it mostly is as it was. */
async function setMode(folder: Place, mode: number): Promise<void> {
  if ((await modeOf(folder)) !== mode) await chmod(folder, mode);
}

/** A folder of that mode and what is in it, as one hash: names, kinds, modes and contents, and not when or how it got there. */
async function fingerprint(folder: string, own: number | undefined): Promise<string> {
  const found: Json[] = own === undefined ? [] : [{ at: '', mode: own, is: 'folder' }];
  const visit = async (place: Place, path: string): Promise<void> => {
    for (const name of await namesIn(place)) {
      const [inside, at] = [within(place, name), join(path, nameOf(name))];
      const stat = await lstat(inside);
      const mode = stat.mode & 0o7777;
      if (stat.isDirectory()) {
        found.push({ at, mode, is: 'folder' });
        await visit(inside, at);
      } else if (stat.isSymbolicLink()) found.push({ at, to: nameOf(await readlink(inside, 'buffer')) });
      else if (stat.isFile())
        found.push({ at, mode, hash: Buffer.from(hashBytes(await readFile(inside))).toString('hex') });
      else found.push({ at, mode, is: 'other' });
    }
  };
  await visit(folder, '');
  return contentHash(found);
}

/** As text; what is none as its digits, with a sign before them that no name has. */
function nameOf(bytes: Buffer): string {
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : `\0${bytes.toString('hex')}`;
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
