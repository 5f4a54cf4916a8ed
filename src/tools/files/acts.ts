import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { Json } from '#base';
import { hashText } from '#canon';
import { type Call, DidNothing, NoAnswer, type Reconciled, type Undone } from '#effects';
import { type Disk, type FileSeen, isSame, numberOf, type Seen } from './disk.ts';
import type { Entry, Journal, Trace } from './journal.ts';
import { type Change, changesOf, hashOf, isFolder, type Operation, permissionsOf, resultOf } from './operations.ts';
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
    const turn = () => this.#nothingDone(() => this.#turnAt(operation.path, call));
    return this.#inTurn(operation.path, call, () => this.#act(operation, call), turn);
  }

  /** Whether it was done, by the journal and what stands there. @throws Error where nobody can tell */
  reconcile({ path }: Operation, call: Call): Promise<Reconciled> {
    const { key, signal } = call;
    return this.#inTurn(path, call, async () => {
      const entry = await this.#journal.read(path, key);
      if (entry !== undefined && (await this.#wasDone(entry, signal))) return { happened: true, result: entry.result };
      if (entry?.state !== 'undone') await this.#clean(path, key, entry);
      return { happened: false };
    });
  }

  /** Puts back what was there, if what was done still stands as it was left. */
  undo({ path }: Operation, call: Call): Promise<Undone> {
    return this.#inTurn(path, call, () => this.#undo(path, call.key));
  }

  async #act(operation: Operation, call: Call): Promise<Json> {
    const { key, signal } = call;
    const { path } = operation;
    // Beside it there is nothing of these tools, so nothing could have been staged for it.
    if (path === this.#root.path) throw isFolder(path);
    const known = await this.#journal.read(path, key);
    if (known !== undefined && (await this.#wasDone(known, signal))) return known.result;
    const entry = await this.#nothingDone(async () => {
      checkTime(path, signal);
      await this.#clean(path, key, known);
      checkTime(path, signal);
      const changes = await changesOf(operation, (at) => this.#disk.look(at), this.#bytesMax);
      return this.#prepare(changes, call);
    });
    if (signal.aborted) {
      await this.#clean(path, key, entry);
      throw tooLate(path);
    }
    await this.#do(entry);
    await this.#keepDone(entry, signal);
    return entry.result;
  }

  /** Whatever goes wrong before the deed is put away, and was nothing. */
  async #nothingDone<T>(made: () => Promise<T>): Promise<T> {
    try {
      return await made();
    } catch (error) {
      // What another one does who is at work there, nobody knows.
      if (error instanceof DidNothing || error instanceof NoAnswer) throw error;
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
      attempt: randomUUID(),
      epoch: epoch ?? null,
      state: 'making',
      does: to !== null ? 'move' : after === undefined ? 'delete' : 'replace',
      path,
      to,
      before: before === undefined ? null : noteOf(before),
      after: after === undefined ? null : traceOf(after),
      made: await this.#missingAbove(to ?? path),
      result: resultOf(changes),
    };
    checkTime(path, signal);
    if (epoch !== undefined) await this.#journal.forgetBefore(path, epoch);
    try {
      return await this.#stage(entry, before, after, signal);
    } catch (error) {
      // By what the journal has: where it could not be made durable that all is ready, it may still say so.
      const written = await this.#journal.read(path, key);
      await this.#clean(path, key, written?.attempt === entry.attempt ? written : entry);
      throw error;
    }
  }

  async #stage(entry: Entry, before: Change['before'], after: Change['after'], signal: AbortSignal): Promise<Entry> {
    const { path, key, made, does } = entry;
    checkTime(path, signal);
    if (made.length > 0) await this.#journal.write(entry);
    for (const folder of made) {
      // There may be a thousand.
      checkTime(path, signal);
      await this.#makeFolder(folder);
    }
    checkTime(path, signal);
    if (does === 'replace') {
      await this.#disk.write(stagedAt(path, key), after!.bytes, after!.mode, before?.owner);
      await this.#disk.sync(dirname(path));
    }
    checkTime(path, signal);
    if (does !== 'move' && before !== undefined) await this.#journal.keep(path, key, before.bytes);
    const ready: Entry = { ...entry, state: 'ready' };
    checkTime(path, signal);
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
  async #wasDone(entry: Entry, signal: AbortSignal): Promise<boolean> {
    const wasDone = await this.#hasHappened(entry);
    if (wasDone) await this.#keepDone(entry, signal);
    return wasDone;
  }

  /**
   * Makes it durable. What stands at its paths tells of it only until something else is done there, as by the next call of its
   * transaction.
   * @throws Error where it is too late to write that down: whoever has taken over may have undone it
   */
  async #keepDone(entry: Entry, signal: AbortSignal): Promise<void> {
    await this.#syncAll(entry);
    if (entry.state !== 'ready') return;
    if (signal.aborted) throw new Error(`It was too late to keep that ${entry.path} was changed.`);
    await this.#journal.write({ ...entry, state: 'done' });
  }

  /** @throws Error where nobody can tell */
  async #hasHappened(entry: Entry): Promise<boolean> {
    const happened = await this.#evidence(entry);
    if (happened !== undefined) return happened;
    throw new Error(`Nobody can tell whether ${entry.path} was changed before somebody else changed something there.`);
  }

  /**
   * Whether it was done, by the journal, and where that does not say it by what stands there; undefined where neither says. That a file
   * has the number of another one is not enough, as numbers are given again: it has to have its contents, too.
   */
  async #evidence({ state, does, path, to, key, before, after }: Entry): Promise<boolean | undefined> {
    if (state === 'done' || state === 'undoing') return true;
    if (state !== 'ready') return false;
    if (does === 'replace' && (await this.#disk.idOf(stagedAt(path, key))) !== undefined) return false;
    const id = await this.#disk.idOf(path);
    const isThere = before === null ? id === undefined : id !== undefined && isSame(id, before.id!);
    // Somebody may have taken away what was staged, so its absence says nothing: what was done has to be seen.
    if (isThere) return (await this.#stands(path, before)) ? false : undefined;
    if (does === 'replace') return (await this.#stands(path, after)) || undefined;
    if (does === 'delete') return id === undefined || undefined;
    return (await this.#hasMoved(to!, before!)) || undefined;
  }

  /** Not by its whole identity: where a system knows no time of birth, it gives that of the move. */
  async #hasMoved(to: string, before: Trace): Promise<boolean> {
    const id = await this.#disk.idOf(to);
    return id !== undefined && numberOf(id) === numberOf(before.id!) && (await this.#stands(to, before));
  }

  /** What can't be looked at, as it is too large, was none of these tools' files. */
  async #stands(path: string, trace: Trace | null): Promise<boolean> {
    try {
      return isAs(await this.#disk.look(path), trace);
    } catch (error) {
      if (error instanceof DidNothing) return false;
      throw error;
    }
  }

  async #undo(path: string, key: string): Promise<Undone> {
    const entry = await this.#journal.read(path, key);
    if (entry === undefined) return partly(path, 'nothing is kept of what was done to it', {});
    if (entry.state === 'undone') return { undone: 'all' };
    if (entry.state === 'making' || (entry.does === 'replace' && (await this.#evidence(entry)) === false)) {
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
    if (isPutBack(now, before)) return undefined;
    if (!isAs(now, after)) return partly(path, 'somebody has changed it since', { found: describe(now), left: after });
    if (before === null) {
      await this.#disk.remove(path);
      return undefined;
    }
    const bytes = await this.#journal.kept(path, key);
    if (bytes === undefined) return partly(path, 'what was there before is no longer kept', { before });
    const again = restoringAt(path, key);
    await this.#makeAbove(path);
    await this.#writeAgain(again, bytes, before);
    await this.#disk.rename(again, path);
    return undefined;
  }

  /** With the bits by which it acts for its owner only where that is the same as before. */
  async #writeAgain(path: string, bytes: Buffer, before: Trace): Promise<void> {
    const mode = permissionsOf(before.mode);
    await this.#disk.remove(path);
    await this.#disk.write(path, bytes, mode, before.owner);
    if (mode === before.mode || modeFor(await this.#disk.look(path), before) === mode) return;
    await this.#disk.remove(path);
    await this.#disk.write(path, bytes, before.mode, before.owner);
  }

  async #undoMove({ path, to, before }: Entry): Promise<Undone | undefined> {
    const [source, target] = [await this.#disk.look(path), await this.#disk.look(to!)];
    if (isAs(source, before) && target.is === 'absent') return undefined;
    if (source.is !== 'absent' || !isAs(target, before)) {
      const found = { [path]: describe(source), [to!]: describe(target) };
      return partly(path, 'somebody has changed it, or where it went, since', { found, left: before });
    }
    await this.#makeAbove(path);
    await this.#disk.rename(to!, path);
    return undefined;
  }

  async #makeAbove(path: string): Promise<void> {
    for (const folder of await this.#missingAbove(path)) await this.#makeFolder(folder);
  }

  /** With its name, durable: the file that goes there may be kept nowhere else. */
  async #makeFolder(folder: string): Promise<void> {
    await this.#disk.makeFolder(folder);
    await this.#disk.sync(dirname(folder));
  }

  /** Takes away what was staged for a deed that was not done, unless the journal is of another attempt by now. */
  async #clean(path: string, key: string, entry: Entry | undefined): Promise<void> {
    if (!(await this.#isLast(path, key, entry))) return;
    // First it is written that it was not done: once what was staged is gone, that could be in doubt.
    if (entry?.state === 'ready') await this.#journal.write({ ...entry, state: 'making' });
    await this.#disk.remove(stagedAt(path, key));
    if (entry !== undefined) await this.#removeMade(entry);
    // Asked again: who stood still meanwhile may go on when another has taken over, and has done it.
    if (await this.#isLast(path, key, entry)) await this.#journal.forget(path, key);
  }

  /** Whether no other attempt has written of it since. */
  async #isLast(path: string, key: string, entry: Entry | undefined): Promise<boolean> {
    const now = await this.#journal.read(path, key);
    return now === undefined || (entry !== undefined && now.attempt === entry.attempt);
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

  #turnAt(path: string, { signal }: Call): Promise<Disposable | undefined> {
    return this.#journal.turnAt(path, signal);
  }

  /** Of one key one after the other here, and at one path in all processes. */
  async #inTurn<T>(
    path: string,
    call: Call,
    step: () => Promise<T>,
    turn: () => Promise<Disposable | undefined> = () => this.#turnAt(path, call),
  ): Promise<T> {
    const { key } = call;
    const alone = async (): Promise<T> => {
      using _turn = await turn();
      return await step();
    };
    const done = (this.#underWay.get(key) ?? Promise.resolve()).then(alone, alone);
    this.#underWay.set(key, done);
    try {
      return await done;
    } finally {
      if (this.#underWay.get(key) === done) this.#underWay.delete(key);
    }
  }
}

/** Before each step that leaves something: whoever has taken over from a late call may have left something there, too. */
function checkTime(path: string, signal: AbortSignal): void {
  if (signal.aborted) throw tooLate(path);
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

function noteOf(file: FileSeen): Trace {
  return { ...traceOf(file), id: file.id, ...(file.owner === undefined ? {} : { owner: file.owner }) };
}

/** As it was, or as it is made again. */
function isPutBack(seen: Seen, before: Trace | null): boolean {
  if (before === null || isAs(seen, before)) return isAs(seen, before);
  return isAs(seen, { ...before, mode: modeFor(seen, before) });
}

/** The mode of what is made again, by whose file it is now. */
function modeFor(seen: Seen, { mode, owner }: Trace): number {
  return seen.is === 'file' && seen.owner !== undefined && seen.owner === owner ? mode : permissionsOf(mode);
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
