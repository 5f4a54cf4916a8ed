import { basename, dirname, join } from 'node:path';
import { hashText, type Json } from '#canon';
import { type Call, DidNothing, type Reconciled, type Undone } from '#effects';
import type { Disk, Seen } from './disk.ts';
import type { Entry, Journal, Trace } from './journal.ts';
import { type Change, changesOf, hashOf, isFolder, type Operation, resultOf } from './operations.ts';
import { OWN, type Root } from './root.ts';

/**
 * Does operations, tells after a crash whether they were done, and undoes them. The deed is one step, a rename or a removal; all
 * before it is put away again, and the journal knows of it first.
 */
export class Acts {
  readonly #root: Root;
  readonly #disk: Disk;
  readonly #journal: Journal;
  readonly #bytesMax: number;
  /** What is under way, by key: a late call ends before anybody is told what became of it. */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(root: Root, disk: Disk, journal: Journal, bytesMax: number) {
    this.#root = root;
    this.#disk = disk;
    this.#journal = journal;
    this.#bytesMax = bytesMax;
  }

  /** @throws DidNothing where nothing was done; anything else: ask `happened` */
  act(operation: Operation, call: Call): Promise<Json> {
    return this.#inTurn(call.key, () => this.#act(operation, call));
  }

  /** Whether it was done, by the journal and what stands there. @throws Error where nobody can tell */
  reconcile({ path }: Operation, { key }: Call): Promise<Reconciled> {
    return this.#inTurn(key, async () => {
      const entry = await this.#journal.read(path, key);
      if (entry !== undefined && (await this.#wasDone(entry))) return { happened: true, result: entry.result };
      if (entry?.state !== 'undone') await this.#clean(path, key, entry);
      return { happened: false };
    });
  }

  /** Puts back what was there, if what was done still stands as it was left. */
  undo({ path }: Operation, { key }: Call): Promise<Undone> {
    return this.#inTurn(key, () => this.#undo(path, key));
  }

  async #act(operation: Operation, call: Call): Promise<Json> {
    const { key, signal } = call;
    const { path } = operation;
    // Beside it there is nothing of these tools, so nothing could have been staged for it.
    if (path === this.#root.path) throw isFolder(path);
    const known = await this.#journal.read(path, key);
    if (known !== undefined && (await this.#wasDone(known))) return known.result;
    const entry = await this.#nothingDone(async () => {
      await this.#clean(path, key, known);
      const changes = await changesOf(operation, (at) => this.#disk.look(at), this.#bytesMax);
      return this.#prepare(changes, call);
    });
    if (signal.aborted) {
      await this.#clean(path, key, entry);
      throw tooLate(path);
    }
    await this.#do(entry);
    await this.#keepDone(entry);
    return entry.result;
  }

  /** Whatever goes wrong before the deed is put away, and was nothing. */
  async #nothingDone<T>(made: () => Promise<T>): Promise<T> {
    try {
      return await made();
    } catch (error) {
      if (error instanceof DidNothing) throw error;
      throw new DidNothing((error as Error).message, { cause: error });
    }
  }

  /** All that has to be there before the deed. */
  async #prepare(changes: readonly Change[], { key, epoch, signal }: Call): Promise<Entry> {
    const [{ path, before, after }] = changes as [Change];
    const to = changes[1]?.path ?? null;
    const entry: Entry = {
      format: 1,
      key,
      epoch: epoch ?? null,
      state: 'making',
      does: to !== null ? 'move' : after === undefined ? 'delete' : 'replace',
      path,
      to,
      before: before === undefined ? null : { ...traceOf(before), id: before.id },
      after: after === undefined ? null : traceOf(after),
      made: await this.#missingAbove(to ?? path),
      result: resultOf(changes),
    };
    if (epoch !== undefined) await this.#journal.forgetBefore(path, epoch);
    try {
      return await this.#stage(entry, before, after, signal);
    } catch (error) {
      // By what the journal has: where it could not be made durable that all is ready, it may still say so.
      await this.#clean(path, key, (await this.#journal.read(path, key)) ?? entry);
      throw error;
    }
  }

  async #stage(entry: Entry, before: Change['before'], after: Change['after'], signal: AbortSignal): Promise<Entry> {
    const { path, key, made, does } = entry;
    if (made.length > 0) await this.#journal.write(entry);
    for (const folder of made) {
      // There may be a thousand.
      if (signal.aborted) throw tooLate(path);
      await this.#disk.makeFolder(folder);
      await this.#disk.sync(dirname(folder));
    }
    if (does === 'replace') {
      await this.#disk.write(stagedAt(path, key), after!.bytes, after!.mode);
      await this.#disk.sync(dirname(path));
    }
    if (does !== 'move' && before !== undefined) await this.#journal.keep(path, key, before.bytes);
    const ready: Entry = { ...entry, state: 'ready' };
    await this.#journal.write(ready);
    return ready;
  }

  async #do(entry: Entry): Promise<void> {
    const { does, path, to, key } = entry;
    try {
      if (does === 'replace') await this.#disk.rename(stagedAt(path, key), path);
      else if (does === 'delete') await this.#disk.remove(path);
      else await this.#disk.rename(path, to!);
    } catch (error) {
      if (await this.#hasHappened(entry)) throw error;
      await this.#clean(path, key, entry);
      throw new DidNothing((error as Error).message, { cause: error });
    }
  }

  /** Whether it was done, which from then on nothing changes that is done at its paths. @throws Error where nobody can tell */
  async #wasDone(entry: Entry): Promise<boolean> {
    const wasDone = await this.#hasHappened(entry);
    if (wasDone) await this.#keepDone(entry);
    return wasDone;
  }

  /**
   * Makes it durable. What stands where a file was deleted or moved tells of it only until something else is done there, as by the next
   * call of its transaction.
   */
  async #keepDone(entry: Entry): Promise<void> {
    await this.#syncAll(entry);
    if (entry.state === 'ready' && entry.does !== 'replace') await this.#journal.write({ ...entry, state: 'done' });
  }

  /**
   * A replacement was done when what was staged is no longer beside it, whoever changed the file since. Of the others it is asked
   * which file stands there, where the journal does not say it.
   */
  async #hasHappened({ state, does, path, to, key, before }: Entry): Promise<boolean> {
    if (state === 'done' || state === 'undoing') return true;
    if (state !== 'ready') return false;
    if (does === 'replace') return (await this.#disk.idOf(stagedAt(path, key))) === undefined;
    const id = await this.#disk.idOf(path);
    if (id === before!.id) return false;
    if (does === 'delete' ? id === undefined : (await this.#disk.idOf(to!)) === before!.id) return true;
    throw new Error(`Nobody can tell whether ${path} was there when something else came to stand in its place.`);
  }

  async #undo(path: string, key: string): Promise<Undone> {
    const entry = await this.#journal.read(path, key);
    if (entry === undefined) return partly(path, 'nothing is kept of what was done to it', {});
    if (entry.state === 'undone') return { undone: 'all' };
    if (entry.state === 'making' || (entry.does === 'replace' && !(await this.#hasHappened(entry)))) {
      await this.#clean(path, key, entry);
      return { undone: 'all' };
    }
    // From here on a crash leaves what is neither before nor after, which is to be undone again.
    await this.#journal.write({ ...entry, state: 'undoing' });
    const left = entry.does === 'move' ? await this.#undoMove(entry) : await this.#undoChange(entry);
    if (left !== undefined) return left;
    await this.#removeMade(entry);
    await this.#syncAll(entry);
    await this.#journal.write({ ...entry, state: 'undone' });
    await this.#journal.forgetKept(path, key);
    return { undone: 'all' };
  }

  /** What is left; undefined where all is as before. */
  async #undoChange({ path, key, before, after }: Entry): Promise<Undone | undefined> {
    const now = await this.#disk.look(path);
    if (isAs(now, before)) return undefined;
    if (!isAs(now, after)) return partly(path, 'somebody has changed it since', { found: describe(now), left: after });
    if (before === null) {
      await this.#disk.remove(path);
      return undefined;
    }
    const bytes = await this.#journal.kept(path, key);
    if (bytes === undefined) return partly(path, 'what was there before is no longer kept', { before });
    const again = restoringAt(path, key);
    for (const folder of await this.#missingAbove(path)) await this.#disk.makeFolder(folder);
    await this.#disk.remove(again);
    await this.#disk.write(again, bytes, before.mode);
    await this.#disk.rename(again, path);
    return undefined;
  }

  async #undoMove({ path, to, before }: Entry): Promise<Undone | undefined> {
    const [source, target] = [await this.#disk.look(path), await this.#disk.look(to!)];
    if (isAs(source, before) && target.is === 'absent') return undefined;
    if (source.is !== 'absent' || !isAs(target, before)) {
      const found = { [path]: describe(source), [to!]: describe(target) };
      return partly(path, 'somebody has changed it, or where it went, since', { found, left: before });
    }
    for (const folder of await this.#missingAbove(path)) await this.#disk.makeFolder(folder);
    await this.#disk.rename(to!, path);
    return undefined;
  }

  /** Takes away what was staged for a deed that was not done. */
  async #clean(path: string, key: string, entry: Entry | undefined): Promise<void> {
    // First it is written that it was not done: what was staged and is gone would say that it was.
    if (entry?.state === 'ready') await this.#journal.write({ ...entry, state: 'making' });
    await this.#disk.remove(stagedAt(path, key));
    if (entry !== undefined) await this.#removeMade(entry);
    await this.#journal.forget(path, key);
  }

  async #removeMade({ made }: Entry): Promise<void> {
    for (const folder of made.toReversed()) await this.#disk.removeFolder(folder);
  }

  async #syncAll({ path, to, made }: Entry): Promise<void> {
    const folders = new Set([path, to ?? path, ...made].map((each) => dirname(each)));
    for (const folder of folders) await this.#disk.sync(folder);
  }

  /** Folders that are to be made for a file, the outermost first. */
  async #missingAbove(path: string): Promise<string[]> {
    const missing: string[] = [];
    for (let above = dirname(path); above !== this.#root.path; above = dirname(above)) {
      if ((await this.#disk.idOf(above)) !== undefined) break;
      missing.unshift(above);
    }
    return missing;
  }

  async #inTurn<T>(key: string, step: () => Promise<T>): Promise<T> {
    const done = (this.#underWay.get(key) ?? Promise.resolve()).then(step, step);
    this.#underWay.set(key, done);
    try {
      return await done;
    } finally {
      if (this.#underWay.get(key) === done) this.#underWay.delete(key);
    }
  }
}

function tooLate(path: string): DidNothing {
  return new DidNothing(`it was too late to change ${path}`);
}

function stagedAt(path: string, key: string): string {
  return besides(path, key, 'staged');
}

function restoringAt(path: string, key: string): string {
  return besides(path, key, 'restoring');
}

/** In the same folder, so that it is renamed and never copied; short, whatever the file is named. */
function besides(path: string, key: string, what: string): string {
  return join(dirname(path), `${OWN}-${hashText(`${key}/${basename(path)}`).slice(0, 32)}.${what}`);
}

function traceOf({ bytes, mode }: { readonly bytes: Buffer; readonly mode: number }): Trace {
  return { hash: hashOf(bytes), mode };
}

function isAs(seen: Seen, trace: Trace | null): boolean {
  if (trace === null) return seen.is === 'absent';
  return seen.is === 'file' && seen.mode === trace.mode && hashOf(seen.bytes) === trace.hash;
}

function describe(seen: Seen): Json {
  return seen.is === 'file' ? { is: 'file', ...traceOf(seen) } : { is: seen.is };
}

function partly(path: string, why: string, more: object): Undone {
  return { undone: 'partly', residue: { path, why, ...more } as Json };
}
